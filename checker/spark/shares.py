"""The check of a certificate as a Spark job: a task for each share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from proofka.checker.certificates.checkers import Answer
from proofka.checker.certificates.shares import Share, Shared, check_share
from proofka.checker.spark.session import spark_errors, spark_session

if TYPE_CHECKING:
    from pyspark import SparkContext


@contextmanager
def shared_by_spark(master: str) -> Iterator[Shared]:
    """Yield a check in as many shares as tasks run at a time, on a session of its own.

    All executors must reach the certificate and the checker by the same paths. Raise
    :class:`checker.spark.session.NoSpark`, and :class:`checker.spark.session.SparkFailed` within the block.
    """
    with spark_session(master) as spark:
        context = spark.sparkContext
        tasks = max(int(context.defaultParallelism), 1)
        yield Shared(lambda shares: _ask(context, shares), tasks, tasks if master.startswith("local") else 1)


def _ask(context: SparkContext, shares: Sequence[Share]) -> list[Answer | str]:
    with spark_errors():
        return context.parallelize(shares, len(shares)).map(check_share).collect()
