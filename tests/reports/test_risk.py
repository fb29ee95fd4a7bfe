"""The answer of ``proofka risk`` on a terminal, with its rounding."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.properties.rates import Rates
from proofka.properties.risk import OfSet, OfSource, RepairRisk, Risk, RiskAnswer
from proofka.properties.verdict import Status
from proofka.reports.risk import RiskReport, details, interval, rounded
from tests.reports.samples import DEPLOYMENT, HOSTILE
from tests.reports.test_terminal import matches, sheet, text_of

KILL, PAIR = (("kill", 1),), (("kill", 1), ("power-loss", 2))
VIOLATED = Risk(
    "no-acked-loss",
    True,
    Status.VIOLATED,
    0.0,
    0.01234,
    0.01234,
    (),
    "not every fault violates it, and the exposure is not given for kill, power-loss",
    0.000123,
    2,
    (
        OfSet(KILL, 0.0119, 0.0, ("kill",), 0, 0),
        OfSet(PAIR, 3.1e-9, 0.0, ("kill", "power-loss", "power-loss"), 6900, None, ("kill",)),
    ),
    (
        OfSource("kill", False, 12.0, 2.3e-4, 0.93, 0.00101),
        OfSource("rack", True, 0.05, 1.1e-5, 0.07, 0.2),
        OfSource("slow-follower", False, 36.0, 1e-5, 0.0001, 1e-9),
    ),
    ("known defects that could violate it are not counted (3)",),
)
OPEN = replace(
    VIOLATED,
    property="no-skip",
    upper=None,
    no_upper=("no rate for disk-loss",),
    why_lower="no rate for disk-loss, which could come in between",
    sets=(OfSet((("disk-loss", 1),), None, 0.0),),
    sources=(),
    notes=(HOSTILE,),
)
ANSWER = RiskAnswer(
    "orders",
    (VIOLATED, OPEN),
    ("The numbers are about one partition.",),
    (RepairRisk(("producer.acks=all", "topic.min.insync.replicas=2"), (replace(VIOLATED, upper=1e-7),)),),
)


def shown(answer: RiskAnswer, width: int) -> str:
    out = sheet(width)
    out.print(RiskReport(answer, DEPLOYMENT, Rates((), (), "rates.yaml")))
    return text_of(out)


@pytest.mark.parametrize("width", [60, 80])
def test_golden(width: int) -> None:
    text = shown(ANSWER, width)
    assert "\x1b" not in text
    matches(f"risk-{width}.txt", text)


def test_a_search_without_repairs_says_so() -> None:
    assert "no repair was found" in shown(replace(ANSWER, repairs=()), 80)
    assert "Repairs" not in shown(replace(ANSWER, repairs=None), 80)


@given(st.floats(1e-30, 1e30))
@settings(max_examples=300, derandomize=True)
def test_ends_are_rounded_outwards(value: float) -> None:
    least, most = (float(rounded(value, up=up).replace(",", "")) for up in (False, True))
    assert least <= value * (1 + 1e-15)
    assert most >= value * (1 - 1e-15)
    assert most - least <= 0.11 * value


@pytest.mark.parametrize(
    ("value", "up", "text"),
    [
        (0.0, True, "0"),
        (0.01234, True, "0.013"),
        (0.01234, False, "0.012"),
        (24.0, True, "24"),
        (24.01, True, "25"),
        (99.9, True, "100"),
        (12345.0, True, "13,000"),
        (1.01e-7, True, "1.1e-7"),
        (1.5e9, False, "1.5e+9"),
    ],
)
def test_numbers_have_two_digits(value: float, up: bool, text: str) -> None:
    assert rounded(value, up=up) == text


def test_intervals_tell_the_years_between_rare_violations() -> None:
    assert interval(VIOLATED) == "0 to 0.013, at most once in 81 years"
    assert interval(replace(VIOLATED, upper=0.0)) == "0"
    assert interval(replace(VIOLATED, lower=1.29, upper=12.0)) == "1.2 to 12"
    assert interval(replace(VIOLATED, upper=1e-9)) == "0 to 1.0e-9"
    assert interval(OPEN) == "0 or more: no upper end"


def test_sources_with_a_small_share_are_left_out() -> None:
    text = "\n".join(details(VIOLATED))
    assert "the cause rack (0.05 a year): 7 %" in text
    assert "slow-follower" not in text


def test_sets_tell_their_windows() -> None:
    said = [next(iter(details(replace(VIOLATED, why_lower="", sets=(one,))))) for one in WINDOWS]
    assert said == [
        "{2 kill} alone: 0.01 a year; in every run these faults come within 1 min 37.7 s",
        "{2 kill} alone: 0.01 a year; in some run any time passes between these faults; effects of kill last for less, "
        "so lasts may be too short",
        "{2 kill} alone: 0.01 a year; its trace has 6.9 s to 14 s from the first to the last",
    ]


TWICE = OfSet((("kill", 2),), 0.01, 0.0, ("kill", "kill"), 6900, 14000)
WINDOWS = (
    replace(TWICE, proven=97_700, because="a < b"),
    replace(TWICE, because="in some run any time passes between these faults", longer=("kill",)),
    TWICE,
)


def test_more_fault_sets_than_fit_are_counted() -> None:
    many = replace(VIOLATED, sets=(OfSet(KILL, 1.0, 0.0),) * 6)
    assert "and 2 more fault sets (--json lists all)" in list(details(many))
