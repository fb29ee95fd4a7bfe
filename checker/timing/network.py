"""Difference constraints as a graph: the earliest times that meet them, or a cycle that shows that there are none.

Reference: T. H. Cormen et al., "Introduction to Algorithms", on difference constraints and shortest paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from checker.timing.constraints import Between, Bound, waited_for

_NEVER = -(10**30)
"""Before any time that a constraint could lead to."""


@dataclass(frozen=True)
class Edge:
    """``time[head] - time[tail] <= weight``; ``because`` is None where it is only that steps have an order."""

    tail: int
    head: int
    weight: int
    because: Between | None

    @property
    def is_least(self) -> bool:
        """It says that some time passes, and not that no more does."""
        return self.weight < 0

    @property
    def bound(self) -> Bound | None:
        """What of the model says so, if it is not only that steps have an order."""
        return None if self.because is None else self.because.bound(is_least=self.is_least)


@dataclass(frozen=True)
class Contradiction:
    """A cycle of edges, each starting where the one before it ends, whose weights add up to less than 0."""

    edges: tuple[Edge, ...]

    def with_value(self, name: str, value: int) -> Contradiction | None:
        """The same bounds where the setting of this name is so many ms; None if they do not contradict each other."""
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
        """Whether the bounds would contradict each other if the setting of this name were so many ms."""
        return self.with_value(name, value) is not None

    @property
    def bounds(self) -> frozenset[Bound]:
        """What of the model contradicts itself here."""
        return frozenset(bound for edge in self.edges if (bound := edge.bound) is not None)

    @property
    def needed(self) -> set[str]:
        """The names of the quantities of which too much is needed."""
        return waited_for(self.bounds)

    @property
    def slack(self) -> int:
        """How much time is missing, in ms: at most -1."""
        return sum(edge.weight for edge in self.edges)

    @property
    def tightness(self) -> Fraction:
        """How much of what is needed is allowed, from 0 to just below 1."""
        needed = -sum(edge.weight for edge in self.edges if edge.weight < 0)
        return Fraction(needed + self.slack, needed)


def edges_of(steps: int, constraints: Sequence[Between]) -> list[Edge]:
    """The constraints of a run of so many steps, and that no step is before the one before it."""
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
    """A contradiction among the same bounds of which none can be left out."""
    found = contradiction
    for left_out in contradiction.edges:
        if left_out.because is not None and any(edge is left_out for edge in found.edges):
            others = [edge for edge in found.edges if edge.because is not None and edge is not left_out]
            smaller = earliest_times(steps, [*_order(steps), *others])
            found = smaller if isinstance(smaller, Contradiction) else found
    return found


def earliest_times(steps: int, edges: Sequence[Edge]) -> list[int] | Contradiction:
    """The earliest time of each step in ms, the start at 0, or why there are none."""
    before = [0, *([_NEVER] * steps)]
    reached_by: list[Edge | None] = [None] * (steps + 1)
    changed: int | None = None
    for _ in range(steps + 2):
        changed = None
        for edge in edges:
            # Read backwards: a step cannot come earlier than another one allows it to.
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
    """The cycle that a chain of reasons runs into."""
    seen: dict[int, int] = {}
    chain: list[Edge] = []
    while node not in seen:
        seen[node] = len(chain)
        edge = reached_by[node]
        assert edge is not None
        chain.append(edge)
        node = edge.head
    return Contradiction(tuple(chain[seen[node] :]))
