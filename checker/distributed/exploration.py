"""Exploration by fault layers, with the states of each fault combination spread over partitions.

The combinations of one layer are searched together, in supersteps. In a superstep, every partition searches its own
states completely, and then sends the states of other owners. The search ends when no partition sends states. Counts,
levels and depths equal those of a breadth-first search (docs/scaling.md gives the reason).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from proofka.checker.certificates.archive import Member
from proofka.checker.combinations import Combination, smaller, without_one
from proofka.checker.distributed.control_plane import control_plane
from proofka.checker.distributed.goal import Marking
from proofka.checker.distributed.messages import write_messages
from proofka.checker.distributed.packing import pack_sets
from proofka.checker.distributed.plan import Failure, Order, Plan, Report, Task
from proofka.checker.distributed.region import read_row
from proofka.checker.distributed.running import DistributedError, Interrupted, Runner
from proofka.checker.distributed.spread import ROW_BITS, SpreadStates
from proofka.checker.distributed.superstep import take_superstep
from proofka.checker.distributed.work_folder import ExplorationFolder
from proofka.checker.exploration import Exploration, LayerReport, OnProgress, Violation
from proofka.checker.identity import verdict_id
from proofka.checker.kernel import closing
from proofka.checker.kernel.closing import DEPTH_SHIFT, MOST_PARTITIONS, MOST_SOURCES, SOURCE_SHIFT
from proofka.checker.kernel.layout import Words
from proofka.properties.superstep import Superstep

PARTITIONS_FOR_EACH_TASK = 4
"""Partitions for each task that runs at a time. More partitions distribute the work more evenly, and send more
states."""
OnSuperstep = Callable[[Superstep], None]


@dataclass
class DistributedExploration(Exploration[SpreadStates]):
    """An exploration whose tasks ``runner`` executes, with all lasting data in ``folder``.

    Results of an earlier run in the folder are not explored again. ``most_bytes`` limits the size of the files of
    states.
    """

    runner: Runner = field(kw_only=True)
    folder: ExplorationFolder = field(kw_only=True)
    partitions: int | None = field(default=None, kw_only=True)
    most_bytes: int | None = field(default=None, kw_only=True)
    on_superstep: OnSuperstep = field(default=lambda _: None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        functions = (*self.own_functions, *(kind.value for kind in self.kinds))
        if len(functions) > MOST_SOURCES:
            raise ValueError(f"{len(functions)} kinds of steps in one exploration; at most {MOST_SOURCES}")
        if (self.partitions or 0) > MOST_PARTITIONS:
            raise ValueError(f"{self.partitions} partitions; at most {MOST_PARTITIONS}")
        self.initial: Words = self.kernel.canonical(self.layout.pack(self.system.initial))
        asked = self._asked()
        known = self.folder.settings(asked)
        self.resumed = known is not None
        self.settings: dict[str, Any] = self._choose() if known is None else known
        if not self.resumed:
            self.folder.begin(asked, self.settings)
        self.plan = Plan(
            str(self.folder.path),
            uuid.uuid4().hex,
            self.kernel.source,
            self.kernel.most_successors,
            tuple(name for name in self.kernel.addresses if name not in self.kernel.most_successors),
            self.layout.words,
            tuple(self.settings["mask"]),
            self.settings["partitions"],
            self.own_functions,
            tuple(kind.value for kind in self.kinds),
            len(self.question.predicates),
            self.counted,
            self.goal_bit,
        )
        self.plan.take_over()
        self._superstep = 1  # handed-over states count as the result of superstep 0
        self._spread: dict[Combination, SpreadStates] = {}
        self._ranked: set[Combination] = set()

    def _asked(self) -> str:
        """Return the identity of the question, from everything that the result depends on."""
        asked = [self.question.names, list(self.question.observations), sorted(self.question.limits), self.kinds]
        bounds = [self.most, self.own_functions, self.counted, self.infer, self.layout.words]
        return verdict_id([self.kernel.source, repr(asked), repr(bounds), self.initial.tobytes()])

    def adopt(self, states: SpreadStates) -> None:
        """Add a combination that another exploration searched completely, in an earlier layer than the next one."""
        self._grew(states, None)
        self.keep(states)

    def go_on(self) -> None:
        """Read the folder, in which another exploration of the same question left its results."""
        self.resumed = True

    def _choose(self) -> dict[str, Any]:
        """Choose the number of partitions and the owners of states, once for the whole exploration."""
        usual = min(max(PARTITIONS_FOR_EACH_TASK * self.runner.parallelism, 1), MOST_PARTITIONS)
        partitions = self.partitions or usual
        faults = [kind.value for kind in self.kinds]
        plane = control_plane(self.layout, self.kernel, self.own_functions, faults, self.initial, partitions)
        return {"partitions": partitions, "mask": plane.mask, "control_plane": plane.variables}

    def _explore_all(
        self, combinations: Sequence[Combination], report: LayerReport, on_progress: OnProgress | None
    ) -> None:
        ready = [one for one in combinations if self._parts_complete(one)]
        open_names = {one: self.open_questions(one) for one in ready}
        for one in ready:
            kept = self.folder.kept(one)
            if kept is not None:
                self._grew(kept, None)
                self._spread[one] = kept
        waiting = [one for one in ready if one not in self._spread]
        if waiting:
            sought = {one: self.sought(open_names[one]) for one in waiting}
            report.stopped = self._search(waiting, sought, report.size, on_progress) or report.stopped
        for one in ready:
            states = self._spread.pop(one, None)
            if states is None:
                continue
            if states.complete:
                self.folder.keep(states)
            self.keep(states)
            self._record_violations(states, open_names[one])
            report.explored += states.complete
        goal = self.question.goal
        if goal is not None:
            self._decide_goal([one for one in ready if goal[0] in open_names[one] and self._is_complete(one)], report)

    def _is_complete(self, combination: Combination) -> bool:
        return combination in self.shards and self.shards[combination].complete

    def _decide_goal(self, combinations: Sequence[Combination], report: LayerReport) -> None:
        """Find the states that cannot reach the goal.

        They are stuck, or undecided if every continuation ends at a bound.

        While the question is open, every state of a smaller combination reaches the goal.
        """
        first = len(self.question.invariants)
        limits = sum(
            1 << bit for bit, name in enumerate(self.question.observations, first) if name in self.question.limits
        )
        marking = self._marking(combinations)
        try:
            open_ones = list(marking.not_reaching(combinations, 1 << self.goal_bit, anew=True))
            stuck = marking.not_reaching(open_ones, limits, anew=False)
        except Interrupted:
            report.explored -= len(combinations)
            report.stopped = "interrupted"
            for one in combinations:
                self.shards[one].complete = False
            return
        self._ranked |= {
            one for one in combinations if one not in open_ones and self._ranked.issuperset(self._known(one))
        }
        for one in open_ones:
            if one in stuck:
                self._record(Violation(self.question.names[-1], one, stuck[one].reference, stuck[one].depth))
            else:
                self._record_undecided()

    def _marking(self, combinations: Sequence[Combination]) -> Marking:
        known = {one: self._known(one) for one in combinations}
        return Marking(self.plan, known, self._carry, self._next_superstep)

    def packed_sets(
        self, names: Mapping[Combination, str], ranked: Collection[Combination] | None
    ) -> Mapping[Combination, Sequence[Member]]:
        """Return the sets of some combinations as members of a certificate, written by the tasks.

        Marks are ranks, except where states of smaller combinations were taken over from another engine: these
        combinations are marked again. Raise :class:`checker.distributed.running.DistributedError`.
        """
        missing = sorted((one for one in ranked or () if one not in self._ranked), key=sum)
        for _, layer in groupby(missing, key=sum):
            again = list(layer)
            if self._marking(again).not_reaching(again, 1 << self.goal_bit, anew=True):
                raise DistributedError(f"{self.plan.folder}: a state does not reach the goal")
            self._ranked.update(again)
        return pack_sets(self.plan, self._carry, self.runner.parallelism, names, ranked)

    def _carry(self, do: Callable[[Plan, Any], Any], tasks: Sequence[Any]) -> list[Any]:
        return self.runner.run(do, self.plan, tasks, lambda: self.meter.interrupted)

    def _next_superstep(self) -> int:
        self._superstep += 1
        return self._superstep - 1

    def _known(self, combination: Combination) -> tuple[Combination, ...]:
        """Return the smaller combinations that were searched."""
        return tuple(one for one in smaller(combination) if one in self.shards)

    def _search(
        self,
        group: Sequence[Combination],
        sought: Mapping[Combination, int],
        layer: int,
        on_progress: OnProgress | None,
    ) -> str | None:
        """Search combinations together, superstep by superstep; return the reason for stopping early, or None."""
        before = self._begun(group)
        for states in before.values():
            self._grew(states, None)
        self._spread |= before
        while searched := [one for one in group if one not in before or not before[one].complete]:
            if (stopped := self._exceeded(layer)) is not None:
                return stopped
            started = time.perf_counter()
            tasks = self._tasks(searched, sought, before, layer)
            try:
                outcomes = self._carry(take_superstep, tasks)
            except Interrupted:
                return "interrupted"
            if (stopped := _failure(outcomes)) is not None:
                return stopped
            reports = [report for outcome in outcomes if isinstance(outcome, list) for report in outcome]
            after = dict(before)
            for one in searched:
                earlier = {} if one not in before else {r.partition: r.idle() for r in before[one].reports}
                now = {**earlier, **{r.partition: r for r in reports if r.combination == one}}
                mine = tuple(now[partition] for partition in range(self.plan.partitions))
                after[one] = SpreadStates(one, not any(sum(r.sent) for r in mine), sought[one], mine)
                self._grew(after[one], before.get(one))
            self._spread |= after
            self.folder.note(self._superstep, after)
            self.folder.forget_messages(self._superstep)
            seconds = time.perf_counter() - started
            self.on_superstep(_summary(self._superstep, layer, reports, self.plan.words, seconds, after.values()))
            self._superstep += 1
            if on_progress is not None:
                on_progress(group[-1])
            before = after
        return None

    def _begun(self, group: Sequence[Combination]) -> dict[Combination, SpreadStates]:
        """Return the results of an earlier run that ended while searching these combinations."""
        noted = self.folder.progress() if self.resumed else None
        if noted is None:
            return {}
        superstep, found = noted
        self._superstep = max(self._superstep, superstep + 1)
        return {states.combination: states for states in found if states.combination in group}

    def _exceeded(self, layer: int) -> str | None:
        if self.most_bytes is not None and sum(states.bytes for states in self._everything()) > self.most_bytes:
            return "memory"
        return self.meter.exceeded(layer)

    def _everything(self) -> Iterator[SpreadStates]:
        yield from self.shards.values()
        yield from (states for one, states in self._spread.items() if one not in self.shards)

    @property
    def states(self) -> int:
        """Distinct states found so far."""
        return sum(states.count for states in self._everything())

    def _grew(self, states: SpreadStates, before: SpreadStates | None) -> None:
        self.meter.grow(states.count - (before.count if before is not None else 0), 0)

    def _tasks(
        self,
        group: Sequence[Combination],
        sought: Mapping[Combination, int],
        before: Mapping[Combination, SpreadStates],
        layer: int,
    ) -> list[Task]:
        left = self.meter.seconds_left(layer)
        until = None if left is None else time.time() + left
        orders = {one: self._order(one, sought[one], before.get(one)) for one in group}
        tasks = []
        for partition in range(self.plan.partitions):
            due = tuple(order for order in (make(partition) for make in orders.values()) if order is not None)
            if due:
                tasks.append(Task(partition, self._superstep, due, until, self.meter.most_states))
        return tasks

    def _order(
        self, combination: Combination, sought: int, before: SpreadStates | None
    ) -> Callable[[int], Order | None]:
        """Return a function from a partition to its order for a combination, or to None if there is nothing to do."""
        known = self._known(combination)
        parts = tuple(without_one(combination)) if before is None else ()
        start = self._send_initial_state(combination) if before is None and not parts else {}

        def order(partition: int) -> Order | None:
            reports = () if before is None else before.reports
            senders = {report.partition: report.sent[partition] for report in reports}
            inbox = tuple((sender, count) for sender, count in {**senders, **start.get(partition, {})}.items() if count)
            if before is not None and not inbox and not before.reports[partition].waiting:
                return None
            deepest = None if before is None else before.deepest
            return Order(combination, before is None, parts, known, inbox, sought, deepest)

        return order

    def _send_initial_state(self, combination: Combination) -> dict[int, dict[int, int]]:
        """Send the initial state to its owner, with a sender number behind the last partition."""
        mask = np.array(self.plan.mask, dtype=np.uint64)
        owner = int(closing.owner_of_state(self.initial, mask, self.plan.partitions))
        sender = self.plan.partitions
        starts = [0] * (owner + 1) + [1] * (self.plan.partitions - owner)
        path = self.plan.messages(self._superstep - 1, combination, sender)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_messages(path, np.append(self.initial, np.uint64(0)).reshape(1, -1), starts)
        return {owner: {sender: 1}}

    def _backwards(self, violation: Violation) -> Iterator[tuple[str, Words]]:
        """Yield each state from the violation back to the initial state, with the function that made it."""
        plan, combination, reference = self.plan, violation.combination, violation.reference
        functions = (*plan.own_functions, *plan.kinds)
        while True:
            partition, row = divmod(reference, 1 << ROW_BITS)
            state, origin = read_row(plan.place(combination, partition), plan.words, row)
            source = origin >> SOURCE_SHIFT & (MOST_SOURCES - 1)
            yield functions[source], state
            if not origin >> DEPTH_SHIFT:
                return
            kind = source - len(plan.own_functions)
            if kind >= 0:
                combination = dict(without_one(combination))[kind]
            reference = origin & ((1 << SOURCE_SHIFT) - 1)


def _failure(outcomes: Sequence[list[Report] | Failure]) -> str | None:
    """Return the limit that stopped some task, or None. Raise :class:`DistributedError` if a task failed."""
    failures = [outcome for outcome in outcomes if not isinstance(outcome, list)]
    for failure in failures:
        if failure.error is not None:
            raise DistributedError(failure.error)
    return next((failure.stopped for failure in failures), None)


def _summary(
    number: int,
    faults: int,
    reports: Sequence[Report],
    words: int,
    seconds: float,
    found: Collection[SpreadStates],
) -> Superstep:
    """Return the cost of a superstep from its reports, and the totals of ``found`` combinations."""
    busy: dict[int, float] = {}
    for report in reports:
        busy[report.partition] = busy.get(report.partition, 0.0) + report.seconds
    sent = sum(sum(report.sent) for report in reports)
    return Superstep(
        number,
        faults,
        sum(report.expanded for report in reports),
        sum(report.entered - report.replaced for report in reports),
        sum(report.replaced for report in reports),
        sent,
        sent * (words + 1) * 8,
        sum(report.states for states in found for report in states.reports),
        sum(states.bytes for states in found),
        max(states.depth for states in found),
        round(seconds, 3),
        round(sum(busy.values()), 3),
        round(max(busy.values(), default=0.0), 3),
        max((report.peak for report in reports), default=0),
    )
