"""The choice and the order of properties to explore with more faults, after every property is decided for few faults.

A violated property has its answer; a property that holds so far could lose its pass to larger fault sets. Each cone of
influence is explored alone: without the variables outside the cone, a layer of faults has a fraction of the states.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from proofka.checker.budget import ANSWERED
from proofka.checker.conclusion import PASSES
from proofka.checker.questions import Group, Prepared, group
from proofka.model.deployment.deployment import Deployment
from proofka.properties.property import Property
from proofka.properties.verdict import Coverage, Status, Verdict


@dataclass(frozen=True)
class Depth:
    """The properties and fault sets that a check without a total of faults explores, and their order.

    ``first``: names of properties that are decided before the others. ``only_first``: no other property is decided, and
    the exploration ends once each of the first is violated, unless ``goes_on`` is set. ``all_properties``: the others
    are decided without a time limit. ``all_fault_sets``: violated properties are also searched for larger fault sets.
    """

    first: frozenset[str] = frozenset()
    only_first: bool = False
    goes_on: bool = False
    all_properties: bool = False
    all_fault_sets: bool = False


def unexplored(deployment: Deployment, prop: Property, question_id: str) -> Verdict:
    """Return the verdict on a property that was not explored because the time limit was reached."""
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
    """Return the properties whose answer larger fault sets could change, or, with ``all_fault_sets``, extend."""
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
    among equals, groups with smaller systems.
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
    """Return a number for a group from its set of properties, because the order of later groups depends on earlier
    results.
    """
    members = {prop.name for prop in one.properties}
    return (1 << len(names)) + sum(1 << bit for bit, name in enumerate(names) if name in members)


def _rank(one: Group, order: Sequence[Collection[str]]) -> tuple[int, int, int]:
    """Return a group's sort key: the first names in ``order`` with one of its properties, then the size of its
    system.
    """
    members = {prop.name for prop in one.properties}
    place = next((at for at, names in enumerate(order) if not members.isdisjoint(names)), len(order))
    return place, len(one.system.variables), len(one.system.actions)


def decides(base: Verdict, deeper: Verdict) -> bool:
    """Tell whether a deeper exploration of a property says more than the answer for few faults.

    A violation counts whatever its layer covered, because every smaller fault set was explored before. Fault sets of
    the earlier answer are kept if the deeper exploration had no time to decide them again.
    """
    covered, before = deeper.coverage.complete_to, base.coverage.complete_to
    if deeper.status is Status.VIOLATED:
        return covered >= before and set(base.cut_sets) <= set(deeper.cut_sets)
    return deeper.status in PASSES and covered > before


def adopted(base: Verdict, deeper: Verdict) -> Verdict:
    """Return the deeper verdict if it covers more than the answer for few faults, else the answer with its coverage
    updated.
    """
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
    """Return the deeper verdict, with the bounds reached in the wider part that was explored before."""
    reached = {*base.coverage.bounds_reached, *deeper.coverage.bounds_reached}
    coverage = replace(deeper.coverage, bounds_reached=tuple(sorted(reached)))
    witnessed = base.witness_reached or deeper.witness_reached
    return replace(deeper, coverage=coverage, witness_reached=witnessed)


def answered(verdict: Verdict, why_not: str) -> Verdict:
    """Return a verdict with the reason why larger fault sets were not explored, if nothing else stopped the
    exploration.

    ``why_not``: the limit that prevented deeper exploration, time or an interrupt. A verdict that is unknown although
    few faults were explored completely was not stopped by time, and its notes give the reason.
    """
    if verdict.coverage.stopped is not None or verdict.status is Status.UNKNOWN:
        return verdict
    why = ANSWERED if verdict.status is Status.VIOLATED else why_not
    return replace(verdict, coverage=replace(verdict.coverage, stopped=why))
