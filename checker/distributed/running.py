"""Runners: execution of the tasks of a superstep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from proofka.checker.distributed.plan import Plan
from proofka.model.input.input_error import InputError

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")
ShouldStop = Callable[[], bool]


class DistributedError(InputError):
    """A superstep failed; the message gives the reason. Completed supersteps are kept."""


class Interrupted(Exception):
    """The user asked to stop during a superstep, which is given up."""


class Runner(Protocol):
    """A runner executes each task at least once, at any place."""

    @property
    def parallelism(self) -> int:
        """Number of tasks that run at a time."""

    def run(
        self, do: Callable[[Plan, Task], Outcome], plan: Plan, tasks: Sequence[Task], should_stop: ShouldStop
    ) -> list[Outcome]:
        """Return the outcome of each task, in order. Raise :class:`Interrupted` and :class:`DistributedError`."""


@dataclass(frozen=True)
class OneByOne:
    """A runner in this process that executes tasks one after the other, without a cluster."""

    parallelism: int = 1

    def run(
        self, do: Callable[[Plan, Task], Outcome], plan: Plan, tasks: Sequence[Task], should_stop: ShouldStop
    ) -> list[Outcome]:
        """Execute the tasks in order."""
        outcomes: list[Outcome] = []
        for task in tasks:
            if should_stop():
                raise Interrupted
            outcomes.append(do(plan, task))
        return outcomes
