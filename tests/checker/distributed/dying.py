"""Attempts at a task that die somewhere, and who carries out tasks although they do."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from proofka.checker.distributed.plan import Plan
from proofka.checker.distributed.running import ShouldStop
from tests.checker.small_disk import in_a_child

Do = Callable[[Plan, Any], Any]
WHERE = str(Path("checker", "distributed"))


class Died(Exception):
    """Something that no task expects."""


@dataclass
class Counting:
    """Counts what the functions of the distributed search call and return from, and does something at one moment."""

    moment: int
    at_the_moment: Callable[[], object]
    passed: int = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if WHERE in frame.f_code.co_filename:
            self.passed += 1
            if self.passed == self.moment:
                self.at_the_moment()


def counted(do: Do, plan: Plan, task: Any, moment: int = -1, then: Callable[[], object] = lambda: None) -> Any:
    """Do a task, and how many moments it took."""
    counting = Counting(moment, then)
    sys.setprofile(counting)
    try:
        outcome = do(plan, task)
    finally:
        sys.setprofile(None)
    return outcome, counting.passed


def killed(do: Do, plan: Plan, task: Any, moment: int) -> bool:
    """Tell whether an attempt in a process of its own was killed at that moment."""

    def attempt() -> int:
        counted(do, plan, task, moment, lambda: os.kill(os.getpid(), signal.SIGKILL))
        return 0

    status = in_a_child(attempt)
    assert status in (0, -signal.SIGKILL), status
    return status != 0


def raised(do: Do, plan: Plan, task: Any, moment: int) -> bool:
    """Tell whether an attempt in this process failed at that moment."""

    def fail() -> None:
        raise Died

    try:
        counted(do, plan, task, moment, fail)
    except Died:
        return True
    return False


@dataclass
class Dying:
    """A runner that executes tasks in any order, each by attempts of which only the last surely survives."""

    chance: random.Random
    often: float = 0.4
    parallelism: int = 1
    killed: int = 0
    raised: int = 0
    lost: int = 0
    moments: int = 300
    """Moments in the last completed task, about as many as in the next."""

    def run(self, do: Do, plan: Plan, tasks: Sequence[Any], should_stop: ShouldStop) -> list[Any]:
        outcomes = {}
        for number in self.chance.sample(range(len(tasks)), len(tasks)):
            task = tasks[number]
            while self.chance.random() < self.often:
                moment = self.chance.randint(1, self.moments + self.moments // 8)
                how = self.chance.choice(["killed", "raised", "lost"])
                if how == "killed":
                    self.killed += killed(do, plan, task, moment)
                elif how == "raised":
                    self.raised += raised(do, plan, task, moment)
                else:
                    do(plan, task)
                    self.lost += 1
            outcomes[number], self.moments = counted(do, plan, task)
        return [outcomes[number] for number in range(len(tasks))]


@dataclass
class Recording:
    """A runner that keeps its tasks, and calls a function before each task and at each outcome."""

    parallelism: int = 1
    before: Callable[[Do, Plan, Any], object] = lambda do, plan, task: None
    after: Callable[[Do, Plan, Any, Any], object] = lambda do, plan, task, outcome: None
    tasks: list[tuple[Do, Plan, Any]] = field(default_factory=list)

    def run(self, do: Do, plan: Plan, tasks: Sequence[Any], should_stop: ShouldStop) -> list[Any]:
        outcomes = []
        for task in tasks:
            self.before(do, plan, task)
            self.tasks.append((do, plan, task))
            outcomes.append(do(plan, task))
            self.after(do, plan, task, outcomes[-1])
        return outcomes
