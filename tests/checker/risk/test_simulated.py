"""The numbers against a simulation of the same occurrences, which counts what docs/risk.md defines.

Seeds are fixed, so a test has one outcome. The allowed difference is four standard errors, estimated from batches.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence

import pytest

from proofka.checker.risk.criticality import Critical
from proofka.checker.risk.lower import MS, runs_a_year
from proofka.checker.risk.sources import Source
from proofka.checker.risk.upper import Completions
from proofka.checker.risk.windows import Window
from tests.checker.risk.small_systems import SYSTEMS, WITH_WINDOWS, System, completes, minimal_sets, source

BATCHES = 30
YEARS = 15.0
"""Simulated years of a batch."""

Duration = Callable[[random.Random, float], float]
DURATIONS: dict[str, Duration] = {
    "fixed": lambda chance, mean: mean,
    "exponential": lambda chance, mean: chance.expovariate(1 / mean),
    "from nothing to twice the mean": lambda chance, mean: chance.uniform(0, 2 * mean),
}


def occurrences(sources: Sequence[Source], years: float, chance: random.Random) -> list[tuple[float, Source]]:
    """Return the occurrences of a time, in order."""
    found = []
    for one in sources:
        at = chance.expovariate(one.a_year)
        while at < years:
            found.append((at, one))
            at += chance.expovariate(one.a_year)
    return sorted(found, key=lambda pair: pair[0])


def completions(
    sources: Sequence[Source], what: Critical, years: float, chance: random.Random, duration: Duration
) -> float:
    """Return the number of completing occurrences a year in a simulated time. The first year counts for nothing."""
    sets = minimal_sets(what)
    count, active = 0, list[tuple[float, float, Source]]()
    for at, one in occurrences(sources, years + 1, chance):
        active = [entry for entry in active if entry[1] > at]
        is_complete = completes(faults_of(active, 0.0), one.faults, sets) or any(
            completes(faults_of(active, at - window), one.faults, [dict(within)])
            for within, window in what.windows.items()
        )
        count += at >= 1 and is_complete
        active.append((at, at + duration(chance, one.lasts), one))
    return count / years


def faults_of(active: Sequence[tuple[float, float, Source]], since: float) -> dict[str, int]:
    """Return the faults of the active occurrences that began at a time or later, and of all common causes."""
    found: dict[str, int] = {}
    for begun, _, one in active:
        for kind, number in one.faults.items() if begun >= since or one.is_cause else ():
            found[kind] = found.get(kind, 0) + number
    return found


def is_close(found: Sequence[float], expected: float) -> bool:
    error = statistics.stdev(found) / len(found) ** 0.5
    return abs(statistics.mean(found) - expected) <= 4 * error


CASES = [(one, "fixed") for one in (*SYSTEMS, *WITH_WINDOWS)] + [
    (SYSTEMS[place], name) for place in (3, 9) for name in DURATIONS
]


@pytest.mark.parametrize(("system", "durations"), CASES, ids=lambda one: getattr(one, "name", one))
def test_upper_ends_are_those_of_a_simulation(system: System, durations: str) -> None:
    chance = random.Random(f"{system.name} {durations}")
    relevant = [one.only(system.critical.kinds) for one in system.sources]
    found = [completions(relevant, system.critical, YEARS, chance, DURATIONS[durations]) for _ in range(BATCHES)]
    assert statistics.mean(found) > 0
    assert is_close(found, Completions(system.sources, system.critical).a_year)


def test_simulation_tells_a_number_that_is_wrong() -> None:
    """Three tenths more are outside the allowed difference, so the comparison above can fail."""
    system = SYSTEMS[3]
    chance = random.Random(5)
    found = [completions(system.sources, system.critical, YEARS, chance, DURATIONS["fixed"]) for _ in range(BATCHES)]
    assert is_close(found, Completions(system.sources, system.critical).a_year)
    assert not is_close(found, 1.3 * Completions(system.sources, system.critical).a_year)


def runs(
    sources: Sequence[Source], window: Window, exposures: dict[str, float], years: float, chance: random.Random
) -> float:
    """Return the number a year of runs like that of a trace (docs/risk.md, the lower end) in a simulated time."""
    every = [(at, one, chance.random()) for at, one in occurrences(sources, years + 1, chance)]
    least, most = window.span[0] * MS, (window.span[1] or 0) * MS
    count, last_end = 0, 0.0
    for place, (at, one, hit) in enumerate(every):
        is_idle, last_end = at >= last_end, max(last_end, at + one.lasts)
        if at < 1 or not is_idle or one.name != window.order[0] or hit >= exposures[one.name]:
            continue
        end = at + most + window.after * MS
        following = [entry for entry in every[place + 1 : place + 9] if entry[0] <= end]
        if [other.name for _, other, _ in following] != list(window.order[1:]):
            continue
        if any(hit >= exposures[other.name] for _, other, hit in following):
            continue
        count += not following or least <= following[-1][0] - at <= most
    return count / years


YEAR_IN_MS = round(1 / MS)

WINDOWS = {
    "one fault": Window(("a",), ((0, 0),), YEAR_IN_MS // 50),
    "two faults": Window(("a", "b"), ((YEAR_IN_MS // 200, YEAR_IN_MS // 30), (0, 0)), YEAR_IN_MS // 100),
    "twice the same": Window(("b", "b"), ((0, YEAR_IN_MS // 50), (0, 0)), 0),
    "three faults": Window(("b", "a", "b"), ((YEAR_IN_MS // 100, YEAR_IN_MS // 40), (0, 0), (0, 0)), YEAR_IN_MS // 90),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_lower_ends_are_those_of_a_simulation(name: str) -> None:
    sources = (source("a", 6.0, 0.05), source("b", 9.0, 0.03), source("rack", 1.0, 0.08, {"a": 2}))
    exposures = {"a": 0.5, "b": 0.8}
    chance, window = random.Random(name), WINDOWS[name]
    found = [runs(sources, window, exposures, 20 * YEARS, chance) for _ in range(BATCHES)]
    assert statistics.mean(found) > 0
    assert is_close(found, runs_a_year(window, sources, exposures))
