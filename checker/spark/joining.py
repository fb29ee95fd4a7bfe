"""The tables of an audit, joined from its rows and from the results of their systems, and moved to their places."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from proofka.checker.spark.folder import AuditFolder
from proofka.checker.spark.paths import literal
from proofka.properties.verdict import Status

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

TABLES = ("verdicts", "traces", "rejected", "runs")
PLACE = ("deployment", "place", "number")
FOUND = ("status", "fewest_faults", "cut_sets", "bounds", "states", "witness_reached", "id", "notes")
RUN = ("states", "transitions", "depth", "seconds", "compile_seconds")


def write_tables(
    spark: SparkSession,
    normalised: DataFrame,
    signatures: Mapping[str, str],
    explored: Collection[Path],
    folder: AuditFolder,
) -> None:
    """Write ``verdicts``, ``traces``, ``rejected`` and ``runs``, replacing earlier tables once all are whole."""
    from pyspark.sql import functions as f

    from proofka.checker.spark.tables import EXPLORED

    found = spark.read.schema(spark_schema(EXPLORED)).parquet(*map(literal, explored)) if explored else None
    if found is None:
        found = spark.createDataFrame([], spark_schema(EXPLORED))
    signed = spark.createDataFrame(list(signatures.items()), "question string, signature string")
    asked = normalised.where("reason is null").join(signed, "question")
    required = f.array_contains("required", f.col("property")).alias("required")
    # Systems are shared by deployments of several releases: defects are those of the deployment.
    defects = f.when(f.col("status") == Status.HOLDS.value, f.col("defects")[f.col("property")]).alias("known_defects")
    columns = (*PLACE, "chosen", "signature", "property", required, *FOUND, defects)
    verdicts = asked.join(found, "signature").select(*columns)
    rejected = normalised.where("reason is not null").select(*PLACE, "chosen", "file", "line", "key", "reason")
    traces = found.select("signature", "property", "id", f.posexplode("traces").alias("at", "told"))
    traces = traces.select("signature", "property", "id", (f.col("at") + 1).alias("trace"), "told.*")
    runs = found.select("signature", *(f.col(f"run_{name}").alias(name) for name in RUN)).distinct()
    shutil.rmtree(folder.figures, ignore_errors=True)  # the figures show the replaced tables
    _write(verdicts.orderBy("property", "number"), folder.path / "verdicts", "property")
    _write(traces.orderBy("signature", "property", "trace"), folder.path / "traces")
    _write(rejected.orderBy("number"), folder.path / "rejected")
    _write(runs.orderBy("signature"), folder.path / "runs")
    for name in TABLES:
        _put_in_place(folder.path / name)


def spark_schema(schema: pa.Schema) -> StructType:
    """Return the schema with the same columns for Spark."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _new(target: Path) -> Path:
    return target.with_name(f".{target.name}.new")


def _write(table: DataFrame, target: Path, *partitioned_by: str) -> None:
    """Write a table beside its place."""
    table.write.mode("overwrite").partitionBy(*partitioned_by).parquet(str(_new(target)))


def _put_in_place(target: Path) -> None:
    """Replace an earlier table by a table that is whole."""
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    _new(target).rename(target)
    shutil.rmtree(old, ignore_errors=True)
