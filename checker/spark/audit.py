"""An audit: every deployment of a fleet or of a design space, each distinct system explored once, on the executors.

Rows are read and normalised. Rows with the same meaning for the model are one question. Questions that lead to the same
systems have one *signature*, and are explored once, each in a task of its own. A task writes its result to the audit's
folder at once and completely. So an audit that is killed and started again, or started with more rows, explores only
missing systems. The tables are made from these results (checker/spark/joining.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from proofka.checker.spark.exploring import DEFAULT_LIMITS, Limits, explore, sign
from proofka.checker.spark.folder import AuditFolder
from proofka.checker.spark.joining import write_tables
from proofka.checker.spark.normalising import NORMALISED, normalise
from proofka.checker.spark.outgrown import explore_outgrown
from proofka.checker.spark.session import SparkFailed, spark_errors
from proofka.checker.spark.sources import Source
from proofka.checker.spark.watching import Violations, Watch
from proofka.model.input.input_error import InputError
from proofka.properties.audited import Stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class NothingToAudit(InputError):
    """The source has no row, or no row that Spark can read."""


@dataclass(frozen=True)
class Counts:
    """Counts of an audit: accepted and rejected rows, distinct systems, and the systems explored in this run."""

    deployments: int
    rejected: int
    systems: int
    explored: int


@dataclass(frozen=True)
class _System:
    """A distinct system: a document that describes it, and the properties that some deployment requires of it."""

    document: str
    required: frozenset[str]


def audit(
    spark: SparkSession,
    source: Source,
    folder: AuditFolder,
    limits: Limits = DEFAULT_LIMITS,
    watch: Watch | None = None,
    *,
    spread: bool = False,
) -> Counts:
    """Audit every deployment of ``source``, and write the tables to ``folder``.

    With ``spread``, all executors together explore a system that needs more memory than one exploration may use;
    without, the system stays undecided. Raise :class:`NothingToAudit`, and :class:`checker.spark.watching.Interrupted`
    after a request to stop; explored systems are kept.
    """
    watch = watch or Watch()
    return watch.run(spark.sparkContext, lambda: _audit(spark, source, folder, limits, watch, spread))


def _audit(
    spark: SparkSession, source: Source, folder: AuditFolder, limits: Limits, watch: Watch, spread: bool
) -> Counts:
    watch.begin(Stage.READING)
    try:
        with spark_errors():
            normalised = source.rows(spark).mapInPandas(partial(normalise, source), NORMALISED).cache()
            questions, accepted, rejected = _questions(normalised)
    except SparkFailed as error:
        raise NothingToAudit(f"Spark cannot read it: {error}") from error
    if not rejected + accepted:
        raise NothingToAudit(source.nothing)
    signatures = _sign(spark, questions, folder, watch)
    systems: dict[str, _System] = {}
    for question, signature in sorted(signatures.items()):
        one = questions[question]
        known = systems.get(signature, one)
        systems[signature] = _System(min(known.document, one.document), known.required | one.required)
    explored = _explore(spark, systems, folder, limits, watch)
    if spread:
        documents = {signature: one.document for signature, one in systems.items()}
        explore_outgrown(spark.sparkContext, documents, folder, limits, watch)
    watch.begin(Stage.WRITING)
    files = {**folder.failed(systems), **folder.found(systems, limits)}
    folder.check(files)
    write_tables(spark, normalised, signatures, files.values(), folder)
    return Counts(accepted, rejected, len(systems), explored)


def _questions(normalised: DataFrame) -> tuple[dict[str, _System], int, int]:
    """Return the questions, the number of accepted rows, and the number of rejected rows."""
    from pyspark.sql import functions as f

    required = f.flatten(f.collect_set("required")).alias("required")
    document, deployments = f.min("document").alias("document"), f.count("*").alias("deployments")
    rows = normalised.groupBy("question").agg(document, required, deployments).collect()
    questions = {row.question: _System(row.document, frozenset(row.required)) for row in rows if row.question}
    accepted = sum(row.deployments for row in rows if row.question)
    return questions, accepted, sum(row.deployments for row in rows) - accepted


def _sign(
    spark: SparkSession, questions: Mapping[str, _System], folder: AuditFolder, watch: Watch
) -> Mapping[str, str]:
    """Return the signature of each question; signatures of earlier audits are reused."""
    known = folder.signatures()
    unsigned = sorted((question, one.document) for question, one in questions.items() if question not in known)
    watch.begin(Stage.SIGNING, len(unsigned), lambda: (len(folder.signatures()) - len(known), 0))
    if unsigned:
        spark.sparkContext.parallelize(unsigned, len(unsigned)).foreach(lambda one: sign(*one, folder))
    signatures = folder.signatures()
    return {question: signatures[question] for question in questions}


def _explore(
    spark: SparkSession, systems: Mapping[str, _System], folder: AuditFolder, limits: Limits, watch: Watch
) -> int:
    """Explore the missing systems, each in a task of its own, so that a long exploration delays only itself."""
    from pyspark import TaskContext

    violations = Violations({signature: one.required for signature, one in systems.items()})

    def count() -> tuple[int, int]:
        found = folder.found(systems, limits)
        return len(found), violations.among(found)

    def task(system: tuple[str, str]) -> None:
        context = TaskContext.get()
        explore(*system, folder, limits, attempt=context.attemptNumber() if context else 0)

    known = folder.found(systems, limits)
    missing = [(signature, one.document) for signature, one in systems.items() if signature not in known]
    missing.sort(key=lambda system: expected_cost(system[1]), reverse=True)
    watch.begin(Stage.EXPLORING, len(systems), count)
    if missing:
        spark.sparkContext.parallelize(missing, len(missing)).foreach(task)
    return len(missing)


def expected_cost(document: str) -> tuple[Any, ...]:
    """Return a sort key: larger for systems whose exploration is likely to take longer."""
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
