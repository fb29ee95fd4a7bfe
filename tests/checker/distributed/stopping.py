"""Runs that end before they are done, and those that go on in the same folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import z3

from proofka.checker import exploration
from proofka.checker.budget import Budget, Meter
from proofka.checker.distributed.exploration import DistributedExploration
from proofka.checker.distributed.plan import Plan
from proofka.checker.distributed.running import Interrupted, OneByOne, Runner, ShouldStop
from proofka.checker.distributed.work_folder import ExplorationFolder
from proofka.checker.exploration import Question
from proofka.checker.kernel.native import compile_kernel
from proofka.model.faults import Fault
from proofka.model.language import TransitionSystem
from proofka.properties.superstep import Superstep
from tests.checker.distributed.both import owned_by, resets
from tests.checker.distributed.dying import Do
from tests.checker.test_exploration import LOST, NEVER, SLOW


class Killed(BaseException):
    """The end of the process."""


@dataclass
class Ending:
    """A runner that executes ``left`` tasks, and then is asked to stop, or is killed."""

    left: int
    error: type[BaseException] = Interrupted
    parallelism: int = 1
    jobs: int = 0
    begins: list[int] = field(default_factory=list)
    """Number of completed tasks at the beginning of each job."""
    done: int = 0

    def run(self, do: Do, plan: Plan, tasks: Sequence[Any], should_stop: ShouldStop) -> list[Any]:
        self.begins.append(self.done)
        outcomes = []
        for task in tasks:
            if self.done == self.left:
                raise self.error
            outcomes.append(do(plan, task))
            self.done += 1
        return outcomes


@dataclass
class Asked:
    """A question, and what to explore of it."""

    system: TransitionSystem
    question: Question
    at_most: Mapping[Fault, int]
    total: int
    partitions: int = 3
    owners: tuple[str, ...] | None = None
    counted: bool = False
    noted: list[Superstep] = field(default_factory=list)
    """The supersteps that were noted, whichever run did."""

    def explore(
        self,
        folder: Path,
        runner: Runner | None = None,
        budget: Budget | None = None,
        most_bytes: int | None = None,
    ) -> DistributedExploration:
        """Explore until everything is, or something stops it."""
        with owned_by(*self.owners) if self.owners is not None else nullcontext():
            found = DistributedExploration(
                self.system,
                self.question,
                self.at_most,
                Meter(budget or Budget(), timed=False),
                counted=self.counted,
                runner=runner or OneByOne(),
                folder=ExplorationFolder(folder),
                partitions=self.partitions,
                most_bytes=most_bytes,
                on_superstep=self.noted.append,
            )
        while len(found.layers) <= self.total and not (found.layers and found.layers[-1].stopped):
            found.explore_layer()
        return found

    def all_noted(self) -> list[Superstep]:
        """Return the new states of the supersteps that were noted since the last time."""
        others: dict[str, Any] = dict.fromkeys(("number", "states", "bytes", "depth", "peak"), 0)
        times: dict[str, Any] = dict.fromkeys(("seconds", "busy", "longest"), 0.0)
        found = [replace(step, **others, **times) for step in self.noted]
        self.noted.clear()
        return found


@contextmanager
def compiled_once() -> Iterator[None]:
    """Build the machine code of one system only once within the block."""
    made: list[Any] = []

    def compiled(*arguments: Any, **more: Any) -> Any:
        if not made:
            made.append(compile_kernel(*arguments, **more))
        return made[0]

    with patch.object(exploration, "compile_kernel", compiled):
        yield


def some_resets(highest: int = 3, total: int = 2, *, goal: bool = True) -> Asked:
    """Return a question with an invariant that is violated, and a goal that two faults make unreachable from some
    state."""
    system = resets(highest)
    first, second, third, faults = (variable.term for variable in system.variables)
    question = Question(
        {"never": NEVER, "apart": z3.And(first == 0, second == highest, third == highest, faults == 1)},
        ("goal", z3.And(third == highest, first == highest, faults < 2)) if goal else None,
        {"seen": faults == 2},
    )
    return Asked(system, question, {SLOW: 2, LOST: 1}, total, owners=("counter0", "counter1"))
