"""``proofka diff``: golden text at three widths, and markup in the input."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from proofka.model.deployment.setting import Origin, Setting
from proofka.properties.difference import Cause, Changed, Difference, VerdictChange
from proofka.properties.verdict import Status, Verdict
from proofka.reports.difference import DifferenceReport, answer
from tests.reports import samples

GOLDEN = Path(__file__).parent / "golden"


def changed(scope: str, key: str, old: str | None, new: str | None) -> Changed:
    settings = [
        None if value is None else Setting(scope, key, value, Origin("file", file=file, line=4))
        for value, file in ((old, "old.yaml"), (new, "new.yaml"))
    ]
    return Changed(scope, key, old, new, *settings)


ACKS = changed("producer", "acks", "1", "all")
ISR = changed("topic", "min.insync.replicas", "1", "2")
UNCLEAN = changed("topic", "unclean.leader.election.enable", None, "true")
FIELD = Changed("", "durations.network", "0..100 ms", "0..20 ms")

HOLDS = replace(samples.VIOLATED, status=Status.HOLDS, cut_sets=(), traces=(), coverage=samples.COMPLETE)
LARGER = replace(samples.COMPLETE, bounds={"records": 3, "log": 3, "sends": 2})
DIFFERENCE = Difference(
    verdicts=(
        VerdictChange("no-acked-loss", samples.VIOLATED, HOLDS, ("status", "fault sets"), Cause(((ACKS, ISR),))),
        VerdictChange(
            "no-loss",
            samples.SAME_TRACE,
            replace(HOLDS, coverage=LARGER),
            ("status", "fault sets", "bounds"),
            Cause(((ACKS,), (ISR,)), confirmed=False),
        ),
        VerdictChange(
            "no-skip", HOLDS, samples.FAULTLESS, ("status", "fault sets"), Cause(((UNCLEAN, FIELD),), smallest=False)
        ),
        VerdictChange("read-stability", HOLDS, samples.VACUOUS, ("status",), Cause(unknown="it is undecided")),
        VerdictChange("log-order", HOLDS, replace(HOLDS, coverage=LARGER), ("bounds",)),
        VerdictChange("no-gap", None, HOLDS, ("asked",)),
    ),
    unchanged=3,
    settings=(ACKS, ISR, UNCLEAN),
    versions=(("model", "11", "12"), ("numba", None, "0.60")),
    separated=True,
    remarks=(
        "causes: what was done to find them, and within which limits, in a sentence that is long enough to break",
    ),
)
NOTHING = Difference((), 12, (), (), True, ())


def shown(difference: Difference, width: int = 80) -> str:
    out = Console(file=io.StringIO(), width=width, markup=False, highlight=False, emoji=False)
    out.print(DifferenceReport(difference, "old.zip: orders", "new.json: orders"))
    assert isinstance(out.file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in out.file.getvalue().splitlines())


@pytest.mark.parametrize("width", [60, 80, 120])
def test_golden(width: int) -> None:
    text = shown(DIFFERENCE, width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    path = GOLDEN / f"diff-{width}.txt"
    if os.environ.get("PROOFKA_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_nothing_changed() -> None:
    assert answer(NOTHING) == "Nothing changed: 12 verdicts, and every setting."
    assert NOTHING.is_empty
    for one in ({"settings": (ACKS,)}, {"versions": (("z3", "1", "2"),)}, {"verdicts": DIFFERENCE.verdicts[:1]}):
        assert not replace(NOTHING, **one).is_empty  # type: ignore[arg-type]


def test_many_causes() -> None:
    many = Cause(tuple((changed("producer", f"key{number}", "1", "2"),) for number in range(9)))
    text = shown(replace(NOTHING, verdicts=(replace(DIFFERENCE.verdicts[0], cause=many),)))
    assert "key5" in text
    assert "key6" not in text
    assert "and by each of 3 other sets of changes" in text


def test_hostile_text_stays_text() -> None:
    hostile = changed("producer", samples.HOSTILE, samples.HOSTILE, samples.HOSTILE)
    verdict = replace(samples.VIOLATED, property=samples.HOSTILE)
    change = VerdictChange(samples.HOSTILE, verdict, HOLDS, ("status",), Cause(((hostile,),), unknown=""))
    text = shown(
        Difference((change,), 0, (hostile,), ((samples.HOSTILE, None, samples.HOSTILE),), True, (samples.HOSTILE,)), 120
    )
    assert "\x1b" not in text
    assert "[bold red]a|b[/]" in text


def test_bounds_that_read_the_same_are_told_apart_by_their_difference() -> None:
    """Kinds of fault, the requested total and the reached bounds are part of the explored bounds."""
    old = samples.verdict("no-skip", Status.HOLDS, coverage=replace(samples.COVERAGE, bounds_reached=()))
    new = replace(old, coverage=replace(old.coverage, kinds=(("kill", 1),)))
    assert shown_bounds(old, new).endswith("-> kinds of fault: kill (at most 1)")
    new = replace(old, coverage=replace(old.coverage, total=2))
    assert shown_bounds(old, new) == "total of faults: none named -> total of faults: 2"
    new = replace(old, coverage=replace(old.coverage, bounds_reached=("log",)))
    assert shown_bounds(old, new) == "no bound was reached -> larger log would explore more"


def shown_bounds(old: Verdict, new: Verdict) -> str:
    found = Difference((VerdictChange("no-skip", old, new, ("bounds",), None),), 0, (), (), separated=True, remarks=())
    text = io.StringIO()
    Console(file=text, width=400, no_color=True).print(DifferenceReport(found, "old.json", "new.json"))
    return next(line for line in text.getvalue().splitlines() if "as before: " in line).partition("as before: ")[2]
