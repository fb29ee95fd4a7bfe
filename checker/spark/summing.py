"""The summary of an audit, from the tables that it wrote."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from proofka.checker.spark.audit import Counts
from proofka.checker.spark.folder import AuditFolder
from proofka.checker.spark.paths import literal
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.properties.audited import AuditSummary, PropertyCount
from proofka.properties.verdict import CutSet, Status

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

WORST_FIRST = (Status.VIOLATED, Status.UNKNOWN, Status.VACUOUS, Status.HOLDS)

MOST_REASONS = 5
"""Largest number of reasons for rejections in a summary."""

MOST_CUT_SETS = 3
"""Largest number of smallest fault sets of a property in a summary."""


def read_verdicts(spark: SparkSession, folder: AuditFolder) -> DataFrame:
    """Return the table ``verdicts``; it must contain a deployment."""
    return spark.read.parquet(literal(folder.path / "verdicts"))


def summarise(spark: SparkSession, folder: AuditFolder, counts: Counts, seconds: float) -> AuditSummary:
    """Return the summary of an audit's folder; the audit took ``seconds``."""
    verdicts = read_verdicts(spark, folder) if counts.deployments else None
    reasons, more_reasons = _reasons(spark.read.parquet(literal(folder.path / "rejected")))
    return AuditSummary(
        counts.deployments,
        counts.rejected,
        reasons,
        more_reasons,
        counts.systems,
        counts.explored,
        () if verdicts is None else _by_property(verdicts),
        {} if verdicts is None else _worst(verdicts),
        seconds,
        0 if verdicts is None else _with_known_defects(verdicts),
    )


def _reasons(rejected: DataFrame) -> tuple[tuple[tuple[str, int], ...], int]:
    """Return the most common reasons, each with its first place, and the number of other reasons."""
    from pyspark.sql import functions as f

    place = f.min_by(f.concat_ws(":", "file", "line"), "number").alias("place")
    said = f.concat_ws(": ", "key", "reason").alias("said")
    each = rejected.groupBy(said).agg(f.count("*").alias("rows"), place)
    rows = each.orderBy(f.desc("rows"), "said").limit(MOST_REASONS).collect()
    others = each.count() - MOST_REASONS if len(rows) == MOST_REASONS else 0
    return tuple((_placed(row.said, row.rows, row.place), row.rows) for row in rows), others


def _placed(said: str, rows: int, place: str) -> str:
    if not place:
        return said
    return f"{place}: {said}" if rows == 1 else f"{said} (first: {place})"


def _by_property(verdicts: DataFrame) -> tuple[PropertyCount, ...]:
    from pyspark.sql import functions as f

    statuses: dict[str, dict[Status, int]] = defaultdict(dict)
    required: dict[str, int] = defaultdict(int)
    requiring = f.count_if("required").alias("required")
    for row in verdicts.groupBy("property", "status").agg(f.count("*").alias("deployments"), requiring).collect():
        statuses[row.property][Status(row.status)] = row.deployments
        required[row.property] += row.required
    cut_sets: dict[str, list[tuple[CutSet, int]]] = defaultdict(list)
    for row in verdicts.select("property", f.explode("cut_sets").alias("cut_set")).groupBy(*_CUT_SET).count().collect():
        cut_set = tuple((fault["fault"], fault["count"]) for fault in row.cut_set)
        cut_sets[row.property].append((cut_set, row["count"]))
    for found in cut_sets.values():
        found.sort(key=lambda one: (-one[1], sum(count for _, count in one[0]), one[0]))
    return tuple(
        PropertyCount(
            name,
            statuses[name],
            required[name],
            tuple(cut_sets[name][:MOST_CUT_SETS]),
            len(cut_sets[name][MOST_CUT_SETS:]),
        )
        for name in KNOWN_PROPERTIES
        if name in statuses
    )


_CUT_SET = ("property", "cut_set")


def rank(status: Column) -> Column:
    """Return the position of a status in :data:`WORST_FIRST`."""
    from pyspark.sql import functions as f

    return f.array_position(f.lit([str(one) for one in WORST_FIRST]), status) - 1


def _worst(verdicts: DataFrame) -> dict[Status, int]:
    """Return the number of deployments for each worst status of their required properties."""
    from pyspark.sql import functions as f

    required = verdicts.where("required").groupBy("place", "number").agg(f.min(rank(f.col("status"))).alias("worst"))
    return {WORST_FIRST[row.worst]: row["count"] for row in required.groupBy("worst").count().collect()}


def _with_known_defects(verdicts: DataFrame) -> int:
    """Return the number of deployments with a required property that holds with known defects beside."""
    from pyspark.sql import functions as f

    passes = verdicts.where("required").where(f.col("status") == Status.HOLDS.value)
    return passes.where(f.size("known_defects") > 0).select("place", "number").distinct().count()
