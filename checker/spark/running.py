"""The tasks of a superstep as tasks of a Spark job, one for each partition."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from proofka.checker.distributed.plan import Plan
from proofka.checker.distributed.running import DistributedError, Interrupted, ShouldStop
from proofka.checker.spark.session import SparkFailed, spark_errors

if TYPE_CHECKING:
    from pyspark import SparkContext

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

BETWEEN_LOOKS = 0.02
"""Seconds between two checks whether a job is done, or must stop."""


@dataclass(frozen=True)
class SparkRunner:
    """A runner on the executors of a Spark session. All executors must reach the files of a task by the same path."""

    context: SparkContext

    @property
    def parallelism(self) -> int:
        """Number of tasks that run at a time."""
        return int(self.context.defaultParallelism)

    def run(
        self, do: Callable[[Plan, Task], Outcome], plan: Plan, tasks: Sequence[Task], should_stop: ShouldStop
    ) -> list[Outcome]:
        """Execute the tasks as one job; Spark repeats a task whose process dies."""
        if not tasks:
            return []
        try:
            with spark_errors():
                return self._outcomes(do, plan, tasks, should_stop)
        except SparkFailed as error:
            raise DistributedError(f"Spark gave up: {error}") from None

    def _outcomes(
        self, do: Callable[[Plan, Task], Outcome], plan: Plan, tasks: Sequence[Task], should_stop: ShouldStop
    ) -> list[Outcome]:
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
            return result.result()
        finally:
            shared.unpersist()
