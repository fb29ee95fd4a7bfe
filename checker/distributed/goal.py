"""Backward reachability over all partitions: the combinations with a state that cannot reach the goal.

Reference: the rounds are a chaotic iteration of a monotone operator (Cousot and Cousot, *Automatic Synthesis of Optimal
Invariant Assertions*, 1977). Marks are only added, and when no answer adds a mark, the marks are the least fixed point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from proofka.checker.combinations import Combination
from proofka.checker.distributed.goal_task import GoalOrder, GoalReport, GoalTask, Letter, take_goal_task
from proofka.checker.distributed.plan import Failure, Plan
from proofka.checker.distributed.running import DistributedError
from proofka.checker.distributed.spread import ROW_BITS

Carry = Callable[
    [Callable[[Plan, GoalTask], list[GoalReport] | Failure], Sequence[GoalTask]], list[list[GoalReport] | Failure]
]
"""A function that executes another function on tasks."""
Smaller = Mapping[Combination, tuple[Combination, ...]]


@dataclass(frozen=True)
class NotReaching:
    """The first state of least depth without a mark: its reference, and its depth."""

    reference: int
    depth: int


@dataclass
class _Asking:
    """Progress of the rounds of one combination: the last questions of each partition, and the superstep of each."""

    asked: dict[int, tuple[int, GoalReport]]
    answers: dict[int, list[Letter]]
    changed: set[int]

    def questions(self, partition: int) -> tuple[Letter, ...]:
        """Return the unanswered questions to a partition. A question stays until an answer changes it."""
        sent = ((asker, at, report.sent[partition]) for asker, (at, report) in sorted(self.asked.items()))
        return tuple((asker, at, count) for asker, at, count in sent if count)


class Marking:
    """Rounds of marking for some combinations, each with its smaller combinations, whose states all reach the goal."""

    def __init__(self, plan: Plan, smaller: Smaller, carry: Carry, next_superstep: Callable[[], int]) -> None:
        self.plan = plan
        self.smaller = smaller
        self.carry = carry
        self.next_superstep = next_superstep

    def not_reaching(
        self, combinations: Sequence[Combination], bits: int, *, anew: bool
    ) -> dict[Combination, NotReaching]:
        """Mark every state that reaches a state with a predicate in ``bits``; return the first unmarked state of each
        combination.

        With ``anew``, earlier marks are removed first.
        """
        everybody = range(self.plan.partitions)
        orders = {
            (one, p): GoalOrder(one, self.smaller[one], True, (), bits, anew) for one in combinations for p in everybody
        }
        rounds = {one: _Asking({}, {}, set()) for one in combinations}
        while orders:
            at, reports = self._half(orders)
            for report in reports:
                asking = rounds[report.combination]
                asking.asked[report.partition] = at, report
                asking.changed.add(report.partition)
            orders = {
                (one, partition): GoalOrder(one, self.smaller[one], False, questions, 0, False)
                for one, asking in rounds.items()
                for partition in everybody
                if (questions := asking.questions(partition))
                and (partition in asking.changed or asking.changed.intersection(asker for asker, _, _ in questions))
            }
            for asking in rounds.values():
                asking.changed.clear()
            if not orders:
                break
            at, reports = self._half(orders)
            answers: dict[tuple[Combination, int], list[Letter]] = {}
            for report in reports:
                for asker, count in enumerate(report.sent):
                    if count:
                        answers.setdefault((report.combination, asker), []).append((report.partition, at, count))
            orders = {
                (one, asker): GoalOrder(one, self.smaller[one], True, tuple(letters), 0, False)
                for (one, asker), letters in answers.items()
            }
        found = {one: _first([report for _, report in asking.asked.values()]) for one, asking in rounds.items()}
        return {one: first for one, first in found.items() if first is not None}

    def _half(self, orders: Mapping[tuple[Combination, int], GoalOrder]) -> tuple[int, list[GoalReport]]:
        """Execute orders, by combination and partition; return the superstep and the reports."""
        superstep = self.next_superstep()
        by_partition: dict[int, list[GoalOrder]] = {}
        for (_, partition), order in orders.items():
            by_partition.setdefault(partition, []).append(order)
        tasks = [GoalTask(partition, superstep, tuple(mine)) for partition, mine in sorted(by_partition.items())]
        reports: list[GoalReport] = []
        for outcome in self.carry(take_goal_task, tasks):
            if isinstance(outcome, Failure):
                raise DistributedError(outcome.error)
            reports += outcome
        return superstep, reports


def _first(reports: Sequence[GoalReport]) -> NotReaching | None:
    found = [(*report.first, report.partition) for report in reports if report.first is not None]
    if not found:
        return None
    depth, row, partition = min(found, key=lambda one: (one[0], one[2]))
    return NotReaching(partition << ROW_BITS | row, depth)
