"""The tasks of a superstep as tasks of a Spark job, one for each partition."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from checker.distributed.plan import Plan
from checker.distributed.running import DistributedError, Interrupted, ShouldStop
from checker.spark.session import SparkFailed, spark_errors

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
