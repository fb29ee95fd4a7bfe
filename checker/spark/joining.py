"""The tables of an audit, joined from its rows and from what was found of their systems, and put in their places."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from checker.spark.folder import AuditFolder

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

VERDICTS = "verdicts"
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
    """Write ``verdicts``, ``traces``, ``rejected`` and ``runs``, each in the place of an earlier one."""
    from pyspark.sql import functions as f

    from checker.spark.tables import EXPLORED

    found = spark.read.schema(spark_schema(EXPLORED)).parquet(*map(literal, explored)) if explored else None
    if found is None:
        found = spark.createDataFrame([], spark_schema(EXPLORED))
    signed = spark.createDataFrame(list(signatures.items()), "question string, signature string")
    asked = normalised.where("reason is null").join(signed, "question")
    required = f.array_contains("required", f.col("property")).alias("required")
    verdicts = asked.join(found, "signature").select(*PLACE, "chosen", "signature", "property", required, *FOUND)
    rejected = normalised.where("reason is not null").select(*PLACE, "chosen", "file", "line", "key", "reason")
    traces = found.select("signature", "property", "id", f.posexplode("traces").alias("at", "told"))
    traces = traces.select("signature", "property", "id", (f.col("at") + 1).alias("trace"), "told.*")
    runs = found.select("signature", *(f.col(f"run_{name}").alias(name) for name in RUN)).distinct()
    shutil.rmtree(folder.figures, ignore_errors=True)  # they are of the tables that go
    _put_in_place(
        {
            folder.path / VERDICTS: verdicts.orderBy("property", "number"),
            folder.path / "traces": traces.orderBy("signature", "property", "trace"),
            folder.path / "rejected": rejected.orderBy("number"),
            folder.path / "runs": runs.orderBy("signature"),
        }
    )


def literal(path: Path | str) -> str:
    """A path as Spark takes it, which would read some characters as a pattern."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", str(path))


def spark_schema(schema: pa.Schema) -> StructType:
    """The same columns for Spark."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _put_in_place(tables: Mapping[Path, DataFrame]) -> None:
    """Put tables in the places of earlier ones, once all of them are whole; ``verdicts`` in partitions."""
    new = {target: target.with_name(f".{target.name}.new") for target in tables}
    for target, table in tables.items():
        partitioned_by = ("property",) if target.name == VERDICTS else ()
        table.write.mode("overwrite").partitionBy(*partitioned_by).parquet(str(new[target]))
    for target in tables:
        old = target.with_name(f".{target.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        if target.exists():
            target.rename(old)
        new[target].rename(target)
        shutil.rmtree(old, ignore_errors=True)
