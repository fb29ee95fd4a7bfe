"""Breadth-first search of one fault combination, and the decision whether all of its states can reach a goal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from proofka.checker.combinations import without_one
from proofka.checker.interruption import held_back
from proofka.checker.kernel import backward, search, visited
from proofka.checker.kernel.components import Components
from proofka.checker.kernel.gate import APART, FIRST, PENDING, ROWS, new_gate
from proofka.checker.kernel.search import Boxes, Level, Visited
from proofka.checker.kernel.table import hash_of
from proofka.checker.kernel.visited import PARTITIONS
from proofka.checker.kernel.wanted import EVERY_STATE
from proofka.checker.shard import Shard, TooManyStates

if TYPE_CHECKING:
    from proofka.checker.embedded import EmbeddedExploration

ROWS_BETWEEN_CHECKS = 1 << 16
"""Rows searched between two checks of the budget."""
BOX_BYTES = 1 << 18
"""Bytes of one box of successors. The size is large enough that a partition, once in the cache, is used for a long
time."""
PIECES = 4
"""Pieces of a round for each thread. Several pieces with smaller boxes keep the waiting times of threads short."""
PARALLEL_ROWS = 1024
"""Smallest number of rows of a level that several threads share. For smaller levels, sharing costs more than it
gains."""
AIM = 0.85
"""Planned fill of the fullest box, from 0 to 1. A piece that fills a box too soon makes the work of other pieces
useless."""


@dataclass(frozen=True)
class Source:
    """Rows that are expanded into a shard: the shard of the rows, and the name of a kernel function."""

    shard: Shard
    function: str


def sources_of(exploration: EmbeddedExploration, shard: Shard) -> list[Source]:
    """Return the sources of a shard's states: its own steps, and the faults from shards of smaller fault
    combinations.
    """
    parts = [
        Source(exploration.shards[part], exploration.kinds[kind].value) for kind, part in without_one(shard.combination)
    ]
    return [*(Source(shard, function) for function in exploration.own_functions), *parts]


class Search:
    """Breadth-first search of one shard, from its own frontier and from faults in smaller fault combinations.

    With a ``crew`` this search runs alone, and ``threads`` threads share its larger levels.
    """

    def __init__(
        self,
        exploration: EmbeddedExploration,
        shard: Shard,
        parts: Sequence[Shard],
        crew: ThreadPoolExecutor | None = None,
        threads: int = 1,
    ) -> None:
        self.exploration = exploration
        self.shard = shard
        self.words = exploration.layout.words
        self.components = exploration.components
        self.kernel = exploration.kernel
        self.most = self.kernel.most + 1
        self.alone = crew is not None
        self.crew = crew if threads > 1 else None
        self.threads = threads if crew is not None else 1
        self.rows_between_checks, self.new_at_most = self._between_checks()
        self.boxes = self._new_boxes()
        self.gate = new_gate()
        self.gate[ROWS] = PARALLEL_ROWS // 4
        self.smaller = np.array([part.places for part in parts], dtype=np.int64).reshape(
            len(parts), PARTITIONS, visited.PLACES
        )
        self.sources = sources_of(exploration, shard)

    def _between_checks(self) -> tuple[int, int]:
        """Return the rows between two budget checks, and the largest number of states that all threads can find in this
        time.

        Small dictionaries get fewer rows, so that a dictionary is nearly full before the search stops for lack of room.
        """
        at_once = max(self.exploration.threads, 1) * self.most
        rows = ROWS_BETWEEN_CHECKS
        if len(self.components.counts):
            rows = max(1, min(rows, self.components.room // (8 * at_once)))
        return rows, rows * at_once

    def _new_boxes(self) -> Boxes:
        pieces = 1 if self.threads == 1 else PIECES * self.threads
        entries = max(BOX_BYTES * self.threads // pieces // (search.ENTRY * 8), 2 * self.most)
        return Boxes(
            self.words,
            self.shard.placed_words,
            int(self.shard.places[0, visited.HASHED]),
            self.components.dictionaries,
            self.most,
            AIM,
            np.empty((pieces, PARTITIONS, entries * search.ENTRY), dtype=np.uint64),
            np.zeros((pieces, PARTITIONS + APART), dtype=np.int64),
            np.zeros(pieces, dtype=np.int64),
            np.empty((self.threads, (self.most + 1 + APART) * (self.words + 1)), dtype=np.uint64),
            np.zeros((self.threads, search.SPOTS + APART), dtype=np.int64),
        )

    def run(self, open_names: Sequence[str]) -> str | None:
        """Search until nothing is new, until all sought predicates were seen, or until a limit is reached.

        Return the reason for stopping early, or None.
        """
        shard = self.shard
        if not shard.segments and not any(source.shard is not shard for source in self.sources):
            self._start()
        sought = self.exploration.sought(open_names)
        while True:
            if sought and shard.seen & sought == sought:
                break
            before, depth = shard.count, shard.depth_done
            shard.transitions_done = shard.transition_count
            for number, source in enumerate(self.sources):
                begin, end = source.shard.level(depth)
                if (end > begin).any():
                    shard.begin_segment(depth + 1, number)
                    stopped = self._expand(number, source, begin, end)
                    if stopped is not None:
                        return stopped
            shard.depth_done = depth + 1
            others = (source.shard for source in self.sources if source.shard is not shard)
            if shard.count == before and all(depth >= other.depth for other in others):
                shard.closed = True
                break
            if self.alone:
                self.exploration.level_done(shard)
        shard.drop_empty_segments()
        return None

    def _start(self) -> None:
        exploration = self.exploration
        row = exploration.initial_row()
        self.shard.start(row, exploration.kernel.inspect(row), exploration.goal_bit)
        exploration.meter.grow(1, self.shard.measure())

    def _expand(self, number: int, source: Source, begin: NDArray[np.int64], end: NDArray[np.int64]) -> str | None:
        exploration, shard = self.exploration, self.shard
        layer_size = sum(shard.combination)
        rows, gate = int((end - begin).sum()), self.gate
        gate[FIRST] = 0
        while gate[FIRST] < rows or gate[PENDING]:
            self.kernel = exploration.kernel  # better code can arrive; running code must stay alive until it returns
            if not self.components.has_room(self.new_at_most):
                raise TooManyStates(f"more than {self.components.room:,} local states of a component")
            known, memory = shard.count, shard.memory
            wanted = exploration.wanted
            table = wanted.table_of(shard.combination)
            level = Level(self.kernel.addresses[source.function], source.shard.places, begin, end, wanted.mask, table)
            self._search(level, rows, self._visited(number))
            grown = shard.measure() - memory + self.components.grown()
            exploration.meter.grow(shard.count - known, grown)
            if (stopped := exploration.meter.exceeded(layer_size)) is not None:
                return stopped
        return None

    def _search(self, level: Level, rows: int, visited: Visited) -> None:
        """Search a part of a level, in all threads if the level is large, and grow the shard if needed."""
        first = int(self.gate[FIRST])
        threads = self.threads if rows - first >= PARALLEL_ROWS else 1
        last = min(rows, first + self.rows_between_checks)

        def on_all(work: Callable[[int], None]) -> None:
            if threads == 1 or self.crew is None:
                work(0)
            else:
                # Threads wait for each other, so an interrupt must not keep one of them from starting.
                with held_back():
                    list(self.crew.map(work, range(threads)))

        while self.gate[FIRST] < last or self.gate[PENDING]:
            on_all(lambda thread: search.search_rows(thread, threads, level, last, self.boxes, visited, self.gate))
            if pieces := int(self.gate[PENDING]):
                # Entering a partition also marks rows of other partitions, so all grow before any is entered.
                more = self.boxes.fills[:pieces, :PARTITIONS].sum(axis=0)
                self.shard.reserve(more, threads, on_all)

    def _visited(self, number: int) -> Visited:
        """Return the set that receives the successors of a source."""
        shard = self.shard
        return Visited(
            shard.places,
            self.smaller,
            self.kernel.addresses["inspect"],
            self.exploration.goal_bit,
            number == 0,
            shard.seen_in,
            shard.first_seen,
            shard.held,
            shard.transitions,
        )

    def decide_goal(self, stuck: Callable[[Shard, int], None], undecided: Callable[[], None]) -> None:
        """Search backward from the goal over fault-free steps; the first state that cannot reach the goal is stuck.

        While the question is open, every state of a smaller fault combination reaches the goal. If every continuation
        ends at a bound, the goal is undecided.
        """
        self.kernel = self.exploration.kernel
        if self._first_not_reaching() is None:
            return
        question, shard = self.exploration.question, self.shard
        first = len(question.invariants)
        limits = sum(1 << bit for bit, name in enumerate(question.observations, first) if name in question.limits)
        inspect = self.kernel.addresses["inspect"]
        scratch, dictionaries = self.boxes.scratch[0], self.components.dictionaries
        backward.mark_where(inspect, dictionaries, scratch, shard.places, shard.counts, limits, visited.GOAL_REACHED)
        reference = self._first_not_reaching()
        if reference is None:
            undecided()
        else:
            stuck(shard, reference)

    def _first_not_reaching(self) -> int | None:
        """Mark every state that reaches a marked state; return the first state that does not."""
        shard, levels, scratch = self.shard, self.shard.level_starts(), self.boxes.scratch[0]
        function = self.kernel.addresses["step"]
        backward.mark_along_remembered(shard.places, levels)
        dictionaries = self.components.dictionaries
        while backward.mark_by_steps(function, self.words, dictionaries, scratch, shard.places, levels):
            backward.mark_along_remembered(shard.places, levels)
        return shard.first_not_good()


def load_loops() -> None:
    """Load the compiled loops into memory, so that a later measurement does not include loading."""
    words, nothing = np.empty((1, 2), dtype=np.uint64), np.zeros(PARTITIONS, dtype=np.int64)
    places, counters = np.zeros((PARTITIONS, visited.PLACES), dtype=np.int64), np.zeros((PARTITIONS, 0), dtype=np.int64)
    seen, smaller = np.zeros(PARTITIONS, dtype=np.uint64), np.empty((0, PARTITIONS, visited.PLACES), dtype=np.int64)
    components = Components((1, 1))
    level = Level(0, places, nothing, nothing, EVERY_STATE, EVERY_STATE)
    sizes = 2, 2, visited.WHOLE_WORD
    boxes = Boxes(*sizes, components.dictionaries, 1, AIM, words.reshape(1, 1, 2), counters, nothing, words, counters)
    into = Visited(places, smaller, 0, -1, True, seen, counters, counters, nothing)
    search.search_rows(0, 1, level, 0, boxes, into, new_gate())
    visited.move_partition(places[0], places[0])
    visited.enter_all(0, 0, 0, 0, visited.WHOLE_WORD)
    components.decode(np.array([components.encode(np.zeros(2, dtype=np.uint64))], dtype=np.uint64))
    hash_of(words.ctypes.data, 1)
