"""An audit: every deployment of a fleet or of a design space, each distinct system explored once, on the executors.

Rows are read and normalised; those that mean the same to the model are one question; questions that come to the same
simplified systems have one *signature*, and are explored once, each a task of its own. What a task found is written to
``explored`` at once and whole, so an audit that is killed and started again, or started with more rows, explores only
what is missing. The tables are made from that (checker/spark/tables.py).
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.budget import ALWAYS_COVERED, Budget, processors
from checker.check import check, prepare_groups, question_ids
from checker.identity import verdict_id
from checker.spark.sources import ROWS, Source
from model.deployment.deployment import Deployment
from model.deployment.document import from_document, to_document
from model.deployment.errors import DeploymentError
from model.pipeline import VERSION

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

EXPLORED, SIGNED = "explored", "signed"
NORMALISED = (
    f"{ROWS}, deployment string, chosen map<string,string>, question string, document string, required array<string>, "
    "reason string"
)
"""A row with what came of it: a question, or the reason why there is none."""


@dataclass(frozen=True)
class Limits:
    """What one exploration may cost on an executor, in seconds and bytes; one that needs more is ``unknown``.

    ``memory`` is by default a processor's share of what a check takes at most.
    """

    seconds: float | None = None
    memory: int | None = None

    def budget(self) -> Budget:
        """As a budget of one thread: as many explorations run beside each other as there are processors."""
        budget = Budget(seconds=self.seconds, threads=1)
        return replace(budget, memory=self.memory or budget.memory // processors())

    def __str__(self) -> str:
        return f"{self.seconds or 'any'}s-{self.memory or 'any'}B"


@dataclass(frozen=True)
class Counts:
    """What an audit came to: rows read and rejected, distinct systems, and how many of these were explored now."""

    deployments: int
    rejected: int
    systems: int
    explored: int


def audit(spark: SparkSession, source: Source, out: Path, limits: Limits = Limits()) -> Counts:
    """Audit every deployment of ``source`` and write the tables to ``out``."""
    from pyspark.sql import functions as f

    out.mkdir(parents=True, exist_ok=True)
    rows = source.rows(spark).repartition(spark.sparkContext.defaultParallelism)
    normalised = rows.mapInPandas(lambda batches: _normalise(source, batches), NORMALISED).cache()
    accepted = normalised.where("reason is null")
    questions = accepted.groupBy("question").agg(f.min("document").alias("document"))
    signed = _sign(spark, questions, out)
    by_signature = signed.groupBy("signature").agg(f.min("document").alias("document")).collect()
    systems = {row.signature: row.document for row in by_signature}
    missing = _missing(systems, out, limits)
    _explore(spark, missing, out, limits)
    explored = [next(file for file in _files(one, out, limits) if file.exists()) for one in sorted(systems)]
    _write_tables(spark, normalised, signed, explored, out)
    rejected = normalised.where("reason is not null").count()
    return Counts(accepted.count(), rejected, len(systems), len(missing))


def _normalise(source: Source, batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    import pandas as pd

    for batch in batches:
        found = [_normalised(source, *row) for row in batch.itertuples(index=False)]
        columns = ("deployment", "chosen", "question", "document", "required", "reason")
        yield pd.concat([batch, pd.DataFrame(found, columns=columns, index=batch.index)], axis=1)


def _normalised(source: Source, number: int, place: str, text: str) -> tuple[Any, ...]:
    chosen = dict(source.values(number))
    try:
        deployment = source.read(number, place, text)
    except DeploymentError as error:
        return f"{Path(place).stem}-{number}", chosen, None, None, None, str(error)
    meant = json.dumps(to_document(meaning(deployment)), sort_keys=True)
    question = hashlib.sha256(f"{VERSION}{meant}".encode()).hexdigest()[:32]
    return deployment.name, chosen, question, meant, list(deployment.require), None


def meaning(deployment: Deployment) -> Deployment:
    """What the model is built from and the exploration is bounded by, without names and places.

    Without a total of faults every pair is covered: how far an audit gets must not depend on how fast it is.
    """
    faults = deployment.faults
    if faults.total is None and not faults.any_number:
        faults = faults.up_to(ALWAYS_COVERED)
    return replace(deployment, name="", client="", faults=faults, require=(), settings=(), ignored=(), notes=())


def _sign(spark: SparkSession, questions: DataFrame, out: Path) -> DataFrame:
    """Each question with the signature of its systems; those of earlier audits are not made again."""
    schema = "question string, document string, signature string"
    known = spark.createDataFrame([], schema)
    if (out / SIGNED).exists():
        known = spark.read.schema(schema).parquet(str(out / SIGNED))
    new = questions.join(known, "question", "left_anti")
    fresh = new.repartition(max(1, new.count())).mapInPandas(_signatures, schema)
    fresh.write.mode("append").parquet(str(out / SIGNED))
    everything = spark.read.schema(schema).parquet(str(out / SIGNED)).dropDuplicates(["question"])
    return everything.join(questions.select("question"), "question").cache()


def _signatures(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        batch["signature"] = [signature(from_document(json.loads(document))) for document in batch["document"]]
        yield batch


def signature(deployment: Deployment) -> str:
    """What is asked of the simplified systems: deployments with the same signature have the same verdicts."""
    asked = question_ids(deployment, *prepare_groups(deployment))
    return verdict_id([part for pair in sorted(asked.items()) for part in pair])


def _missing(systems: Mapping[str, str], out: Path, limits: Limits) -> list[tuple[str, str]]:
    """Systems that were not explored yet, those that are likely to take longest first."""
    (out / EXPLORED).mkdir(exist_ok=True)
    found = [
        (signature, document)
        for signature, document in systems.items()
        if not any(file.exists() for file in _files(signature, out, limits))
    ]
    return sorted(found, key=lambda system: _expected_cost(system[1]), reverse=True)


def _files(signature: str, out: Path, limits: Limits) -> tuple[Path, Path]:
    """Where is written what was found of a system: all that there is to find, or what these limits allowed."""
    folder = out / EXPLORED
    return folder / f"{signature}.parquet", folder / f"{signature}-within-{limits}.parquet"


def _expected_cost(document: str) -> tuple[Any, ...]:
    asked = json.loads(document)
    faults = asked["faults"]
    kinds = sum(most for _, most in faults["at_most"])
    return (
        faults["total"] or 99,
        asked["bounds"]["records"],
        kinds,
        not asked["idempotence"],
        asked["replicas"],
        document,
    )


def _explore(spark: SparkSession, systems: list[tuple[str, str]], out: Path, limits: Limits) -> None:
    """Explore each system in a task of its own, so that a long one holds up none but itself."""
    if systems:
        tasks = spark.sparkContext.parallelize(systems, len(systems))
        tasks.foreach(lambda system: explore(*system, out, limits))


def explore(signature: str, document: str, out: Path, limits: Limits) -> None:
    """Explore one system and write what was found, whole or not at all."""
    import os

    import pyarrow.parquet as pq

    from checker.spark.tables import explored_rows

    result = check(from_document(json.loads(document)), budget=limits.budget())
    stopped = any(verdict.coverage.stopped for verdict in result.verdicts)
    target = _files(signature, out, limits)[stopped]
    new = target.with_name(f".{signature}.{os.getpid()}.new")
    pq.write_table(explored_rows(signature, result.verdicts, result.engine), new)
    new.replace(target)


def _write_tables(
    spark: SparkSession, normalised: DataFrame, signed: DataFrame, files: Sequence[Path], out: Path
) -> None:
    from pyspark.sql import functions as f

    place = ["deployment", "place", "number"]
    explored = spark.read.parquet(*map(str, files)) if files else spark.createDataFrame([], _explored_schema())
    rejected = normalised.where("reason is not null").select(*place, "chosen", "reason")
    asked = normalised.where("reason is null").join(signed.select("question", "signature"), "question")
    verdicts = asked.join(explored, "signature").select(
        *place,
        "chosen",
        "signature",
        "property",
        f.array_contains("required", f.col("property")).alias("required"),
        "status",
        "cut_sets",
        "bounds",
        "states",
        "witness_reached",
        "id",
        "notes",
    )
    traces = explored.select("id", "property", "signature", f.posexplode("traces").alias("at", "trace"))
    traces = traces.select("id", "property", "signature", (f.col("at") + 1).alias("trace"), "trace.*")
    runs = explored.select("signature", *(f.col(f"run_{name}").alias(name) for name in RUN)).distinct()
    _write(rejected.orderBy("number"), out / "rejected")
    _write(verdicts.orderBy("property", "number"), out / "verdicts", "property")
    _write(traces.orderBy("id", "trace"), out / "traces")
    _write(runs.orderBy("signature"), out / "runs")


def _explored_schema() -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema

    from checker.spark.tables import EXPLORED as TABLE

    return from_arrow_schema(TABLE)


RUN = ("states", "transitions", "depth", "seconds", "compile_seconds")


def _write(table: DataFrame, target: Path, *partitioned_by: str) -> None:
    """Put a table in the place of an earlier one, once it is whole."""
    new, old = target.with_name(f".{target.name}.new"), target.with_name(f".{target.name}.old")
    table.write.mode("overwrite").partitionBy(*partitioned_by).parquet(str(new))
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)
