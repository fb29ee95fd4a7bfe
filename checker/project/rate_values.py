"""The values of rates: numbers with units, and the faults of a common cause (docs/risk.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from proofka.model.deployment.hiding import printable
from proofka.model.faults import Fault
from proofka.properties.rates import YEAR, CommonCause, FaultRate, Per, Rates
from proofka.properties.verdict import CutSet

OF_FAULTS: Mapping[str, tuple[str, ...]] = {
    "rate": (),
    "per": tuple(per.value for per in Per),
    "lasts": (),
    "exposure": (),
}
"""The keys of a fault's rate, each with its values if these are known."""

OF_CAUSES: Mapping[str, tuple[str, ...]] = {"rate": (), "lasts": (), "faults": ()}
"""The keys of a common cause."""

OPTIONAL = frozenset({"exposure"})

TIMES_A_YEAR: Mapping[str, float] = {
    "year": 1.0,
    "month": 12.0,
    "week": YEAR / (7 * 86_400),
    "day": YEAR / 86_400,
    "hour": YEAR / 3_600,
}
"""Unit of a rate -> the number of such units in a year."""

SECONDS: Mapping[str, float] = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
"""Unit of a duration -> its length in seconds."""

MOST_A_YEAR = 1e7
"""Largest rate a year of a source; about one occurrence in 3 seconds."""

MOST_SECONDS = 10.0 * YEAR
"""Longest duration in seconds."""

MOST_ACTIVE = 50.0
"""Largest expected number of occurrences of one component that are active together."""

MOST_FAULTS = 9
"""Largest number of faults of a kind in a common cause."""

_NUMBER = r"(?P<number>[0-9]{1,12}(?:\.[0-9]{1,12})?(?:[eE][+-]?[0-9]{1,2})?)"
_RATE = re.compile(rf"{_NUMBER} ?/ ?(?P<unit>[a-z]+)")
_DURATION = re.compile(rf"{_NUMBER} ?(?P<unit>[a-z]+)")
_SHARE = re.compile(_NUMBER)
_PART = re.compile(r"(?:(?P<count>[0-9]{1,3}) +)?(?P<kind>[a-z-]+)")


def problem_of(key: str, text: str) -> str | None:
    """Return the sentence about a wrong value of a rate's or a cause's key, or None."""
    try:
        _VALUES[key](text)
    except ValueError as error:
        return str(error)
    return None


def problem_together(of: str, name: str, values: Mapping[str, str]) -> str | None:
    """Return the sentence about values that are right each by itself and wrong together, or None.

    ``of``: rate or cause, with this ``name``.
    """
    if of == "cause" and name in {kind.value for kind in Fault}:
        return "is the name of a kind of fault; give the cause another name"
    active = rate_of(values["rate"]) * seconds_of(values["lasts"]) / YEAR
    if active > MOST_ACTIVE:
        return (
            f"means that {active:.3g} of these are active at any moment, and at most {MOST_ACTIVE:g} can be; correct "
            "rate or lasts"
        )
    return None


def rate_of(text: str) -> float:
    """Return the number of occurrences a year of a text such as 4/year. Raise ValueError."""
    match = _RATE.fullmatch(text)
    if match is None or match["unit"] not in TIMES_A_YEAR:
        units = ", ".join(f"/{unit}" for unit in TIMES_A_YEAR)
        raise ValueError(f"must be a number from 0 with a unit ({units}), as in 4/year")
    found = float(match["number"]) * TIMES_A_YEAR[match["unit"]]
    if not found <= MOST_A_YEAR:
        raise ValueError(f"is more than {MOST_A_YEAR:.0f} a year; such a fault is part of ordinary operation")
    return found


def seconds_of(text: str) -> float:
    """Return the seconds of a duration such as 10min. Raise ValueError."""
    match = _DURATION.fullmatch(text)
    if match is None or match["unit"] not in SECONDS:
        raise ValueError(f"must be a duration with a unit ({', '.join(SECONDS)}), as in 10min")
    found = float(match["number"]) * SECONDS[match["unit"]]
    if not 0 < found <= MOST_SECONDS:
        raise ValueError("must be a duration above 0, and at most 10 years")
    return found


def share_of(text: str) -> float:
    """Return a number from 0 to 1. Raise ValueError."""
    if _SHARE.fullmatch(text) is None or not float(text) <= 1:
        raise ValueError("must be a number from 0 to 1, as in 0.01")
    return float(text)


def faults_of(text: str) -> CutSet:
    """Return the fault set of a text such as ``2 power-loss, kill``. Raise ValueError."""
    counts: dict[str, int] = {}
    known = {kind.value for kind in Fault}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        count = 0 if match is None else int(match["count"] or 1)
        if match is None or not 1 <= count <= MOST_FAULTS:
            raise ValueError("must list faults, each with its number, as in 2 power-loss, kill")
        if match["kind"] not in known:
            raise ValueError(
                f"names {printable(match['kind'])}, which is no kind of fault; proofka help lists the kinds"
            )
        if match["kind"] in counts:
            raise ValueError(f"names {match['kind']} twice; write its number once, as in 2 {match['kind']}")
        counts[match["kind"]] = count
    return tuple(sorted(counts.items()))


_VALUES = {"rate": rate_of, "per": Per, "lasts": seconds_of, "exposure": share_of, "faults": faults_of}


def rates_of(faults: Mapping[str, Mapping[str, str]], causes: Mapping[str, Mapping[str, str]], origin: str) -> Rates:
    """Return the rates of checked texts, by kind of fault and by name of cause."""
    return Rates(tuple(map(_fault, *_columns(faults))), tuple(map(_cause, *_columns(causes))), origin)


def _columns(section: Mapping[str, Mapping[str, str]]) -> tuple[Iterable[str], Iterable[Mapping[str, str]]]:
    return section.keys(), section.values()


def _fault(kind: str, values: Mapping[str, str]) -> FaultRate:
    exposure = values.get("exposure")
    return FaultRate(
        kind,
        rate_of(values["rate"]),
        Per(values["per"]),
        seconds_of(values["lasts"]),
        None if exposure is None else share_of(exposure),
    )


def _cause(name: str, values: Mapping[str, str]) -> CommonCause:
    return CommonCause(name, faults_of(values["faults"]), rate_of(values["rate"]), seconds_of(values["lasts"]))
