"""Differences between clocks, derived from a run that is impossible in time, that exclude similar runs.

A contradiction is a cycle of bounds. The moment between two steps cuts the cycle in two parts. The earlier part then
implies a distance between the clocks that run at this moment. These distances form a sequence of interpolants, in terms
of differences between clocks. Reference: K. L. McMillan, "Lazy abstraction with interpolants", CAV 2006.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from proofka.checker.timing.network import Contradiction, Edge
from proofka.model.language import Clock, ClockKey, Need

NOW: ClockKey = ("now", ())
"""The present moment, as a clock that always shows 0."""


@dataclass(frozen=True, order=True)
class Difference:
    """A bound between two clocks: ``later`` was started at most ``most`` ms after ``earlier`` (before it, if negative).

    Both clocks run; the difference of their values does not change while they run. With :data:`NOW` for ``earlier``,
    and a negative number: ``later`` shows at least this time.
    """

    earlier: ClockKey
    later: ClockKey
    most: int


def differences_of(contradiction: Contradiction, known: Collection[Difference] = ()) -> list[Difference]:
    """Return the differences between clocks that the contradiction implies at each moment between two of its steps.

    If there is slack, a ``known`` difference of clocks of the same kind is used if it suffices. Otherwise the
    difference gets some of the slack, so that it also fits similar runs.
    """
    cycle = _shortened([part for edge in contradiction.edges for part in _by_its_step(edge)])
    steps = sorted({node for edge in cycle for node in (edge.tail, edge.head)})
    cuts = [[*_before(cycle, step)] for step in steps[:-1]]
    if any(len(cut) != 1 for cut in cuts):
        return [Difference(*segment) for cut in cuts for segment in cut if not _is_trivial(*segment)]
    spare, added = -1 - contradiction.slack, 0
    found = []
    for place, ((earlier, later, total),) in enumerate(cuts):
        if _is_trivial(earlier, later, total + added):
            continue
        least, most = total + added, total + spare
        kind = earlier[0], later[0], _pattern(earlier, later)
        fitting = [one.most for one in known if least <= one.most <= most and _kind(one) == kind]
        value = min(fitting, default=least + (spare - added) // (SHARE * (len(cuts) - place)))
        added = value - total
        found.append(Difference(earlier, later, value))
    return found


def _by_its_step(edge: Edge) -> Iterator[Edge]:
    """Yield the edge, or two edges through the step whose need relates the starts of two clocks."""
    because = edge.because
    need = None if because is None else because.need
    if because is None or need is None or need.until is None or because.needed_at is None:
        yield edge
        return
    step = because.needed_at
    other = replace(because, clock=need.until)
    if edge.is_least:
        yield Edge(edge.tail, step, 0, other)
        yield Edge(step, edge.head, edge.weight, because)
    else:
        yield Edge(edge.tail, step, edge.weight, because)
        yield Edge(step, edge.head, 0, other)


SHARE = 4
"""Divisor of the slack: every moment takes the part 1/SHARE of an even share."""


def excluded_by(needs: Iterable[Need], watched: Collection[ClockKey]) -> list[Difference]:
    """Return the differences that make an action with these needs impossible because of the start of a clock.

    A difference concerns one clock, or two together. A difference between a clock and itself means that the clock must
    not run.
    """
    lower: list[tuple[ClockKey, ClockKey, int]] = []
    upper: list[tuple[ClockKey, ClockKey, int]] = []
    for need in needs:
        if need.until is None or need.clock.key not in watched:
            continue
        if need.at_least is not None and (least := need.at_least.at_least()):
            lower.append((need.clock.key, need.until.key, least))
        if need.at_most is not None and (most := need.at_most.at_most()) is not None:
            upper.append((need.clock.key, need.until.key, most))
    too_soon = [Difference(older, until, least - 1) for older, until, least in lower]
    too_late = [Difference(until, newer, -most - 1) for newer, until, most in upper]
    together = [
        Difference(older, newer, least - most - 1)
        for older, until, least in lower
        for newer, also_until, most in upper
        if until == also_until and (older != newer or least > most)
    ]
    return [*too_soon, *too_late, *together]


def _is_trivial(earlier: ClockKey, later: ClockKey, most: int) -> bool:
    """Tell whether a difference always holds: a clock and itself, or a clock that was started before now."""
    return most >= 0 and earlier in (NOW, later)


def _shortened(cycle: Sequence[Edge]) -> list[Edge]:
    """Return the same cycle, with each deadline compared with the first step at which it is needed.

    A clock that runs up to some step has not passed its deadline at any step before.
    """
    start = next(i for i, edge in enumerate(cycle) if edge.because is not None)
    found: list[Edge] = []
    for edge in (*cycle[start:], *cycle[:start]):
        last = found[-1] if found else None
        if edge.because is None and last is not None and _is_deadline(last) and edge.head > last.tail:
            found[-1] = replace(last, head=edge.head)
        else:
            found.append(edge)
    return found


def _is_deadline(edge: Edge) -> bool:
    return edge.because is not None and edge.because.need is None and edge.head > edge.tail


def _before(cycle: Sequence[Edge], step: int) -> Iterator[tuple[ClockKey, ClockKey, int]]:
    """Yield the parts of a cycle up to a step: the clock at which each part is entered, the clock at which it is left,
    and its sum.
    """
    inside = [edge.tail <= step and edge.head <= step for edge in cycle]
    for position, edge in enumerate(cycle):
        if edge.tail > step >= edge.head:
            total, at = 0, (position + 1) % len(cycle)
            while inside[at]:
                total += cycle[at].weight
                at = (at + 1) % len(cycle)
            yield _clock_of(edge), _clock_of(cycle[at]), total


def _clock_of(edge: Edge) -> ClockKey:
    return NOW if edge.because is None else edge.because.clock.key


def generalised(differences: Sequence[Difference], clocks: Sequence[Clock]) -> frozenset[Difference]:
    """Return the same differences for other brokers and records: equal arguments stay equal, and others stay
    different.
    """
    known: dict[str, list[ClockKey]] = {}
    for clock in clocks:
        known.setdefault(clock.name, []).append(clock.key)
    known[NOW[0]] = [NOW]
    found = set()
    for one in differences:
        pattern = _pattern(one.earlier, one.later)
        for earlier in known[one.earlier[0]]:
            for later in known[one.later[0]]:
                if _pattern(earlier, later) == pattern:
                    found.add(Difference(earlier, later, one.most))
    return frozenset(found)


_SORTS = {"broker": "broker", "leader": "broker", "follower": "broker", "batch": "batch"}
"""For each argument, the sort of its number; only numbers of the same sort can be equal."""


def _kind(one: Difference) -> tuple[str, str, tuple[bool, ...]]:
    return one.earlier[0], one.later[0], _pattern(one.earlier, one.later)


def _pattern(one: ClockKey, other: ClockKey) -> tuple[bool, ...]:
    """Return which arguments of the two clocks are equal."""
    mine, theirs = one[1], other[1]
    return tuple(a == b for name, a in mine for also, b in theirs if _SORTS.get(name, name) == _SORTS.get(also, also))
