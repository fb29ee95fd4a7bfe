"""A shard: the states reached with one combination of faults and no smaller one, in breadth-first order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from checker.combinations import Combination
from checker.kernel import table
from checker.kernel.layout import Words
from checker.kernel.table import PARTITION_BITS, PARTITIONS

INITIAL_STATE = 0xFFFFFFFF
"""The parent of an initial state."""

SMALL = 1 << 12
"""Tables smaller than this double; larger ones grow by less, where much of them would be empty."""


@dataclass(frozen=True)
class Growth:
    """How full a table may get, and by what larger tables grow.

    Emptier tables are searched faster. A state with two words takes no more than 40 bytes on average, however empty the
    tables are: 16 and 4, and 5 where there is a goal, and slots of 8.
    """

    most_load: float
    table: float

    @classmethod
    def of(cls, words: int, has_goal: bool) -> Growth:
        """The fastest that keeps to that."""
        if words == 2:
            return cls(0.75, 1.35) if has_goal else cls(0.65, 1.6)
        return cls(0.6, 2)


class TooManyStates(Exception):
    """One combination of faults has more states than references can name."""


@dataclass(frozen=True)
class Segment:
    """Rows entered one after the other: at one depth, by one of the search's sources; ``starts`` by partition."""

    depth: int
    source: int
    starts: NDArray[np.int64]


def _larger(array: NDArray[Any], rows: int, place: NDArray[np.int64]) -> NDArray[Any]:
    """The array with room for so many rows. What is not written stays without memory, as the system hands it out."""
    larger = np.empty((rows, *array.shape[1:]), dtype=array.dtype)
    count = int(place[table.COUNT])
    larger[:count] = array[:count]
    return larger


class Shard:
    """Packed states with their parents, exactly as found, in partitions (see :mod:`checker.kernel.table`).

    A state is named by its *reference*: its row in its partition, and the partition. ``places`` tells the compiled
    loops where the arrays are. Everything less deep than ``depth_done`` has been expanded. With ``counted`` it is
    counted in how many states each predicate held.
    """

    def __init__(
        self, combination: Combination, words: int, predicates: int, *, has_goal: bool, counted: bool = False
    ) -> None:
        self.combination = combination
        self.words = words
        self.has_goal = has_goal
        self._growth = Growth.of(words, has_goal)
        self.complete = False
        self.depth_done = 0
        self.memory = 0
        self.segments: list[Segment] = []
        self.transitions = np.zeros(1, dtype=np.int64)
        self.seen_in = np.zeros(PARTITIONS, dtype=np.uint64)
        self.first_seen = np.full((PARTITIONS, predicates), -1, dtype=np.int64)
        self.held = np.zeros((PARTITIONS, predicates if counted else 0), dtype=np.int64)
        self.places = np.zeros((PARTITIONS, table.PLACES), dtype=np.int64)
        self._states = [np.empty((0, words), dtype=np.uint64) for _ in range(PARTITIONS)]
        self._parents = [np.empty(0, dtype=np.uint32) for _ in range(PARTITIONS)]
        self._tables = [np.empty(0, dtype=np.uint64) for _ in range(PARTITIONS)]
        self._good = [np.empty(0, dtype=np.uint8) for _ in range(PARTITIONS if has_goal else 0)]
        self._leads_to = [np.empty(0, dtype=np.uint32) for _ in range(PARTITIONS if has_goal else 0)]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many states each partition has."""
        return self.places[:, table.COUNT].copy()

    @property
    def count(self) -> int:
        """How many states."""
        return int(self.places[:, table.COUNT].sum())

    @property
    def seen(self) -> int:
        """The predicates that held in some state, as bits."""
        return int(np.bitwise_or.reduce(self.seen_in))

    def held_in(self, predicate: int) -> int:
        """In how many states a predicate held."""
        return int(self.held[:, predicate].sum())

    @property
    def depth(self) -> int:
        """The depth of the deepest state."""
        return self.segments[-1].depth if self.segments else 0

    def level(self, depth: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first row of a depth and the first one after it, by partition; no rows beyond the deepest."""
        depths = [segment.depth for segment in self.segments]
        first, after = bisect_right(depths, depth - 1), bisect_right(depths, depth)
        counts = self.counts
        begin = self.segments[first].starts if first < len(depths) else counts
        end = self.segments[after].starts if after < len(depths) else counts
        return begin, end

    def level_starts(self) -> NDArray[np.int64]:
        """The first row of each depth, by partition, and at last the numbers of rows."""
        return np.array([*(self.level(depth)[0] for depth in range(self.depth + 1)), self.counts])

    def level_sizes(self) -> list[int]:
        """How many states were found at each depth."""
        return [int(size) for size in np.diff(self.level_starts().sum(axis=1))]

    def begin_segment(self, depth: int, source: int) -> None:
        """What is entered from now on is found at this depth by this source."""
        self.segments.append(Segment(depth, source, self.counts))

    def drop_empty_segments(self) -> None:
        """Forget depths at which nothing was found."""
        while len(self.segments) > 1 and (self.segments[-1].starts == self.counts).all():
            self.segments.pop()

    def reserve(self, parts: Iterable[int], more: NDArray[np.int64]) -> None:
        """Make room for ``more[part]`` states in each of some partitions."""
        for part in parts:
            wanted = int(self.places[part, table.COUNT] + more[part])
            if wanted > self.places[part, table.ROOM]:
                self._grow(part, wanted)

    def _grow(self, part: int, wanted: int) -> None:
        if wanted >= table.MOST_STATES:
            raise TooManyStates(f"more than {table.MOST_STATES * PARTITIONS:,} states with one combination of faults")
        place = self.places[part]
        rows = len(self._parents[part])
        if wanted > rows:
            rows = max(wanted, 32, 2 * rows)
            self._states[part] = _larger(self._states[part], rows, place)
            self._parents[part] = _larger(self._parents[part], rows, place)
            place[table.STATES] = self._states[part].ctypes.data
            place[table.PARENTS] = self._parents[part].ctypes.data
            if self.has_goal:
                self._good[part] = _larger(self._good[part], rows, place)
                self._leads_to[part] = _larger(self._leads_to[part], rows, place)
                place[table.GOOD] = self._good[part].ctypes.data
                place[table.LEADS_TO] = self._leads_to[part].ctypes.data
        slots, most_load = len(self._tables[part]), self._growth.most_load
        if wanted > int(slots * most_load):
            larger_by = 2 if slots < SMALL else self._growth.table
            slots = max(int(wanted / most_load) + 1, 64, int(slots * larger_by))
            larger = np.zeros(slots, dtype=np.uint64)
            table.move_entries(self._tables[part], larger)
            self._tables[part] = larger
            place[table.TABLE] = larger.ctypes.data
            place[table.SLOTS] = slots
        place[table.ROOM] = min(rows, int(slots * most_load))

    def measure(self) -> int:
        """Bytes in use; remembered in ``memory``. Room that no row was written to yet takes no memory."""
        row = self.words * 8 + 4 + (5 if self.has_goal else 0)
        self.memory = self.count * row + sum(slots.nbytes for slots in self._tables)
        return self.memory

    def start(self, row: Words, bits: int, goal_bit: int) -> None:
        """Enter the initial state, whose predicates are ``bits``."""
        hashed = int(table.hash_of(row.ctypes.data, self.words))
        part = hashed % PARTITIONS
        self.begin_segment(0, 0)
        self._grow(part, 1)
        self._states[part][0] = row
        self._parents[part][0] = INITIAL_STATE
        self.places[part, table.COUNT] = 1
        table.enter_all(self._states[part], 1, self._tables[part])
        if goal_bit >= 0:
            self._good[part][0] = (bits >> goal_bit) & 1
            self._leads_to[part][0] = part
        self.seen_in[part] = bits
        for bit in range(self.first_seen.shape[1]):
            if (bits >> bit) & 1:
                self.first_seen[part, bit] = 0
                if bit < self.held.shape[1]:
                    self.held[part, bit] = 1

    def allocate(self, counts: NDArray[np.int64]) -> list[tuple[NDArray[np.uint64], NDArray[np.uint32]]]:
        """Room for states and parents of an empty shard, by partition, to be filled and then entered."""
        for part in range(PARTITIONS):
            if counts[part]:
                self._grow(part, int(counts[part]))
        return [(self._states[part][: counts[part]], self._parents[part][: counts[part]]) for part in range(PARTITIONS)]

    def enter_allocated(self, counts: NDArray[np.int64]) -> None:
        """Enter what was filled in. What leads to a goal is not known then, and has to be found by steps."""
        for part in range(PARTITIONS):
            count = int(counts[part])
            self.places[part, table.COUNT] = count
            table.enter_all(self._states[part], count, self._tables[part])
            if self.has_goal:
                self._good[part][:count] = 0
                self._leads_to[part][:count] = (np.arange(count, dtype=np.uint32) << PARTITION_BITS) | part

    def state(self, reference: int) -> Words:
        """The packed state that a reference names."""
        row: Words = self._states[reference % PARTITIONS][reference >> PARTITION_BITS]
        return row

    def parent(self, reference: int) -> int:
        """The reference of the state that this one was found from, in its source's shard, or INITIAL_STATE."""
        return int(self._parents[reference % PARTITIONS][reference >> PARTITION_BITS])

    def segment_of(self, reference: int) -> Segment:
        """When and by which source a state was found."""
        part, row = reference % PARTITIONS, reference >> PARTITION_BITS
        starts = [int(segment.starts[part]) for segment in self.segments]
        return self.segments[bisect_right(starts, row) - 1]

    def first_with(self, predicate: int) -> int | None:
        """The reference of a state of least depth in which a predicate held, or None."""
        parts = [part for part in range(PARTITIONS) if self.first_seen[part, predicate] >= 0]
        references = [int(self.first_seen[part, predicate]) << PARTITION_BITS | part for part in parts]
        return min(references, key=lambda reference: self.segment_of(reference).depth, default=None)

    def first_not_good(self) -> int | None:
        """The reference of a state of least depth that is not marked as good, or None if all are."""
        references = []
        for part in range(PARTITIONS):
            rows = np.flatnonzero(self._good[part][: self.places[part, table.COUNT]] == 0)
            if len(rows):
                references.append(int(rows[0]) << PARTITION_BITS | part)
        return min(references, key=lambda reference: self.segment_of(reference).depth, default=None)

    def rows(self, part: int, first: int = 0) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """The states and parents of a partition from row ``first`` on."""
        last = int(self.places[part, table.COUNT])
        return self._states[part][first:last], self._parents[part][first:last]
