"""Difference constraints as a graph: the earliest times that satisfy them, or a cycle that proves that none exist.

Reference: T. H. Cormen et al., "Introduction to Algorithms", on difference constraints and shortest paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from proofka.checker.timing.constraints import Between, Bound, waited_for

_NEVER = -(10**30)
"""A time before all times that a constraint can lead to."""


@dataclass(frozen=True)
class Edge:
    """A constraint ``time[head] - time[tail] <= weight``; ``because`` is None if it only orders two steps."""

    tail: int
    head: int
    weight: int
    because: Between | None

    @property
    def is_least(self) -> bool:
        """Tell whether the constraint demands a least time, instead of a greatest time."""
        return self.weight < 0

    @property
    def bound(self) -> Bound | None:
        """The bound of the model behind the edge; None if the edge only orders two steps."""
        return None if self.because is None else self.because.bound(is_least=self.is_least)


@dataclass(frozen=True)
class Contradiction:
    """A cycle of edges, each starting where the previous edge ends, whose weights add up to less than 0."""

    edges: tuple[Edge, ...]

    def with_value(self, name: str, value: int) -> Contradiction | None:
        """Return the same bounds if the setting ``name`` has ``value`` ms; None if they do not contradict each
        other.
        """
        edges = []
        for edge in self.edges:
            changed = None if edge.because is None else edge.because.with_value(name, value)
            weight = edge.weight
            if changed is not None:
                bound = changed.least if edge.is_least else changed.most
                if bound is None and not edge.is_least:
                    return None
                weight = -(bound or 0) if edge.is_least else bound or 0
            edges.append(Edge(edge.tail, edge.head, weight, changed))
        found = Contradiction(tuple(edges))
        return found if found.slack < 0 else None

    def excludes_with(self, name: str, value: int) -> bool:
        """Tell whether the bounds would contradict each other if the setting ``name`` had ``value`` ms."""
        return self.with_value(name, value) is not None

    @property
    def bounds(self) -> frozenset[Bound]:
        """The bounds of the model that contradict each other."""
        return frozenset(bound for edge in self.edges if (bound := edge.bound) is not None)

    @property
    def needed(self) -> set[str]:
        """The names of the quantities that need too much time."""
        return waited_for(self.bounds)

    @property
    def slack(self) -> int:
        """The missing time in ms, as a negative number: at most -1."""
        return sum(edge.weight for edge in self.edges)

    @property
    def tightness(self) -> Fraction:
        """The allowed part of the needed time, from 0 to less than 1."""
        needed = -sum(edge.weight for edge in self.edges if edge.weight < 0)
        return Fraction(needed + self.slack, needed)


def edges_of(steps: int, constraints: Sequence[Between]) -> list[Edge]:
    """Return the constraints of a run of ``steps`` steps, and the order of the steps."""
    edges = _order(steps)
    for one in constraints:
        if one.most is not None:
            edges.append(Edge(one.earlier, one.later, one.most, one))
        if one.least is not None:
            edges.append(Edge(one.later, one.earlier, -one.least, one))
    return edges


def _order(steps: int) -> list[Edge]:
    return [Edge(step, step - 1, 0, None) for step in range(1, steps + 1)]


def minimal(steps: int, contradiction: Contradiction) -> Contradiction:
    """Return a contradiction among the same bounds from which no bound can be left out."""
    found = contradiction
    for left_out in contradiction.edges:
        if left_out.because is not None and any(edge is left_out for edge in found.edges):
            others = [edge for edge in found.edges if edge.because is not None and edge is not left_out]
            smaller = earliest_times(steps, [*_order(steps), *others])
            found = smaller if isinstance(smaller, Contradiction) else found
    return found


def earliest_times(steps: int, edges: Sequence[Edge]) -> list[int] | Contradiction:
    """Return the earliest time of each step in ms, with the start at 0, or a contradiction."""
    before = [0, *([_NEVER] * steps)]
    reached_by: list[Edge | None] = [None] * (steps + 1)
    changed: int | None = None
    for _ in range(steps + 2):
        changed = None
        for edge in edges:
            # Read backward: a step cannot come earlier than another step allows.
            least = before[edge.head] - edge.weight
            if least > before[edge.tail]:
                before[edge.tail], reached_by[edge.tail] = least, edge
                changed = edge.tail
        if changed is None and before[0] == 0:
            return before
        if before[0] > 0:
            return _cycle(reached_by, 0)
    assert changed is not None
    return _cycle(reached_by, changed)


def _cycle(reached_by: Sequence[Edge | None], node: int) -> Contradiction:
    """Return the cycle at the end of a chain of reasons."""
    seen: dict[int, int] = {}
    chain: list[Edge] = []
    while node not in seen:
        seen[node] = len(chain)
        edge = reached_by[node]
        assert edge is not None
        chain.append(edge)
        node = edge.head
    return Contradiction(tuple(chain[seen[node] :]))
