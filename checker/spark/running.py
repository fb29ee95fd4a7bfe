"""The tasks of a superstep as tasks of a Spark job, one for each partition."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from checker.distributed.plan import Plan
from checker.distributed.running import DistributedError, Interrupted, ShouldStop

if TYPE_CHECKING:
    from pyspark import SparkContext

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

BETWEEN_LOOKS = 0.02
"""Seconds between two looks whether a job is done, or whether to stop."""


@dataclass(frozen=True)
class SparkRunner:
    """The executors of a Spark session. What a task works on must be where all of them reach it by the same path."""

    context: SparkContext

    @property
    def parallelism(self) -> int:
        """How many tasks run at a time."""
        return int(self.context.defaultParallelism)

    def run(
        self, do: Callable[[Plan, Task], Outcome], plan: Plan, tasks: Sequence[Task], should_stop: ShouldStop
    ) -> list[Outcome]:
        """Carry out the tasks as one job; a task whose process dies is tried again."""
        if not tasks:
            return []
        shared = self.context.broadcast(plan)
        try:
            job = self.context.parallelize(tasks, len(tasks)).map(lambda task: do(shared.value, task))
            with ThreadPoolExecutor(1) as waiting:
                result = waiting.submit(job.collect)
                while not result.done():
                    if should_stop():
                        self.context.cancelAllJobs()
                        raise Interrupted
                    time.sleep(BETWEEN_LOOKS)
            return _outcomes(result)
        finally:
            shared.unpersist()


def _outcomes(result: Any) -> list[Any]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return list(result.result())
    except (Py4JError, PySparkException) as error:
        raise DistributedError(f"Spark gave up: {_reason(str(error))}") from None


def _reason(message: str) -> str:
    """The line of Spark's report that says what went wrong in a task."""
    lines = [line.strip() for line in message.splitlines()]
    told = [line for line in lines if line and not line.startswith(("at ", "File ", "Driver stacktrace"))]
    raised = [line for line in told if ": " in line and line.split(":")[0].replace(".", "").isidentifier()]
    return (raised or told or ["it does not say why"])[-1]
