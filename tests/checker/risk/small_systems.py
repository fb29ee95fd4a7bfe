"""Small systems of sources with critical fault sets, and the definition of a completion, written a second time."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proofka.checker.risk.criticality import Critical
from proofka.checker.risk.sources import Source

FaultSet = Mapping[str, int]


@dataclass(frozen=True)
class System:
    """Sources, and what is critical."""

    name: str
    sources: tuple[Source, ...]
    critical: Critical


def source(name: str, a_year: float, lasts: float, faults: FaultSet | None = None) -> Source:
    """Return a source with one fault of its own name, or a common cause with these faults."""
    return Source(name, faults or {name: 1}, a_year, lasts, faults is not None)


def critical(*sets: FaultSet, complete_to: int | None = None, **others: object) -> Critical:
    """Return critical sets over the kinds a, b, c and d, unless ``others`` name other kinds, limits and so on."""
    found: dict[str, object] = {"limits": {}, "unexplored": frozenset(), "kinds": frozenset("abcd"), **others}
    return Critical(tuple(tuple(sorted(one.items())) for one in sets), complete_to, **found)  # type: ignore[arg-type]


SINGLE = (source("a", 3.0, 0.05), source("b", 7.0, 0.03), source("c", 0.5, 0.4), source("d", 11.0, 0.01))
WITH_CAUSES = (*SINGLE, source("rack", 0.7, 0.2, {"a": 2}), source("zone", 0.4, 0.1, {"a": 1, "c": 1}))

SYSTEMS = (
    System("one kind", SINGLE, critical({"a": 1})),
    System("a pair", SINGLE, critical({"a": 1, "b": 1})),
    System("twice the same", SINGLE, critical({"b": 2})),
    System("overlapping pairs", SINGLE, critical({"a": 1, "b": 1}, {"b": 1, "c": 1}, {"a": 2})),
    System("a triple", SINGLE, critical({"a": 1, "b": 1, "d": 1}, {"c": 2})),
    System("sets that were not explored", SINGLE, critical({"a": 2}, complete_to=2)),
    System("a limit", SINGLE, critical({"a": 1, "b": 1}, complete_to=3, limits={"d": 1})),
    System("a kind that was not explored", SINGLE, critical({"a": 2}, unexplored=frozenset("c"))),
    System("kinds of which any number was explored", SINGLE, critical(complete_to=1, uncounted=frozenset("bd"))),
    System("common causes", WITH_CAUSES, critical({"a": 2}, {"b": 1, "c": 1})),
    System("common causes, and more", WITH_CAUSES, critical({"a": 1, "b": 1, "c": 1}, complete_to=3)),
)


WITH_WINDOWS = tuple(
    System(one.name, one.sources, one.critical.within(dict(windows)))
    for one, windows in (
        (System("a pair within a window", SINGLE, critical({"a": 1, "b": 1})), [((("a", 1), ("b", 1)), 0.02)]),
        (
            System("pairs within two windows", SINGLE, critical({"a": 1, "b": 1}, {"a": 2}, complete_to=3)),
            [((("a", 1), ("b", 1)), 0.02), ((("a", 2),), 0.035)],
        ),
        (
            System("common causes and a window", WITH_CAUSES, critical({"a": 2}, {"b": 1, "c": 1}, complete_to=3)),
            [((("b", 1), ("c", 1)), 0.05)],
        ),
        (
            System("a window of no length", WITH_CAUSES, critical({"a": 1, "c": 1}, complete_to=4)),
            [((("a", 1), ("c", 1)), 0.0)],
        ),
    )
)
"""Systems in which some sets have to come within a window. Larger sets have none."""


def minimal_sets(what: Critical) -> list[FaultSet]:
    """Return all smallest critical sets, those that were not explored among them, one by one."""
    found: list[FaultSet] = [dict(one) for one in what.sets if one not in what.windows]
    for one in what.windows:
        counted = sorted(what.kinds - what.uncounted)
        found += [{**dict(one), kind: dict(one).get(kind, 0) + 1} for kind in counted]
    found += [{kind: 1} for kind in sorted(what.unexplored)]
    found += [{kind: most + 1} for kind, most in what.limits.items()]
    if what.complete_to is not None:
        counted = sorted(what.kinds - what.uncounted)
        for many in itertools.combinations_with_replacement(counted, what.complete_to + 1):
            found.append({kind: many.count(kind) for kind in set(many)})
    return found


def completes(active: FaultSet, arriving: FaultSet, sets: Sequence[FaultSet]) -> bool:
    """Tell whether an occurrence completes one of these sets (docs/risk.md, the counted event)."""
    both = {kind: active.get(kind, 0) + arriving.get(kind, 0) for kind in {*active, *arriving}}
    return any(
        any(kind in arriving for kind in one) and all(both.get(kind, 0) >= count for kind, count in one.items())
        for one in sets
    )


def total(numbers: Sequence[int], sources: Sequence[Source]) -> dict[str, int]:
    """Return the faults of these numbers of occurrences."""
    found: dict[str, int] = {}
    for number, one in zip(numbers, sources, strict=True):
        for kind, count in one.faults.items():
            found[kind] = found.get(kind, 0) + number * count
    return found


def random_systems(count: int, seed: int) -> Iterator[System]:
    """Yield systems without common causes, with random rates and sets."""
    chance = random.Random(seed)
    for number in range(count):
        sources = tuple(source(kind, chance.uniform(0.1, 20), chance.uniform(0.001, 0.2)) for kind in "abcd")
        sets = [
            {kind: chance.randint(1, 2) for kind in chance.sample("abcd", chance.randint(1, 3))}
            for _ in range(chance.randint(1, 4))
        ]
        yield System(f"random {number}", sources, critical(*sets))
