"""The choice of properties to explore with more faults, once every property is answered for few, and their order.

A property that is violated has its answer; one that holds so far could lose it to larger fault sets. Each cone of
influence is explored by itself: without what the property does not see a layer of faults has a fraction of the states.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from checker.budget import ANSWERED
from checker.conclusion import PASSES
from checker.questions import Group, Prepared, group
from model.deployment.deployment import Deployment
from properties.property import Property
from properties.verdict import Coverage, Status, Verdict


@dataclass(frozen=True)
class Depth:
    """The properties and fault sets that a check without a total of faults explores, and their order.

    ``first``: names of the properties that are answered before the others; ``all_properties``: the others are answered
    however long that takes; ``all_fault_sets``: violated properties are searched for larger fault sets too.
    """

    first: frozenset[str] = frozenset()
    all_properties: bool = False
    all_fault_sets: bool = False


def unexplored(deployment: Deployment, prop: Property, question_id: str) -> Verdict:
    """Say of a property that there was no time to explore it."""
    coverage = Coverage(-1, deployment.faults.total, 0, 0, (), deployment.sizes, (), "time")
    return Verdict(
        prop.name,
        prop.statement,
        prop.guarantee,
        Status.UNKNOWN,
        prop.name in deployment.require,
        (),
        (),
        prop.witness_words,
        False,
        0,
        coverage,
        question_id,
    )


def worth_deepening(verdicts: Iterable[Verdict], *, all_fault_sets: bool) -> frozenset[str]:
    """Name the properties whose answer larger fault sets could change, or, where all are asked for, add to."""
    return frozenset(
        verdict.property
        for verdict in verdicts
        if verdict.status in PASSES or (all_fault_sets and verdict.status is Status.VIOLATED)
    )


def deeper_groups(
    prepared: Prepared, homes: Sequence[Group], names: frozenset[str], order: Sequence[Collection[str]]
) -> tuple[Group, ...]:
    """Group these properties by their cones of influence.

    Groups with a property of the first names in ``order`` come first, then those of the second names, then the others;
    among equals, groups that see less.
    """
    cones = {name: system for home in homes for name, system in home.cones.items()}
    alike: dict[tuple[str, ...], list[Property]] = {}
    for home in homes:
        for prop in home.properties:
            if prop.name in names:
                alike.setdefault(tuple(v.name for v in cones[prop.name].variables), []).append(prop)
    found = [one for members in alike.values() for one in group(prepared, members)]
    return tuple(sorted(found, key=lambda one: _rank(one, order)))


def number_for_snapshots(one: Group, names: Sequence[str]) -> int:
    """Number a group by which of all properties it has: groups that are made later depend on what was found before."""
    members = {prop.name for prop in one.properties}
    return (1 << len(names)) + sum(1 << bit for bit, name in enumerate(names) if name in members)


def _rank(one: Group, order: Sequence[Collection[str]]) -> tuple[int, int, int]:
    """Rank a group by the first names in ``order`` that have one of its properties, then by the size of its system."""
    members = {prop.name for prop in one.properties}
    place = next((at for at, names in enumerate(order) if not members.isdisjoint(names)), len(order))
    return place, len(one.system.variables), len(one.system.actions)


def decides(base: Verdict, deeper: Verdict) -> bool:
    """Tell whether exploring a property deeper says more than the answer for few faults.

    A violation stands however far its layer came: every smaller fault set was explored before. Fault sets that the
    answer has are not given up where there was no time to decide them once more.
    """
    covered, before = deeper.coverage.complete_to, base.coverage.complete_to
    if deeper.status is Status.VIOLATED:
        return covered >= before and set(base.cut_sets) <= set(deeper.cut_sets)
    return deeper.status in PASSES and covered > before


def adopted(base: Verdict, deeper: Verdict) -> Verdict:
    """Take what exploring a property deeper says, where that covers more than the answer for few faults."""
    if decides(base, deeper):
        return _with_bounds_of(base, deeper)
    same_layer = deeper.coverage.complete_to == base.coverage.complete_to
    coverage = replace(
        base.coverage,
        combinations=deeper.coverage.combinations if same_layer else 0,
        combinations_of_next=deeper.coverage.combinations_of_next if same_layer else 0,
        stopped=deeper.coverage.stopped or "time",
    )
    return replace(base, coverage=coverage)


def _with_bounds_of(base: Verdict, deeper: Verdict) -> Verdict:
    """The deeper verdict with the bounds that were reached in the wider part that was explored before."""
    reached = {*base.coverage.bounds_reached, *deeper.coverage.bounds_reached}
    coverage = replace(deeper.coverage, bounds_reached=tuple(sorted(reached)))
    witnessed = base.witness_reached or deeper.witness_reached
    return replace(deeper, coverage=coverage, witness_reached=witnessed)


def answered(verdict: Verdict, why_not: str) -> Verdict:
    """Say why larger fault sets were not sought, of a verdict for which nothing stopped the exploration.

    ``why_not``: what kept one that larger sets could change from being explored deeper: time, or an interrupt. What few
    faults left undecided although all of them were explored was not left so by time, and its notes say why.
    """
    if verdict.coverage.stopped is not None or verdict.status is Status.UNKNOWN:
        return verdict
    why = ANSWERED if verdict.status is Status.VIOLATED else why_not
    return replace(verdict, coverage=replace(verdict.coverage, stopped=why))
