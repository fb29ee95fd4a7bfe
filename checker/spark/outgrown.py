"""Systems that reached the memory limit of one exploration on a machine, explored by all executors together."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING

from proofka.checker.budget import Budget
from proofka.checker.check import check
from proofka.checker.spark.engine import DistributedEngine
from proofka.checker.spark.exploring import Limits, keep
from proofka.checker.spark.folder import AuditFolder
from proofka.checker.spark.running import SparkRunner
from proofka.checker.spark.watching import Watch
from proofka.model.deployment.document import from_document
from proofka.properties.audited import Stage

if TYPE_CHECKING:
    from pyspark import SparkContext

SPREAD = "spread"
"""Name of the folder, in the audit's folder, for the states of such systems."""


def outgrown(signatures: Mapping[str, str], folder: AuditFolder, limits: Limits) -> list[tuple[str, str]]:
    """Return the systems (signature -> document) whose exploration reached the memory limit."""
    import pyarrow.parquet as pq

    found = folder.found(signatures, limits)
    cut_short = (one for one, file in sorted(found.items()) if file == folder.files_of(one, limits)[1])
    return [
        (one, signatures[one])
        for one in cut_short
        if any(
            row["bounds"]["stopped"] == "memory" for row in pq.read_table(found[one], columns=["bounds"]).to_pylist()
        )
    ]


def explore_outgrown(
    context: SparkContext, systems: Mapping[str, str], folder: AuditFolder, limits: Limits, watch: Watch
) -> int:
    """Explore these systems one after the other, each on all executors; return their number.

    An interrupted system continues next time from its last complete superstep if it was the first, and else begins
    again. The machine code of a system depends on the systems that the process built before, and states belong to one
    code.
    """
    waiting = outgrown(systems, folder, limits)
    done: list[str] = []
    watch.begin(Stage.SPREADING, len(waiting), lambda: (len(done), 0))
    for signature, document in waiting:
        work = folder.path / SPREAD / signature
        engine = DistributedEngine(SparkRunner(context), work.resolve())
        budget = Budget(seconds=limits.seconds, threads=1, stop=watch.stop)
        result = check(from_document(json.loads(document)), budget=budget, engine=engine)
        watch.begin(Stage.SPREADING, len(waiting), lambda: (len(done), 0))
        keep(signature, result, folder, limits)
        shutil.rmtree(work, ignore_errors=True)
        done.append(signature)
    return len(waiting)
