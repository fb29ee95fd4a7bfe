"""Breadth-first search of one combination of faults, and whether all of it can get back to a goal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from checker.combinations import without_one
from checker.kernel import backward, search, table
from checker.kernel.layout import Words
from checker.kernel.native import Kernel
from checker.kernel.table import PARTITIONS
from checker.shard import Shard

if TYPE_CHECKING:
    from checker.exploration import Exploration

ROWS_BETWEEN_CHECKS = 1 << 16
BOX_BYTES = 1 << 17
"""The size of one box of successors: what is expanded between two looks at the table stays in the cache."""

PARALLEL_ROWS = 4096
"""Levels with fewer rows are searched by one thread: sharing them out would cost more than it gives."""


MOST_FILLED = 0.85
"""How full the fullest box is expected to get: a piece that fills one too soon makes others work in vain."""

APART = 16
"""Counters left unused between those of two threads, so that they never share a line of the cache."""


@dataclass(frozen=True)
class Source:
    """Rows that are expanded into a shard: of which shard, and by which of the kernel's functions."""

    shard: Shard
    function: str


def sources_of(exploration: Exploration, shard: Shard) -> list[Source]:
    """Where a shard's states come from: its own steps, and the faults that lead into it from smaller ones."""
    parts = [
        Source(exploration.shards[part], exploration.kinds[kind].value) for kind, part in without_one(shard.combination)
    ]
    return [*(Source(shard, function) for function in exploration.own_functions), *parts]


class Search:
    """Breadth-first search of one shard: its own frontier, and the faults that lead into it from smaller ones.

    With a ``crew`` it is the only search that runs, and its larger levels are shared out among ``threads`` threads.
    """

    def __init__(
        self,
        exploration: Exploration,
        shard: Shard,
        parts: Sequence[Shard],
        crew: ThreadPoolExecutor | None = None,
        threads: int = 1,
    ) -> None:
        self.exploration = exploration
        self.shard = shard
        self.words = exploration.layout.words
        self.kernel = exploration.kernel
        self.most = self.kernel.most + 1
        self.alone = crew is not None
        self.crew = crew if threads > 1 else None
        self.threads = threads if crew is not None else 1
        self.entries = max(BOX_BYTES // ((self.words + 1) * 8), 2 * self.most)
        self.boxes = np.empty((self.threads, PARTITIONS, self.entries * (self.words + 1)), dtype=np.uint64)
        self.scratch = np.empty((self.threads, (self.most + 1) * (self.words + 1)), dtype=np.uint64)
        self.fills = np.zeros((self.threads, PARTITIONS + APART), dtype=np.int64)
        self.smaller = np.array([part.places for part in parts], dtype=np.int64).reshape(
            len(parts), PARTITIONS, table.PLACES
        )
        self.sources = sources_of(exploration, shard)
        self._rows_a_piece = PARALLEL_ROWS // 4

    def run(self, open_names: Sequence[str]) -> str | None:
        """Search until nothing is new, until everything sought was seen, or until the budget is used up.

        Returns why it stopped early, or None.
        """
        shard = self.shard
        if not shard.segments and not any(source.shard is not shard for source in self.sources):
            self._start()
        sought = self._sought(open_names)
        while True:
            if sought and shard.seen & sought == sought:
                break
            before, depth = shard.count, shard.depth_done
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
                break
            if self.alone:
                self.exploration.level_done(shard)
        shard.drop_empty_segments()
        return None

    def _start(self) -> None:
        exploration = self.exploration
        row = exploration.kernel.canonical(exploration.layout.pack(exploration.system.initial))
        self.shard.start(row, exploration.kernel.inspect(row), exploration.goal_bit)
        exploration.meter.grow(1, self.shard.measure())

    def _sought(self, open_names: Sequence[str]) -> int:
        """The bits that, once all seen, end the search; 0 where every state has to be seen."""
        question = self.exploration.question
        if self.exploration.counted or (question.goal is not None and question.goal[0] in open_names):
            return 0
        return sum(1 << bit for bit, name in enumerate(question.invariants) if name in open_names)

    def _expand(self, number: int, source: Source, begin: NDArray[np.int64], end: NDArray[np.int64]) -> str | None:
        exploration, shard = self.exploration, self.shard
        layer_size = sum(shard.combination)
        first, rows = 0, int((end - begin).sum())
        while first < rows:
            self.kernel = exploration.kernel  # better code may have come; what runs must stay alive until it returns
            known, memory = shard.count, shard.memory
            if self.crew is not None and rows - first >= PARALLEL_ROWS:
                first = self._together(number, source, begin, end, first, rows)
            else:
                last = min(rows, first + ROWS_BETWEEN_CHECKS)
                first = self._alone(number, source, begin, end, first, last)
            exploration.meter.grow(shard.count - known, shard.measure() - memory)
            if (stopped := exploration.meter.exceeded(layer_size)) is not None:
                return stopped
        return None

    def _alone(
        self, number: int, source: Source, begin: NDArray[np.int64], end: NDArray[np.int64], first: int, last: int
    ) -> int:
        """Search rows ``first..last`` of a level in this thread, and grow the shard where it has to."""
        reached, entered = search.search_rows(
            self.kernel.addresses[source.function],
            self.words,
            source.shard.places,
            begin,
            end,
            first,
            last,
            self.most,
            self.scratch[0],
            self.boxes,
            self.fills,
            self.shard.places,
            self.smaller,
            *self._entering(number),
            self.shard.transitions,
        )
        if not entered:
            self.shard.reserve(range(PARTITIONS), self.fills[0])
            self._enter(0, 1, 1, number)
        return int(reached)

    def _together(
        self, number: int, source: Source, begin: NDArray[np.int64], end: NDArray[np.int64], first: int, last: int
    ) -> int:
        """Search some rows from ``first`` on in several threads; return the row before which they stopped.

        Each expands a piece of the rows, then each enters some of the partitions. A piece that filled its boxes too
        soon ends the round, so that rows are entered in their order; the pieces after it are expanded again.
        """
        assert self.crew is not None
        function, places, threads = self.kernel.addresses[source.function], source.shard.places, self.threads
        cuts = [min(last, first + piece * self._rows_a_piece) for piece in range(threads + 1)]

        def expand(piece: int) -> int:
            first, last = cuts[piece], cuts[piece + 1]
            boxes = (self.boxes, self.fills, piece)
            return int(
                search.expand_rows(
                    function, self.words, places, begin, end, first, last, self.most, self.scratch[piece], *boxes
                )
            )

        reached = list(self.crew.map(expand, range(threads)))
        whole = next((piece for piece, row in enumerate(reached) if row < cuts[piece + 1]), threads - 1) + 1
        more = self.fills[:whole, :PARTITIONS].sum(axis=0)
        self.shard.transitions[0] += more.sum()
        # Entering a partition also marks rows of others, so all have grown before any is entered.
        if not search.have_room(self.shard.places, self.fills, whole):
            list(
                self.crew.map(lambda share: self.shard.reserve(range(share, PARTITIONS, threads), more), range(threads))
            )
        list(self.crew.map(lambda share: self._enter(share, threads, whole, number), range(threads)))
        made = self.fills[:whole, :PARTITIONS].max(axis=1) / np.maximum(np.array(reached[:whole]) - cuts[:whole], 1)
        room = MOST_FILLED * (self.entries - self.most)
        self._rows_a_piece = max(PARALLEL_ROWS // 8, int(room / max(made.max(), 1e-3)))
        return reached[whole - 1]

    def _enter(self, share: int, shares: int, pieces: int, number: int) -> None:
        """Enter what the boxes hold of some partitions, in which there is room for it."""
        search.enter_partitions(
            share,
            shares,
            pieces,
            self.words,
            self.boxes,
            self.fills,
            self.shard.places,
            self.smaller,
            *self._entering(number),
        )

    def _entering(self, number: int) -> tuple[int, int, bool, NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
        """What entering needs besides the boxes: predicates, goal, and where to note what held."""
        exploration, shard = self.exploration, self.shard
        inspect = self.kernel.addresses["inspect"]
        return inspect, exploration.goal_bit, number == 0, shard.seen_in, shard.first_seen, shard.held

    def decide_goal(self, stuck: Callable[[Shard, int], None], undecided: Callable[[], None]) -> None:
        """Backward reachability from the goal over fault-free steps; the first state that cannot reach it is stuck.

        While the question is open every state of a smaller combination reaches the goal. Where every way on ends at a
        bound, nothing can be said.
        """
        self.kernel = self.exploration.kernel
        if self._first_not_reaching() is None:
            return
        question, shard = self.exploration.question, self.shard
        first = len(question.invariants)
        limits = sum(1 << bit for bit, name in enumerate(question.observations, first) if name in question.limits)
        inspect = self.kernel.addresses["inspect"]
        backward.mark_where(inspect, self.words, shard.places, shard.counts, limits)
        reference = self._first_not_reaching()
        if reference is None:
            undecided()
        else:
            stuck(shard, reference)

    def _first_not_reaching(self) -> int | None:
        """Mark every state that reaches a marked one; the first that does not."""
        shard, levels, scratch = self.shard, self.shard.level_starts(), self.scratch[0]
        function = self.kernel.addresses["step"]
        backward.mark_along_remembered(shard.places, levels)
        while backward.mark_by_steps(function, self.words, scratch, shard.places, levels):
            backward.mark_along_remembered(shard.places, levels)
        return shard.first_not_good()


def load_loops() -> None:
    """Bring the compiled loops into memory, so that a measurement of what they do does not measure this."""
    boxes = np.empty((1, PARTITIONS, 2), dtype=np.uint64)
    fills, nothing = np.zeros((1, PARTITIONS), dtype=np.int64), np.zeros(PARTITIONS, dtype=np.int64)
    places = np.zeros((PARTITIONS, table.PLACES), dtype=np.int64)
    smaller, scratch = np.empty((0, PARTITIONS, table.PLACES), dtype=np.int64), np.empty(2, dtype=np.uint64)
    seen, first_seen, held = np.zeros(PARTITIONS, dtype=np.uint64), fills.T.copy(), fills.T.copy()
    rows = (0, 1, places, nothing, nothing, 0, 0, 1, scratch, boxes, fills)
    entering = (places, smaller, 0, -1, True, seen, first_seen, held)
    search.search_rows(*rows, *entering, np.zeros(1, dtype=np.int64))
    search.expand_rows(*rows, 0)
    search.enter_partitions(0, 1, 1, 1, boxes, fills, *entering)
    search.have_room(places, fills, 1)
    table.move_entries(scratch[:0], scratch)
    table.enter_all(boxes[0], 0, scratch)
    table.hash_of(scratch.ctypes.data, 1)


def step_label(kernel: Kernel, function: str, before: Words, after: Words) -> int:
    """The label of an action that leads from one packed state to another.

    Raises :class:`AssertionError` if there is none: then a stored parent is wrong.
    """
    for entry in kernel.successors(function, before):
        if (entry[:-1] == after).all():
            return int(entry[-1])
    raise AssertionError("a stored state is no successor of its stored parent")
