"""A shard: the states reached with one fault combination and no smaller one, in breadth-first order."""

from __future__ import annotations

import math
import mmap
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofka.checker.combinations import Combination
from proofka.checker.kernel import visited
from proofka.checker.kernel.components import Components
from proofka.checker.kernel.layout import Words
from proofka.checker.kernel.table import LOW_HALF, hash_of
from proofka.checker.kernel.visited import PARTITION_BITS, PARTITIONS

INITIAL_STATE = 0xFFFFFFFF
"""The parent of an initial state."""

SMALL = 1 << 12
"""Largest number of slots of a table that doubles. Larger tables grow more slowly, to waste less space."""
NUMPY_ASKS_FROM = 1 << 22
"""Bytes of an array from which NumPy requests large pages."""
ROWS_GROW_BY = 4
"""Factor by which the room for rows grows. Unwritten room costs no memory, and moving rows costs time."""


MOST_LOAD, TABLE_GROWS_BY = 0.75, 1.5
"""Largest fill of a table, and the growth factor of larger tables. A slot has four bytes; a state uses at most eight
bytes of slots."""


class TooManyStates(Exception):
    """One fault combination has more states than references can name."""


@dataclass(frozen=True)
class Segment:
    """Rows entered one after the other at one depth by one source of the search; ``starts`` by partition."""

    depth: int
    source: int
    starts: NDArray[np.int64]


def _room(shape: tuple[int, ...], kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """Return an array whose memory is allocated page by page when it is written.

    NumPy would request large pages, which are allocated as a whole: two megabytes behind every partition's last row.
    """
    size = math.prod(shape) * np.dtype(kind).itemsize
    if size < NUMPY_ASKS_FROM:
        return np.empty(shape, dtype=kind)
    memory = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype=kind).reshape(shape)


class Shard:
    """States with their parents, in the order found, in partitions (see :mod:`checker.kernel.visited`).

    A state is a word that ``components`` decodes. The *reference* of a state is its row in its partition, and the
    partition. ``places`` gives the compiled loops the places of the arrays. All states less deep than ``depth_done``
    have been expanded, in ``transitions_done`` steps. With ``counted``, the states in which each predicate held are
    counted. With ``covers``, states that a stored state covers are left out (checker/kernel/covering.py). ``complete``:
    the search is over. ``closed``: the search found every state of the combination, and did not end at the last
    violation that was sought.
    """

    def __init__(
        self,
        combination: Combination,
        components: Components,
        predicates: int,
        *,
        has_goal: bool,
        counted: bool = False,
        covers: bool = False,
    ) -> None:
        self.combination = combination
        self.components = components
        self.has_goal = has_goal
        self.complete = False
        self.closed = False
        self.depth_done = 0
        self.transitions_done = 0
        self.memory = 0
        self.segments: list[Segment] = []
        self.transitions = np.zeros(1, dtype=np.int64)
        self.seen_in = np.zeros(PARTITIONS, dtype=np.uint64)
        self.first_seen = np.full((PARTITIONS, predicates), -1, dtype=np.int64)
        self.held = np.zeros((PARTITIONS, predicates if counted else 0), dtype=np.int64)
        self.placed_words = components.first_words if covers else components.words
        """Number of the first words of a state, whose hash names the state's partition."""
        self.places = np.zeros((PARTITIONS, visited.PLACES), dtype=np.int64)
        self.places[:, visited.HASHED] = LOW_HALF if covers else visited.WHOLE_WORD
        self._states = [np.empty(0, dtype=np.uint64) for _ in range(PARTITIONS)]
        self._parents = [np.empty(0, dtype=np.uint32) for _ in range(PARTITIONS)]
        self._tables = [np.empty(0, dtype=np.uint32) for _ in range(PARTITIONS)]
        self._good = [np.empty(0, dtype=np.uint8) for _ in range(PARTITIONS if has_goal else 0)]
        self._leads_to = [np.empty(0, dtype=np.uint32) for _ in range(PARTITIONS if has_goal else 0)]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of states in each partition."""
        return self.places[:, visited.COUNT].copy()

    @property
    def count(self) -> int:
        """Number of states."""
        return int(self.places[:, visited.COUNT].sum())

    @property
    def seen(self) -> int:
        """The predicates that held in some state, as bits."""
        return int(np.bitwise_or.reduce(self.seen_in))

    def held_in(self, predicate: int) -> int:
        """Return the number of states in which a predicate held."""
        return int(self.held[:, predicate].sum())

    @property
    def depth(self) -> int:
        """Depth of the deepest state; 0 without states."""
        return self.segments[-1].depth if self.count else 0

    def level(self, depth: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first row of a depth and the first row behind it, by partition; no rows beyond the deepest
        state.
        """
        depths = [segment.depth for segment in self.segments]
        first, after = bisect_right(depths, depth - 1), bisect_right(depths, depth)
        counts = self.counts
        begin = self.segments[first].starts if first < len(depths) else counts
        end = self.segments[after].starts if after < len(depths) else counts
        return begin, end

    def level_starts(self) -> NDArray[np.int64]:
        """Return the first row of each depth, by partition, followed by the numbers of rows."""
        return np.array([*(self.level(depth)[0] for depth in range(self.depth + 1)), self.counts])

    def level_sizes(self) -> list[int]:
        """Return the number of states found at each depth."""
        if not self.segments:
            return []
        return [int(size) for size in np.diff(self.level_starts().sum(axis=1))]

    def begin_segment(self, depth: int, source: int) -> None:
        """Begin a segment: rows entered from now on have this depth and this source."""
        self.segments.append(Segment(depth, source, self.counts))

    def drop_empty_segments(self) -> None:
        """Remove depths at which nothing was found."""
        while len(self.segments) > 1 and (self.segments[-1].starts == self.counts).all():
            self.segments.pop()

    def reserve(
        self,
        more: NDArray[np.int64],
        threads: int = 1,
        on_all: Callable[[Callable[[int], None]], None] = lambda work: work(0),
    ) -> None:
        """Make room for ``more[part]`` further states in each partition.

        All partitions grow to the same size, one by one.

        ``on_all`` calls its argument with 0, 1, ... in ``threads`` threads, and returns when all calls are done. Raise
        :class:`TooManyStates`.
        """
        wanted = int((self.places[:, visited.COUNT] + more).max())
        if wanted <= self.places[:, visited.ROOM].min():
            return
        if wanted >= visited.MOST_STATES:
            raise TooManyStates(f"more than {visited.MOST_STATES * PARTITIONS:,} states with one combination of faults")

        def grow(thread: int) -> None:
            for part in range(thread, PARTITIONS, threads):
                self._grow(part, wanted)

        on_all(grow)

    def _grow(self, part: int, wanted: int) -> None:
        """Move a partition to larger arrays, if its arrays are too small for the wanted number of states."""
        old, place = self.places[part].copy(), self.places[part]
        outgrown: list[NDArray[Any]] = []  # in use until everything was moved

        def put(arrays: list[NDArray[Any]], column: int, array: NDArray[Any]) -> None:
            outgrown.append(arrays[part])
            arrays[part], place[column] = array, array.ctypes.data

        rows, slots = len(self._parents[part]), len(self._tables[part])
        if wanted > rows:
            rows = max(wanted, 32, ROWS_GROW_BY * rows)
            put(self._states, visited.STATES, _room((rows,), np.uint64))
            put(self._parents, visited.PARENTS, _room((rows,), np.uint32))
            if self.has_goal:
                put(self._good, visited.GOOD, _room((rows,), np.uint8))
                put(self._leads_to, visited.LEADS_TO, _room((rows,), np.uint32))
        if wanted > int(slots * MOST_LOAD):
            larger_by = 2 if slots < SMALL else TABLE_GROWS_BY
            slots = max(int(wanted / MOST_LOAD) + 1, 64, int(slots * larger_by))
            put(self._tables, visited.TABLE, np.zeros(slots, dtype=np.uint32))
        place[visited.SLOTS], place[visited.ROOM] = slots, min(rows, int(slots * MOST_LOAD))
        visited.move_partition(old, place)

    def measure(self) -> int:
        """Return the bytes in use, without those of the components, and store them in ``memory``.

        Room without written rows takes no memory.
        """
        row = 8 + 4 + (5 if self.has_goal else 0)
        self.memory = self.count * row + sum(slots.nbytes for slots in self._tables)
        return self.memory

    def release_goal_marks(self) -> int:
        """Release the marks of states that reach the goal, once the goal is decided; return the bytes released."""
        before = self.measure()
        self.has_goal = False
        self._good, self._leads_to = [], []
        self.places[:, [visited.GOOD, visited.LEADS_TO]] = 0
        return before - self.measure()

    @property
    def bytes(self) -> int:
        """Bytes of memory used by the states."""
        return self.measure()

    def start(self, row: Words, bits: int, goal_bit: int) -> None:
        """Enter the initial state, whose predicates are ``bits``."""
        row = np.ascontiguousarray(row)
        part = int(hash_of(row.ctypes.data, self.placed_words)) % PARTITIONS
        self.begin_segment(0, 0)
        self.reserve(np.ones(PARTITIONS, dtype=np.int64))
        self._states[part][0] = self.components.encode(row)
        self._parents[part][0] = INITIAL_STATE
        self.places[part, visited.COUNT] = 1
        self._enter_all(part)
        if goal_bit >= 0:
            self._good[part][0] = (bits >> goal_bit) & 1
            self._leads_to[part][0] = visited.NO_STEP
        self.seen_in[part] = bits
        for bit in range(self.first_seen.shape[1]):
            if (bits >> bit) & 1:
                self.first_seen[part, bit] = 0
                if bit < self.held.shape[1]:
                    self.held[part, bit] = 1

    def _enter_all(self, part: int) -> None:
        """Enter the words of a partition into its empty table."""
        place = self.places[part]
        states, table, hashed = place[visited.STATES], place[visited.TABLE], place[visited.HASHED]
        visited.enter_all(states, place[visited.COUNT], table, place[visited.SLOTS], hashed)

    def allocate(self, counts: NDArray[np.int64]) -> list[tuple[NDArray[np.uint64], NDArray[np.uint32]]]:
        """Return room for the words and parents of an empty shard, by partition, to be filled and then entered."""
        self.reserve(counts)
        return [(self._states[part][: counts[part]], self._parents[part][: counts[part]]) for part in range(PARTITIONS)]

    def enter_allocated(self, counts: NDArray[np.int64]) -> None:
        """Enter the filled rows. Steps that lead to a goal are unknown then, and must be searched."""
        for part in range(PARTITIONS):
            count = int(counts[part])
            self.places[part, visited.COUNT] = count
            self._enter_all(part)
            if self.has_goal:
                self._good[part][:count] = 0
                self._leads_to[part][:count] = visited.NO_STEP

    def state(self, reference: int) -> Words:
        """Return the packed state of a reference."""
        row = reference >> PARTITION_BITS
        state: Words = self.packed(reference % PARTITIONS, slice(row, row + 1))[0]
        return state

    def parent(self, reference: int) -> int:
        """Return the reference of the predecessor of a state, in the shard of its source, or INITIAL_STATE."""
        return int(self._parents[reference % PARTITIONS][reference >> PARTITION_BITS])

    def segment_of(self, reference: int) -> Segment:
        """Return the segment of a state: its depth and its source."""
        part, row = reference % PARTITIONS, reference >> PARTITION_BITS
        starts = [int(segment.starts[part]) for segment in self.segments]
        return self.segments[bisect_right(starts, row) - 1]

    def depth_of(self, reference: int) -> int:
        """Return the depth at which a state was found."""
        return self.segment_of(reference).depth

    def depths_of(self, references: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the depths at which states were found."""
        starts = np.array([segment.starts for segment in self.segments])
        depths = np.array([segment.depth for segment in self.segments])
        found = np.empty(len(references), dtype=np.int64)
        for part in range(PARTITIONS):
            own = references % PARTITIONS == part
            rows = references[own] >> PARTITION_BITS
            found[own] = depths[np.searchsorted(starts[:, part], rows, side="right") - 1]
        return found

    @property
    def transition_count(self) -> int:
        """Number of steps made."""
        return int(self.transitions[0])

    def first_with(self, predicate: int) -> int | None:
        """Return the reference of a state of least depth in which a predicate held, or None."""
        parts = [part for part in range(PARTITIONS) if self.first_seen[part, predicate] >= 0]
        references = [int(self.first_seen[part, predicate]) << PARTITION_BITS | part for part in parts]
        return min(references, key=self.depth_of, default=None)

    def first_not_good(self) -> int | None:
        """Return the reference of a state of least depth that is not marked as good, or None if all are."""
        references = []
        for part in range(PARTITIONS):
            rows = np.flatnonzero(self._good[part][: self.places[part, visited.COUNT]] == 0)
            if len(rows):
                references.append(int(rows[0]) << PARTITION_BITS | part)
        return min(references, key=self.depth_of, default=None)

    def rows(self, part: int, first: int = 0) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """Return the words and parents of a partition from row ``first`` on."""
        last = int(self.places[part, visited.COUNT])
        return self._states[part][first:last], self._parents[part][first:last]

    def words(self, part: int) -> NDArray[np.uint64]:
        """Return the words of the states of a partition (checker/kernel/components.py)."""
        return self._states[part][: self.places[part, visited.COUNT]]

    def packed(self, part: int, rows: slice) -> NDArray[np.uint64]:
        """Return the packed states of some rows of a partition, one row each."""
        return self.components.decode(self.words(part)[rows])
