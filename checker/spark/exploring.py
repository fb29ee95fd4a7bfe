"""An executor's work for an audit: sign a question, explore a system, and write the result, completely or not at
all.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from proofka.checker.budget import Budget, processors
from proofka.checker.check import check
from proofka.checker.identity import Fingerprint, verdict_id
from proofka.checker.modelling_assumptions import EVERYTHING, OF_READING
from proofka.checker.reductions.always import always_reduced
from proofka.checker.spark.folder import AuditFolder
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.document import from_document
from proofka.model.deployment.required_properties import ASKED_BY_DEFAULT, KNOWN_PROPERTIES
from proofka.model.pipeline import VERSION, build
from proofka.properties.catalogue import properties_of
from proofka.properties.verdict import Result

if TYPE_CHECKING:
    import pyarrow as pa

ATTEMPTS = 2
"""Number of attempts to explore a system whose process dies, usually for lack of memory."""

ITSELF = "alone"
"""Prefix of the signature of a question that could not be signed, and so is a system of its own."""


@dataclass(frozen=True)
class Limits:
    """Limits of one exploration on an executor, in seconds and bytes.

    A system that needs more is ``unknown``.

    ``memory`` is by default the memory limit of a check, divided by the number of processors.
    """

    seconds: float | None = None
    memory: int | None = None

    def budget(self) -> Budget:
        """Return a budget of one thread, because as many explorations run side by side as there are processors."""
        budget = Budget(seconds=self.seconds, threads=1)
        return replace(budget, memory=self.memory or budget.memory // processors())

    def __str__(self) -> str:
        return f"{self.seconds or 'any'}s-{self.memory or 'any'}B"


DEFAULT_LIMITS = Limits()


def signature(deployment: Deployment) -> str:
    """Return the identity of the system and of its question.

    Deployments with the same signature have the same verdicts and traces, word for word. A trace also shows parts that
    no property sees, so the whole system counts, and nothing must be simplified or proved for the signature.
    """
    model = always_reduced(build(deployment))
    prints = Fingerprint()
    parts: list[bytes | str] = [VERSION, repr(deployment.faults), repr(deployment.bounds)]
    parts += [one.text for one in (*OF_READING, *EVERYTHING) if one.where(deployment)]
    parts += [prints.of_system(model.system), prints.of_clocks(model.system)]
    for name, limit in sorted((model.system.limits or {}).items()):
        parts += [name, prints.of_term(limit)]
    for prop in properties_of(model.pipeline):
        terms = [term for term in (prop.violated, prop.witness, prop.goal) if term is not None]
        parts += [prop.name, *(prints.of_term(term) for term in terms)]
    return verdict_id(parts)


def sign(question: str, document: str, folder: AuditFolder) -> None:
    """Store the signature of a question. If signing fails for any reason, :func:`explore` meets the same error."""
    try:
        signed = signature(from_document(json.loads(document)))
    except Exception:
        signed = f"{ITSELF}-{question}"
    folder.sign(question, signed)


def explore(signature: str, document: str, folder: AuditFolder, limits: Limits, attempt: int = 0) -> None:
    """Explore one system and store the result.

    ``attempt``: number of processes that have died exploring the system.

    An error leaves this system undecided, with a reason; it must not end the audit of all others.
    """
    from proofka.checker.spark.tables import undecided_rows

    failed = folder.files_of(signature, limits)[2]
    if attempt >= ATTEMPTS:
        reason = f"the process that explored it died, {ATTEMPTS} times; it may have run out of memory"
        _keep(undecided_rows(signature, _asked(document), reason), failed)
        return
    try:
        result = check(from_document(json.loads(document)), budget=limits.budget())
    except Exception as error:
        reason = " ".join([f"no verdict: {type(error).__name__}:", *str(error).split()])
        _keep(undecided_rows(signature, _asked(document), reason), failed)
        return
    keep(signature, result, folder, limits)


def _asked(document: str) -> tuple[str, ...]:
    """Return the properties to check for a system, in the order of reports."""
    try:
        required = json.loads(document).get("require", ())
    except ValueError:
        required = ()
    return tuple(name for name in KNOWN_PROPERTIES if name in ASKED_BY_DEFAULT or name in required)


def keep(signature: str, result: Result, folder: AuditFolder, limits: Limits) -> None:
    """Store the result of a system, apart from other results if a limit stopped the exploration."""
    from proofka.checker.spark.tables import explored_rows

    whole, limited, _ = folder.files_of(signature, limits)
    stopped = any(verdict.coverage.stopped for verdict in result.verdicts)
    _keep(explored_rows(signature, result.verdicts, result.engine), limited if stopped else whole)


def _keep(table: pa.Table, target: Path) -> None:
    """Move a table to its place once it is whole and on the disk. Spark verifies its checksums when reading."""
    import pyarrow.parquet as pq

    new = target.with_name(f".{uuid4().hex}")
    with new.open("wb") as file:
        pq.write_table(table, file, write_page_checksum=True)
        file.flush()
        os.fsync(file.fileno())
    new.replace(target)
