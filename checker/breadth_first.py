"""Breadth-first search of one combination of faults, and whether all of it can get back to a goal."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from checker.combinations import without_one
from checker.kernel import search
from checker.kernel.native import Kernel
from checker.shard import Shard, addresses

if TYPE_CHECKING:
    from checker.exploration import Exploration

ROWS_BETWEEN_CHECKS = 1 << 16
BATCH = 256
"""Successors made before they are looked up together."""


class Search:
    """Breadth-first search of one shard: its own frontier, and the faults that lead into it from smaller ones."""

    def __init__(self, exploration: Exploration, shard: Shard, parts: Sequence[Shard]) -> None:
        self.exploration = exploration
        self.shard = shard
        kernel = exploration.kernel
        self.most = max(kernel.most_successors.values(), default=1) + 1
        self.batch = self.most + BATCH
        self.buffer = np.empty(self.batch * (exploration.layout.words + 1), dtype=np.uint64)
        self.smaller = addresses(parts)
        self.sources = [
            (exploration.shards[part], exploration.kinds[kind].value, kind + 1)
            for kind, part in without_one(shard.combination)
        ]

    def run(self, open_names: Sequence[str]) -> str | None:
        exploration, shard = self.exploration, self.shard
        if not self.sources:
            row = exploration.layout.pack(exploration.system.initial)
            bits = _inspect(exploration.kernel, row)
            shard.start(row, bits, exploration.goal_bit)
            exploration.meter.grow(1, shard.memory)
        sought = self._sought(open_names)
        depth = 0
        while True:
            if sought and shard.seen & sought == sought:
                return None
            if shard.levels[-1] == shard.count and all(depth >= len(source.levels) for source, _, _ in self.sources):
                shard.levels.pop()
                return None
            frontier = shard.level(depth)
            depth += 1
            shard.levels.append(shard.count)
            stopped = self._expand(shard, "step", 0, *frontier)
            for source, function, tag in self.sources:
                stopped = stopped or self._expand(source, function, tag, *source.level(depth - 1))
            if stopped is not None:
                return stopped

    def _sought(self, open_names: Sequence[str]) -> int:
        """The bits that, once all seen, end the search; 0 where a goal has to be decided on every state."""
        goal = self.exploration.question.goal
        if goal is not None and goal[0] in open_names:
            return 0
        return sum(1 << bit for bit, name in enumerate(self.exploration.question.invariants) if name in open_names)

    def _expand(self, source: Shard, function: str, tag: int, first: int, last: int) -> str | None:
        exploration, shard = self.exploration, self.shard
        layer_size = sum(shard.combination)
        while first < last:
            known, memory = shard.count, shard.memory
            shard.reserve(self.batch)
            kernel = exploration.kernel
            first = search.expand_range(
                kernel.addresses[function],
                kernel.addresses["inspect"],
                source.states.ctypes.data,
                first,
                min(last, first + ROWS_BETWEEN_CHECKS),
                tag,
                shard.states,
                shard.parents,
                shard.good,
                shard.leads_to,
                shard.table,
                shard.tags,
                self.buffer,
                self.smaller,
                self.most,
                exploration.goal_bit,
                shard.tally,
                shard.first_seen,
            )
            exploration.meter.grow(shard.count - known, shard.memory - memory)
            if (stopped := exploration.meter.exceeded(layer_size)) is not None:
                return stopped
        return None

    def decide_goal(self, stuck: Callable[[Shard, int], None], undecided: Callable[[], None]) -> None:
        """Backward reachability from the goal over fault-free steps; the first state that cannot reach it is stuck.

        While the question is open every state of a smaller combination reaches the goal. Where every way on ends at a
        bound, nothing can be said.
        """
        if self._all_reach():
            return
        question, shard = self.exploration.question, self.shard
        first = len(question.invariants)
        limits = sum(1 << bit for bit, name in enumerate(question.observations, first) if name in question.limits)
        inspect = self.exploration.kernel.addresses["inspect"]
        search.mark_where(inspect, shard.states, shard.count, limits, shard.good)
        if self._all_reach():
            undecided()
        else:
            stuck(shard, int(np.flatnonzero(shard.good[: shard.count] == 0)[0]))

    def _all_reach(self) -> bool:
        """Mark every state that reaches a marked one; whether that is all of them."""
        shard, kernel = self.shard, self.exploration.kernel
        search.mark_backward(shard.leads_to, shard.count, shard.good)
        while search.sweep_backward(
            kernel.addresses["step"],
            shard.states,
            shard.count,
            shard.good,
            shard.table,
            shard.tags,
            self.buffer,
        ):
            search.mark_backward(shard.leads_to, shard.count, shard.good)
        return bool(shard.good[: shard.count].all())


def _inspect(kernel: Kernel, row: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> int:
    """The predicates of one packed state, as bits."""
    pointer = row.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64))
    return int(kernel.inspect_function()(pointer))
