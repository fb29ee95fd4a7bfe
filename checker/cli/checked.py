"""The result that a command looks at: read from a file, or of a new check."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofka.checker.cli.endings import EXIT_BAD_INPUT
from proofka.checker.cli.errors import fail
from proofka.checker.cli.verify_again import is_bundle, is_result, load_bundle
from proofka.checker.source import Source
from proofka.model.deployment.deployment import Deployment
from proofka.properties.verdict import Result

if TYPE_CHECKING:
    from proofka.checker.bundle import SourceFile


@dataclass(frozen=True)
class Checked:
    """A deployment and its result, with the command that repeats the check.

    ``sources``: the files that the deployment was read from; empty for a result of ``--json``, which does not name
    them. ``certificate``: the content of the certificate in a bundle. ``document``: the result as it was read from a
    file; None for a new check.
    """

    deployment: Deployment
    result: Result
    command: str
    sources: tuple[SourceFile, ...]
    certificate: bytes | None = None
    document: dict[str, Any] | None = None


@dataclass(frozen=True)
class Loaded:
    """The document of a result, and what only a bundle has: the names of source files, and a certificate."""

    document: dict[str, Any]
    sources: tuple[SourceFile, ...] = ()
    certificate: bytes | None = None


def loaded(source: Source, *, limits: Iterable[object]) -> Loaded | None:
    """Return the content of a source that is a result or a bundle; None for other sources.

    ``limits``: the options that choose the question of a new check. End the command if any is given with a result.
    """
    file = source.file
    if file is None or not is_result(file):
        return None
    if source != Source(file) or any(limits):
        fail(f"{file}: is a result; options of a check apply to configurations only")
    if is_bundle(file):
        from proofka.checker.bundle import CERTIFICATE

        bundle = load_bundle(file, EXIT_BAD_INPUT)
        return Loaded(dict(bundle.document), bundle.sources, bundle.members.get(CERTIFICATE))
    from proofka.checker.cli.verify import load_document

    return Loaded(load_document(file))


def checked(
    source: Source, file: Path, *, faults: str | None, seconds: float | None, all_fault_sets: bool = False
) -> Checked:
    """Return the deployment and the result of a file (a result or a bundle), or of a new check of ``source``.

    ``faults``, ``seconds``: limits of the new check. ``all_fault_sets``: without a total of faults, the new check also
    searches violated properties for larger fault sets. End the command if the file is wrong.
    """
    found = loaded(source, limits=(faults, seconds))
    if found is not None:
        return of_document(found, file)
    from proofka.checker.bundle import sources_of
    from proofka.checker.cli.exploring import run_check
    from proofka.checker.cli.limits import budget_of
    from proofka.checker.deepening import Depth
    from proofka.checker.engine import EmbeddedEngine
    from proofka.checker.reductions.choice import chosen
    from proofka.checker.source import narrowed

    deployment = narrowed(source.read(), faults, None)
    sources = sources_of([deployment], [source.file])
    depth = Depth(all_fault_sets=all_fault_sets)
    _, result = run_check(deployment, budget_of(seconds, {}), EmbeddedEngine(None), chosen((), ()), depth)
    command = _command(source, deployment, faults=faults, seconds=seconds, all_fault_sets=all_fault_sets)
    return Checked(deployment, result, command, sources)


def of_document(found: Loaded, file: Path) -> Checked:
    """Return the deployment and the result of a document that was read from a file."""
    from proofka.model.deployment.document import from_document
    from proofka.reports.document import result_from_document

    deployment, result = from_document(found.document["deployment"]), result_from_document(found.document)
    command = found.document["command"] or f"proofka verify {shlex.quote(str(file))} --recount"
    return Checked(deployment, result, command, found.sources, found.certificate, document=found.document)


def _command(
    source: Source, deployment: Deployment, *, faults: str | None, seconds: float | None, all_fault_sets: bool
) -> str:
    """Return the command line that repeats a new check, which searches nothing after its answer."""
    words = ["proofka", "check", *source.arguments({setting.value for setting in deployment.settings})]
    words += [] if faults is None else ["--faults", faults]
    words += [] if seconds is None else ["--time", f"{seconds:g}"]
    words += ["--all-fault-sets"] if all_fault_sets else []
    return shlex.join([*words, "--more", "0"])
