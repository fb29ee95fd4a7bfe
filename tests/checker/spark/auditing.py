"""A small matrix, and how an audit of it is run and its tables are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from proofka.checker.spark.audit import Counts
from proofka.checker.spark.audit import audit as audit_into
from proofka.checker.spark.exploring import DEFAULT_LIMITS, Limits
from proofka.checker.spark.folder import claimed
from proofka.checker.spark.sources import Source

MATRIX = """\
base:
  kafka: "4.0"
  topic: {replicas: 2}
  producer: {retries: 0}
  consumer: {group.id: orders, enable.auto.commit: false}
  assume: {faults: {total: 1, kill: 1, power-loss: 1, consumer-crash: 1}}
  bounds: {records: 1, log: 1}
  require: [no-acked-loss]
values:
  producer.acks: [1, all]
  producer.enable.idempotence: [false, true]
  topic.min.insync.replicas: [1, 2]
  consumer.max.poll.interval.ms: [300000, 600000]
exclude:
  - {producer.acks: all, producer.enable.idempotence: true}
"""
"""16 combinations, 4 excluded, 4 that no client starts with; the poll interval makes no difference."""

TABLES = ("verdicts", "traces", "rejected", "runs")


def audit(spark: Any, source: Source, out: Path, limits: Limits = DEFAULT_LIMITS) -> Counts:
    with claimed(out) as folder:
        return audit_into(spark, source, folder, limits)


def rows(spark: Any, out: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table, in an order of their own."""
    found = [row.asDict(recursive=True) for row in spark.read.parquet(str(out / table)).collect()]
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True, default=str))
