"""What an executor does for an audit: sign a question, explore a system, and write what came of it, whole or not."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from checker.budget import Budget, processors
from checker.check import check
from checker.granted import EVERYTHING, OF_READING
from checker.identity import Fingerprint, verdict_id
from checker.spark.folder import AuditFolder
from model.deployment.deployment import Deployment
from model.deployment.document import from_document
from model.deployment.required_properties import ASKED_BY_DEFAULT, KNOWN_PROPERTIES
from model.pipeline import VERSION, build
from properties.catalogue import properties_of
from properties.verdict import Result

if TYPE_CHECKING:
    import pyarrow as pa

ATTEMPTS = 2
"""How often a system is explored whose process dies, which is mostly because memory ran out."""

ITSELF = "alone"
"""Stands before the signature of a question that could not be signed: it is a system of its own."""


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


DEFAULT_LIMITS = Limits()


def signature(deployment: Deployment) -> str:
    """The identity of the system and of what is asked of it.

    Deployments with the same signature have the same verdicts and traces, to the last word: a trace also tells of what
    no property sees, so it is the whole system that counts, and nothing has to be simplified or proved for it.
    """
    model = build(deployment)
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
    """Keep the signature of a question. Where it has none, whatever the reason, :func:`explore` comes to it as well."""
    try:
        signed = signature(from_document(json.loads(document)))
    except Exception:
        signed = f"{ITSELF}-{question}"
    folder.sign(question, signed)


def explore(signature: str, document: str, folder: AuditFolder, limits: Limits, attempt: int = 0) -> None:
    """Explore one system and keep what was found. ``attempt``: how many processes have died of it so far.

    What goes wrong here leaves this system undecided, and says so; it must not end the audit of all others.
    """
    from checker.spark.tables import undecided_rows

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
    """The properties that are asked of a system, in the order of reports."""
    try:
        required = json.loads(document).get("require", ())
    except ValueError:
        required = ()
    return tuple(name for name in KNOWN_PROPERTIES if name in ASKED_BY_DEFAULT or name in required)


def keep(signature: str, result: Result, folder: AuditFolder, limits: Limits) -> None:
    """Keep what was found of a system, apart from others where a limit cut it short."""
    from checker.spark.tables import explored_rows

    whole, limited, _ = folder.files_of(signature, limits)
    stopped = any(verdict.coverage.stopped for verdict in result.verdicts)
    _keep(explored_rows(signature, result.verdicts, result.engine), limited if stopped else whole)


def _keep(table: pa.Table, target: Path) -> None:
    """Put a table in its place once it is whole and on the disk; Spark checks its checksums when it reads it."""
    import pyarrow.parquet as pq

    new = target.with_name(f".{uuid4().hex}")
    with new.open("wb") as file:
        pq.write_table(table, file, write_page_checksum=True)
        file.flush()
        os.fsync(file.fileno())
    new.replace(target)
