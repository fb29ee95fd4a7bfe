"""An attempt at a round of marking that was believed to be lost, and begins when others have gone on."""

from __future__ import annotations

from pathlib import Path

import z3

from proofka.checker.distributed.goal_task import GoalTask, take_goal_task
from proofka.checker.distributed.plan import Failure, Plan
from proofka.checker.distributed.running import OneByOne
from proofka.checker.exploration import Question
from tests.checker.distributed.both import assert_same, distributed, embedded
from tests.checker.test_exploration import NEVER, SLOW, counters


def test_a_late_attempt_takes_no_mark_away(tmp_path: Path) -> None:
    """Before each later round every earlier task is tried once more: it is refused, and the result is as ever."""
    system = counters(4)
    question = Question({"never": NEVER}, ("goal", z3.And(*(v.term == v.high for v in system.variables))), {})
    done: list[tuple[Plan, GoalTask]] = []
    refused: list[Failure] = []

    class Late(OneByOne):
        """Tries old tasks again before new ones."""

        def run(self, do, plan, tasks, should_stop):  # type: ignore[no-untyped-def]
            if do is take_goal_task:
                for earlier_plan, earlier in done:
                    outcome = take_goal_task(earlier_plan, earlier)
                    if isinstance(outcome, Failure):
                        refused.append(outcome)
                done.extend((plan, task) for task in tasks)
            return super().run(do, plan, tasks, should_stop)

    found = distributed(tmp_path, system, question, {SLOW: 1}, 1, partitions=3, runner=Late())
    assert_same(found, embedded(system, question, {SLOW: 1}, 1))
    assert any("after a later one" in (failure.error or "") for failure in refused)
