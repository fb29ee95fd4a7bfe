"""Rates of faults in a project file and in a file of their own: values with units, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.project.errors import ProjectError
from proofka.checker.project.reading import rates_in, read_project
from proofka.properties.rates import YEAR, CommonCause, FaultRate, Per, Rates
from tests.checker.project.test_reading import WHOLE

RATE = "faults:\n  kill: {{rate: {}, per: broker, lasts: {}}}\ncauses: {{}}\n"
CAUSE = "faults: {{}}\ncauses:\n  {}: {{rate: {}, lasts: 1h, faults: '{}'}}\n"


def written(folder: Path, text: str, name: str = "rates.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_rates_of_a_project_file_are_its_section(tmp_path: Path) -> None:
    file = written(tmp_path, WHOLE, "proofka.yaml")
    expected = Rates(
        (
            FaultRate("kill", 4.0, Per.BROKER, 600.0),
            FaultRate("consumer-crash", 6.0, Per.PIPELINE, 90.0, 0.25),
        ),
        (CommonCause("rack", (("kill", 1), ("power-loss", 2)), 0.02, 86_400.0),),
        str(file),
    )
    assert read_project(file).rates == rates_in(file) == expected


def test_rates_of_a_file_of_their_own_are_the_same(tmp_path: Path) -> None:
    section = WHOLE.partition("rates:\n")[2].replace("\n  ", "\n").removeprefix("  ")
    own, whole = rates_in(written(tmp_path, section)), rates_in(written(tmp_path, WHOLE, "proofka.yaml"))
    assert own is not None
    assert whole is not None
    assert (own.faults, own.causes) == (whole.faults, whole.causes)


def test_a_project_file_without_rates_has_none(tmp_path: Path) -> None:
    assert rates_in(written(tmp_path, "pipelines: [a]\n")) is None


@pytest.mark.parametrize(
    ("text", "a_year"),
    [("0/year", 0.0), ("1e-3/year", 0.001), ("2/week", 2 * 365 / 7), ("3 / day", 1095.0), ("0.5/hour", 4380.0)],
)
def test_rates_have_units(text: str, a_year: float, tmp_path: Path) -> None:
    found = rates_in(written(tmp_path, RATE.format(text, "1ms")))
    assert found is not None
    assert found.faults[0].a_year == pytest.approx(a_year)


WRONG_RATES = (
    "4",
    "four/year",
    "-1/year",
    "nan/year",
    "inf/year",
    "1e99/year",
    "1e8/year",
    "4/century",
    "4/year/broker",
)
WRONG_DURATIONS = ("10", "0s", "-1s", "nan s", "11 years", "5000d", "1e99s", "unbounded", "1..2min")
WRONG_FAULTS = ("", "kill;kill", "0 kill", "10 kill", "-1 kill", "2 boiling", "kill, kill", "two kill")


@pytest.mark.parametrize("text", WRONG_RATES)
def test_wrong_rates_have_a_place_and_a_remedy(text: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"rates.yaml:2: rates.faults.kill.rate: .*\(W06\)"):
        rates_in(written(tmp_path, RATE.format(text, "1h")))


@pytest.mark.parametrize("text", WRONG_DURATIONS)
def test_wrong_durations_have_a_place_and_a_remedy(text: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"rates.yaml:2: rates.faults.kill.lasts: .*\(W06\)"):
        rates_in(written(tmp_path, RATE.format("1/year", text)))


@pytest.mark.parametrize("text", WRONG_FAULTS)
def test_wrong_faults_of_a_cause_have_a_place_and_a_remedy(text: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"rates.yaml:3: rates.causes.rack.faults: .*\(W06\)"):
        rates_in(written(tmp_path, CAUSE.format("rack", "1/year", text)))


@pytest.mark.parametrize("text", ["1.01", "-0.1", "nan", "much"])
def test_wrong_exposures_have_a_place_and_a_remedy(text: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"rates.faults.kill.exposure: must be a number from 0 to 1.*\(W06\)"):
        rates_in(written(tmp_path, RATE.format("1/year", f"1h, exposure: {text}")))


def test_faults_that_are_always_active_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"means that 365 of these are active at any moment.*\(W06\)"):
        rates_in(written(tmp_path, RATE.format("1/day", "365d")))


def test_causes_have_names_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"rates.causes.kill: is the name of a kind of fault.*\(W06\)"):
        rates_in(written(tmp_path, CAUSE.format("kill", "1/year", "2 power-loss")))


def test_causes_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"rates.causes: is missing; .*causes: \{\} if all faults are.*\(W03\)"):
        rates_in(written(tmp_path, "faults: {}\n"))


def test_a_year_has_365_days() -> None:
    assert YEAR == 365 * 86_400
