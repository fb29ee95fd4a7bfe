"""Exploration in this process: small fault combinations side by side, large ones by all threads together."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from operator import mul

import numpy as np

from proofka.checker.breadth_first import Search, sources_of
from proofka.checker.budget import ALWAYS_COVERED
from proofka.checker.checkpoint import Checkpoint
from proofka.checker.combinations import Combination, smaller
from proofka.checker.exploration import Exploration, LayerReport, OnProgress, Violation
from proofka.checker.kernel import backward, visited
from proofka.checker.kernel.components import Components
from proofka.checker.kernel.layout import Words
from proofka.checker.kernel.native import optimise
from proofka.checker.kernel.visited import PARTITIONS
from proofka.checker.search_threads import search_threads
from proofka.checker.shard import INITIAL_STATE, Shard, TooManyStates
from proofka.model.faults import OF_APPLICATIONS

LARGE = 100_000
"""Expected states from which all threads share the levels of a fault combination. Smaller combinations are explored
side by side."""
MOST_ALIKE = 2_000
"""Largest number of further violations from which some are chosen."""
OPTIMISE_AFTER = 10_000
"""States of the earlier layers from which better machine code is likely to pay for the next layer."""


@dataclass
class EmbeddedExploration(Exploration[Shard]):
    """An exploration in the memory and the threads of this process.

    With a ``checkpoint``, snapshots are written under ``number``, and states saved there by an earlier run are not
    explored again. ``keeps_steps``: keep for each state a step toward the goal, which makes ranks cheap, for 5 bytes.
    With ``covers``, states that a stored state covers are left out, which keeps violations and the lengths of shortest
    runs (checker/kernel/covering.py); a goal, which excluded steps can put out of reach, needs all states.
    """

    checkpoint: Checkpoint | None = None
    number: int = 0
    keeps_steps: bool = False
    covers: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.covers and (self.counted or self.question.goal is not None or self.checkpoint is not None):
            raise ValueError("counts, goals and snapshots need all states")
        self._on_progress: OnProgress | None = None
        self.components = Components(self.layout.halves)
        if self.checkpoint is not None:
            self.checkpoint.restore_components(self.number, self.components)

    @property
    def state_bytes(self) -> int:
        """Bytes that name a state: one word (checker/kernel/components.py)."""
        return 8

    @property
    def shared_bytes(self) -> int:
        """Bytes of the dictionaries that decode the words of states."""
        return self.components.bytes

    def explore_layer(self, on_progress: OnProgress | None = None) -> LayerReport:
        """Explore the next layer, and make better machine code meanwhile if that is likely to pay."""
        self._on_progress = on_progress
        self.meter.allot()
        optimiser = self._optimiser()
        if optimiser is not None:
            optimiser.start()
        try:
            return super().explore_layer(on_progress)
        finally:
            if optimiser is not None:
                optimiser.join()
            self._save()

    def _explore_all(
        self, combinations: Sequence[Combination], report: LayerReport, on_progress: OnProgress | None
    ) -> None:
        ready = [combination for combination in combinations if self._parts_complete(combination)]
        # If everything will be explored, the largest combinations go first, so that no thread ends alone with a large
        # one.
        largest_first = report.size <= ALWAYS_COVERED
        ready.sort(key=lambda combination: (self._expected_cost(combination), combination), reverse=largest_first)
        alone = [combination for combination in ready if len(ready) == 1 or self._expected_cost(combination) >= LARGE]
        beside = [combination for combination in ready if combination not in alone]
        if largest_first:
            beside = self._soon_first(beside)
        with search_threads(self.threads) as pool:
            try:
                for combination in alone:
                    self._finished(report, self._explore(combination, pool))
                    if on_progress is not None:
                        on_progress(combination)
                waiting = {pool.submit(self._explore, combination) for combination in beside}
                while waiting:
                    done, waiting = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
                    for future in done:
                        self._finished(report, future.result())
                    if self.checkpoint is not None and self.checkpoint.due:
                        self._save()
                    if on_progress is not None:
                        on_progress(beside[min(len(beside) - len(waiting), len(beside) - 1)])
            except KeyboardInterrupt:
                self.meter.interrupt()
                report.stopped = "interrupted"

    def _soon_first(self, combinations: Sequence[Combination]) -> list[Combination]:
        """Order combinations so that each thread begins with a small one, because then a first violation is known soon.

        States tend to be few if brokers keep running, and if a fault has few actions.
        """
        of_brokers = [kind not in OF_APPLICATIONS for kind in self.kinds]
        actions = [sum(action.fault is kind for action in self.system.actions) for kind in self.kinds]

        def expected(combination: Combination) -> tuple[int, int]:
            return sum(map(mul, combination, of_brokers)), sum(map(mul, combination, actions))

        smallest = sorted(combinations, key=expected)[: self.threads]
        return [*smallest, *(one for one in combinations if one not in smallest)]

    def _explore(self, combination: Combination, crew: ThreadPoolExecutor | None = None) -> str | None:
        """Explore one combination; return None if it was explored completely, else the reason."""
        size = sum(combination)
        if (stopped := self.meter.exceeded(size)) is not None:
            return stopped
        open_names = self.open_questions(combination)
        shard = Shard(
            combination,
            self.components,
            len(self._predicates),
            has_goal=self.goal_bit >= 0,
            counted=self.counted,
            covers=self.covers and self.monitors is not None and len(self.monitors.initial) > 0,
        )
        if self.checkpoint is not None and self.checkpoint.restore(self.number, shard):
            self._resume(shard, crew)
        parts = [self.shards[part] for part in smaller(combination) if part in self.shards]
        search_over = Search(self, shard, parts, crew, self.threads)
        try:
            stopped = None if shard.complete else search_over.run(open_names)
        except TooManyStates:
            stopped = "states"
        finally:
            self.keep(shard)
        shard.complete = stopped is None
        self._record_violations(shard, open_names)
        if stopped is None and self.question.goal is not None and self.question.goal[0] in open_names:
            search_over.decide_goal(self._record_stuck, self._record_undecided)
        if shard.complete and not self.keeps_steps:
            self.meter.grow(0, -shard.release_goal_marks())
        return stopped

    def _resume(self, shard: Shard, crew: ThreadPoolExecutor | None) -> None:
        """Count the states of a snapshot, mark the states in which the goal holds, and remember the steps that are
        kept.
        """
        self.meter.grow(shard.count, shard.measure())
        if self.goal_bit >= 0:
            kernel = self.kernel  # better code can arrive; running code must stay alive until it returns
            inspect = kernel.addresses["inspect"]
            dictionaries, scratch = self.components.dictionaries, np.empty(self.layout.words, dtype=np.uint64)
            goal, counts = 1 << self.goal_bit, shard.counts
            backward.mark_where(inspect, dictionaries, scratch, shard.places, counts, goal, visited.GOAL_HOLDS)
            if self.keeps_steps:
                self._remember_steps(shard, crew)

    def _remember_steps(self, shard: Shard, crew: ThreadPoolExecutor | None) -> None:
        """Remember the steps of all expanded states of a snapshot: ranks then equal those of a run without a stop."""
        kernel, expanded = self.kernel, shard.level(shard.depth_done)[0]
        size = (kernel.most + 2) * (self.layout.words + 1)

        def remember(part: int) -> None:
            step, scratch = kernel.addresses["step"], np.empty(size, dtype=np.uint64)
            dictionaries = self.components.dictionaries
            backward.remember_steps(
                step, self.layout.words, dictionaries, scratch, shard.places, part, int(expanded[part])
            )

        each = map if crew is None else crew.map
        list(each(remember, range(PARTITIONS)))

    def level_done(self, shard: Shard) -> None:
        """Report a complete level of a shard that is explored alone, and write a snapshot if one is due."""
        if self._on_progress is not None:
            self._on_progress(shard.combination)
        if self.checkpoint is not None and self.checkpoint.due:
            self._save(shard)

    def _save(self, *more: Shard) -> None:
        """Write a snapshot of every complete shard and of these shards."""
        if self.checkpoint is not None:
            whole = [shard for shard in self.shards.values() if shard.complete]
            self.checkpoint.save(self.number, self.components, [*whole, *more])

    def _optimiser(self) -> threading.Thread | None:
        """Return a thread that makes better machine code, if the next layer is likely to gain from it.

        The thread must not outlive the layer. Python can collect garbage in any thread, and the solver's terms must not
        be released in one thread while another thread is inside the solver.
        """
        if self.optimised or self.monitors is not None or self.states < OPTIMISE_AFTER:
            return None
        self.optimised = True
        return threading.Thread(target=self._optimise)

    def _optimise(self) -> None:
        self.kernel = optimise(self.kernel)

    def alike(self, violation: Violation, most: int) -> list[Violation]:
        """Return further states, at the depth of a violation or deeper, that violate the same property with the same
        faults.
        """
        if violation.name not in self.question.invariants:
            return [violation]
        shard, bit = self.shards[violation.combination], 1 << list(self.question.invariants).index(violation.name)
        found = np.empty(MOST_ALIKE, dtype=np.int64)
        inspect, dictionaries = self.kernel.addresses["inspect"], self.components.dictionaries
        scratch = np.empty(self.layout.words, dtype=np.uint64)
        firsts, _ = shard.level(violation.depth)
        count = backward.find_where(inspect, dictionaries, scratch, shard.places, firsts, shard.counts, bit, found)
        depths = shard.depths_of(found[:count])
        ordered = np.lexsort((found[:count], depths))
        alike = [
            Violation(violation.name, violation.combination, int(found[place]), int(depths[place])) for place in ordered
        ]
        return [violation, *alike[:: max(1, len(alike) // most)]][:most]

    def _backwards(self, violation: Violation) -> Iterator[tuple[str, Words]]:
        """Yield each state from the violation back to the initial state, with the function that made it."""
        shard, reference = self.shards[violation.combination], violation.reference
        while True:
            source = sources_of(self, shard)[shard.segment_of(reference).source]
            yield source.function, shard.state(reference)
            reference = shard.parent(reference)
            if reference == INITIAL_STATE:
                return
            shard = source.shard
