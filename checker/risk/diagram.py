"""The probability that an occurrence completes a critical fault set, by a decision diagram over the sources.

Numbers of active occurrences are independent Poisson variables. The diagram decides one source after another: a node is
the content so far, as far as it matters, and two ways to the same content share the node. All terms are added and never
subtracted, so a small probability has the relative precision of floating-point numbers.

Reference: A. Rauzy, "New algorithms for fault trees analysis", Reliability Engineering and System Safety 40, 1993, on
decision diagrams of cut sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, expm1

from proofka.checker.risk.criticality import Critical
from proofka.checker.risk.errors import TooLarge
from proofka.checker.risk.sources import Source

Node = tuple[tuple[int, ...], int]
"""The content of a node: the numbers of the tracked kinds, and the number of counted faults."""


MOST_NODES = 500_000
"""Number of nodes from which a level of a diagram is refused; a node takes about 200 bytes and some microseconds."""


class Diagram:
    """The diagram of one occurrence, which brings the faults ``arriving`` to those that are active.

    A fault set counts only if the occurrence brings some of its faults: the others were complete before.
    """

    def __init__(self, sources: Sequence[Source], critical: Critical, arriving: Mapping[str, int]) -> None:
        self._critical = critical
        self._always = not critical.unexplored.isdisjoint(arriving)
        self._sets = [dict(one) for one in critical.every_set if any(kind in arriving for kind, _ in one)]
        counts = critical.size(arriving) > 0
        self._most = critical.complete_to if counts else None
        self._limits = {
            kind: most
            for kind, most in critical.limits.items()
            if kind in arriving and (self._most is None or most < self._most)
        }
        needed = {kind: most + 1 for kind, most in self._limits.items()}
        for one in self._sets:
            for kind, count in one.items():
                needed[kind] = max(count, needed.get(kind, 0))
        self._tracked = tuple(sorted(needed))
        self._caps = tuple(needed[kind] for kind in self._tracked)
        self._sources = [source for source in sources if source.active > 0 and self._matters(source)]
        self._added = [self._content(source.faults) for source in self._sources]
        self._terms = [_Terms(source.active) for source in self._sources]
        self._complete: dict[Node, bool] = {}

    def probability(self, start: Mapping[str, int]) -> float:
        """Return the probability that the active faults, with those of ``start``, contain a critical fault set.

        Raise TooLarge if a level of the diagram has too many nodes.
        """
        first = self._content(start)
        if self._always or self._is_complete(first):
            return 1.0
        level, found = {first: 1.0}, 0.0
        for terms, added in zip(self._terms, self._added, strict=True):
            level, completed = self._decided(level, terms, added)
            found += completed
        return found

    def _decided(self, level: Mapping[Node, float], terms: _Terms, added: Node) -> tuple[dict[Node, float], float]:
        """Return the next level, after the number of active occurrences of a source is decided, and the probability
        that this number completes a set.
        """
        following: dict[Node, float] = {}
        completed = 0.0
        for start, weight in level.items():
            node, number = start, 0
            while not self._is_complete(node):
                more = self._with(node, added)
                part = terms.at_least(number) if more == node else terms.exactly(number)
                following[node] = following.get(node, 0.0) + weight * part
                if more == node:
                    break
                node, number = more, number + 1
            else:
                completed += weight * terms.at_least(number)
        if len(following) > MOST_NODES:
            raise TooLarge("the fault sets are too many for an exact number; explore fewer faults (--faults)")
        return following, completed

    def _matters(self, source: Source) -> bool:
        return self._content(source.faults) != self._content({})

    def _content(self, faults: Mapping[str, int]) -> Node:
        tracked = tuple(min(faults.get(kind, 0), cap) for kind, cap in zip(self._tracked, self._caps, strict=True))
        return tracked, 0 if self._most is None else min(self._critical.size(faults), self._most + 1)

    def _with(self, node: Node, added: Node) -> Node:
        (tracked, size), (more, larger) = node, added
        both = tuple(min(one + other, cap) for one, other, cap in zip(tracked, more, self._caps, strict=True))
        return both, 0 if self._most is None else min(size + larger, self._most + 1)

    def _is_complete(self, node: Node) -> bool:
        if node not in self._complete:
            self._complete[node] = self._has_a_set(node)
        return self._complete[node]

    def _has_a_set(self, node: Node) -> bool:
        tracked, size = node
        if self._most is not None and size > self._most:
            return True
        numbers = dict(zip(self._tracked, tracked, strict=True))
        if any(numbers[kind] > most for kind, most in self._limits.items()):
            return True
        return any(all(numbers[kind] >= count for kind, count in one.items()) for one in self._sets)


class _Terms:
    """Probabilities of a Poisson variable."""

    def __init__(self, mean: float) -> None:
        self._mean = mean
        self._exactly = [exp(-mean)]

    def exactly(self, number: int) -> float:
        """Return the probability of a number."""
        while len(self._exactly) <= number:
            self._exactly.append(self._exactly[-1] * self._mean / len(self._exactly))
        return self._exactly[number]

    def at_least(self, number: int) -> float:
        """Return the probability of this number or more, without the loss of digits of a difference near 1."""
        if number == 0:
            return 1.0
        if number == 1:
            return -expm1(-self._mean)
        if self._mean > number:
            return 1.0 - sum(self.exactly(below) for below in range(number))
        total, term, above = 0.0, self.exactly(number), number
        while total + term != total:
            total += term
            above += 1
            term *= self._mean / above
        return total
