"""Backward reachability over all partitions: which combinations reach a state that cannot get back to the goal.

Reference: the rounds are a chaotic iteration of a monotone operator (Cousot and Cousot, *Automatic Synthesis of Optimal
Invariant Assertions*, 1977): marks are only added, and when no answer adds one, it is the least fixpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from checker.combinations import Combination
from checker.distributed.goal_task import GoalOrder, GoalReport, GoalTask, take_goal_task
from checker.distributed.plan import Failure, Plan
from checker.distributed.running import DistributedError
from checker.distributed.spread import ROW_BITS

Carry = Callable[
    [Callable[[Plan, GoalTask], list[GoalReport] | Failure], Sequence[GoalTask]], list[list[GoalReport] | Failure]
]
"""Carries out a function on tasks."""
Smaller = Mapping[Combination, tuple[Combination, ...]]


@dataclass(frozen=True)
class NotReaching:
    """The first state of least depth that is not marked: its reference, and its depth."""

    reference: int
    depth: int


class Marking:
    """Rounds of marking for some combinations, each with those smaller ones whose states all reach the goal."""

    def __init__(self, plan: Plan, smaller: Smaller, carry: Carry, next_superstep: Callable[[], int]) -> None:
        self.plan = plan
        self.smaller = smaller
        self.carry = carry
        self.next_superstep = next_superstep

    def not_reaching(
        self, combinations: Sequence[Combination], bits: int, *, anew: bool
    ) -> dict[Combination, NotReaching]:
        """Mark every state from which one with a predicate in ``bits`` is reached; where some state is left, the first.

        With ``anew`` marks of before are taken away first.
        """
        asked = self._half(combinations, True, {}, bits, anew)
        open_ones = [one for one in combinations if any(report.left for report in asked[one])]
        left = {one: asked[one] for one in open_ones}
        while open_ones:
            answers = self._half(open_ones, False, asked, 0, False)
            open_ones = [one for one in open_ones if any(sum(report.sent) for report in answers[one])]
            if open_ones:
                asked = self._half(open_ones, True, answers, 0, False)
                left |= {one: asked[one] for one in open_ones}
                open_ones = [one for one in open_ones if any(report.left for report in asked[one])]
        found = {one: _first(reports) for one, reports in left.items()}
        return {one: first for one, first in found.items() if first is not None}

    def _half(
        self,
        combinations: Sequence[Combination],
        asks: bool,
        before: Mapping[Combination, Sequence[GoalReport]],
        bits: int,
        anew: bool,
    ) -> dict[Combination, list[GoalReport]]:
        superstep = self.next_superstep()

        def order(one: Combination, partition: int) -> GoalOrder:
            sent = ((report.partition, report.sent[partition]) for report in before.get(one, ()))
            inbox = tuple((sender, count) for sender, count in sent if count)
            return GoalOrder(one, self.smaller[one], asks, inbox, bits, anew)

        tasks = [
            GoalTask(partition, superstep, tuple(order(one, partition) for one in combinations))
            for partition in range(self.plan.partitions)
        ]
        found: dict[Combination, list[GoalReport]] = {one: [] for one in combinations}
        for outcome in self.carry(take_goal_task, tasks):
            if isinstance(outcome, Failure):
                raise DistributedError(outcome.error)
            for report in outcome:
                found[report.combination].append(report)
        return found


def _first(reports: Sequence[GoalReport]) -> NotReaching | None:
    found = [(*report.first, report.partition) for report in reports if report.first is not None]
    if not found:
        return None
    depth, row, partition = min(found, key=lambda one: (one[0], one[2]))
    return NotReaching(partition << ROW_BITS | row, depth)
