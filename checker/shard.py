"""A shard: the states reached with one combination of faults and no smaller one, in breadth-first order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from checker.combinations import Combination
from checker.kernel import search

INITIAL_CAPACITY = 1 << 12


class Shard:
    """Packed states with their parents, exactly as found; ``levels[d]`` is the index of the first state at depth
    ``d``."""

    def __init__(self, combination: Combination, words: int, predicates: int, has_goal: bool) -> None:
        self.combination = combination
        self.words = words
        self.levels = [0]
        self.complete = False
        self._capacity = INITIAL_CAPACITY
        self.states = np.empty((self._capacity, words), dtype=np.uint64)
        self.parents = np.empty(self._capacity, dtype=np.uint64)
        self.good = np.zeros(self._capacity, dtype=np.uint8)
        self.leads_to = np.zeros(self._capacity if has_goal else 0, dtype=np.uint32)
        self.table = np.empty(2 * self._capacity, dtype=np.uint32)
        self.tags = np.zeros(2 * self._capacity, dtype=np.uint8)
        self.tally = np.zeros(3, dtype=np.int64)
        self.first_seen = np.full(predicates, -1, dtype=np.int64)

    @property
    def count(self) -> int:
        """How many states."""
        return int(self.tally[0])

    @property
    def transitions(self) -> int:
        """How many transitions lead to a state of this shard or to one already known."""
        return int(self.tally[1])

    @property
    def seen(self) -> int:
        """The predicates that held in some state, as bits."""
        return int(self.tally[2]) & ((1 << 64) - 1)

    @property
    def memory(self) -> int:
        """Bytes in use."""
        return sum(part.nbytes for part in (self.states, self.parents, self.good, self.leads_to, self.table, self.tags))

    @property
    def address(self) -> tuple[int, int, int, int]:
        """Where the compiled loops find the states, the table and its tags, and the table's mask."""
        return self.states.ctypes.data, self.table.ctypes.data, self.tags.ctypes.data, len(self.table) - 1

    def level(self, depth: int) -> tuple[int, int]:
        """The range of states at a depth; empty beyond the deepest."""
        if depth >= len(self.levels):
            return self.count, self.count
        last = self.levels[depth + 1] if depth + 1 < len(self.levels) else self.count
        return self.levels[depth], last

    def reserve(self, more: int) -> None:
        """Make room for ``more`` states."""
        if self.count + more <= self._capacity:
            return
        while self.count + more > self._capacity:
            self._capacity *= 2
        self.states.resize((self._capacity, self.words), refcheck=False)
        self.parents.resize(self._capacity, refcheck=False)
        self.good.resize(self._capacity, refcheck=False)
        if len(self.leads_to):
            self.leads_to.resize(self._capacity, refcheck=False)
        self.table = np.empty(2 * self._capacity, dtype=np.uint32)
        self.tags = np.zeros(2 * self._capacity, dtype=np.uint8)
        search.rebuild_table(self.states, self.count, self.table, self.tags)

    def start(self, row: NDArray[np.uint64], bits: int, goal_bit: int) -> None:
        """Enter the initial state, whose predicates are ``bits``."""
        self.states[0] = row
        self.parents[0] = search.INITIAL_STATE
        if goal_bit >= 0:
            self.good[0] = (bits >> goal_bit) & 1
        self.tally[:] = (1, 0, np.uint64(bits).astype(np.int64))
        for bit in range(len(self.first_seen)):
            if (bits >> bit) & 1:
                self.first_seen[bit] = 0
        search.rebuild_table(self.states, 1, self.table, self.tags)

    def depth_of(self, index: int) -> int:
        """The depth at which a state was found."""
        return int(np.searchsorted(np.array(self.levels), index, side="right")) - 1


def addresses(shards: Sequence[Shard]) -> NDArray[np.int64]:
    """The addresses of several shards, as the compiled loops take them."""
    return np.array([shard.address for shard in shards], dtype=np.int64).reshape(len(shards), 4)
