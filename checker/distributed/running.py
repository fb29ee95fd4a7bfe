"""Who carries out the tasks of a superstep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from checker.distributed.plan import Plan
from model.input_error import InputError

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")
ShouldStop = Callable[[], bool]


class DistributedError(InputError):
    """A superstep could not be carried out; the message says why. What was whole before it is kept."""


class Interrupted(Exception):
    """Somebody asked to stop while a superstep was carried out; it is given up."""


class Runner(Protocol):
    """Carries out tasks, wherever that is, each at least once."""

    @property
    def parallelism(self) -> int:
        """How many tasks run at a time."""

    def run(
        self, do: Callable[[Plan, Task], Outcome], plan: Plan, tasks: Sequence[Task], should_stop: ShouldStop
    ) -> list[Outcome]:
        """What became of each task, in their order. Raises :class:`Interrupted` and :class:`DistributedError`."""


@dataclass(frozen=True)
class OneByOne:
    """Carries out tasks in this process, one after the other: the search without what carries it."""

    parallelism: int = 1

    def run(
        self, do: Callable[[Plan, Task], Outcome], plan: Plan, tasks: Sequence[Task], should_stop: ShouldStop
    ) -> list[Outcome]:
        """Carry out the tasks in their order."""
        outcomes: list[Outcome] = []
        for task in tasks:
            if should_stop():
                raise Interrupted
            outcomes.append(do(plan, task))
        return outcomes
