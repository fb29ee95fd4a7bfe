"""The result that a command looks at: read from a file, or of a new check."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.cli.endings import EXIT_BAD_INPUT
from checker.cli.errors import fail
from checker.cli.verify_again import is_bundle, is_result, load_bundle
from checker.source import Source
from model.deployment.deployment import Deployment
from properties.verdict import Result

if TYPE_CHECKING:
    from checker.bundle import SourceFile


@dataclass(frozen=True)
class Checked:
    """A deployment and its result, with the command that repeats the check.

    ``sources``: the files that the deployment was read from; empty for a result of ``--json``, which does not name
    them.
    """

    deployment: Deployment
    result: Result
    command: str
    sources: tuple[SourceFile, ...]


def checked(source: Source, file: Path, *, faults: str | None, seconds: float | None) -> Checked:
    """Return the deployment and the result of a file (a result or a bundle), or of a new check of ``source``.

    ``faults``, ``seconds``: limits of the new check. End the command if the file is wrong.
    """
    if is_result(file):
        if source != Source(file) or faults or seconds:
            fail(f"{file}: is a result; options of a check apply to configurations only")
        document, sources = _loaded(file)
        return _of_document(document, sources, again=f"proofka verify {shlex.quote(str(file))} --recount")
    from checker.bundle import sources_of
    from checker.cli.exploring import run_check
    from checker.cli.limits import budget_of
    from checker.engine import EmbeddedEngine
    from checker.reductions.choice import chosen
    from checker.source import narrowed

    deployment = narrowed(source.read(), faults, None)
    sources = sources_of([deployment], [source.file])
    _, result = run_check(deployment, budget_of(seconds, {}), EmbeddedEngine(None), chosen((), ()))
    return Checked(deployment, result, _command(source, deployment, faults=faults, seconds=seconds), sources)


def _loaded(file: Path) -> tuple[dict[str, Any], tuple[SourceFile, ...]]:
    """Return the document of a result or a bundle, and the source files that a bundle names."""
    if is_bundle(file):
        bundle = load_bundle(file, EXIT_BAD_INPUT)
        return dict(bundle.document), bundle.sources
    from checker.cli.verify import load_document

    return load_document(file), ()


def _of_document(document: dict[str, Any], sources: tuple[SourceFile, ...], *, again: str) -> Checked:
    """Return the deployment and the result of a document. ``again``: the command, if the document has none."""
    from model.deployment.document import from_document
    from reports.document import result_from_document

    command = document["command"] or again
    return Checked(from_document(document["deployment"]), result_from_document(document), command, sources)


def _command(source: Source, deployment: Deployment, *, faults: str | None, seconds: float | None) -> str:
    """Return the command line that repeats a new check, which searches nothing after its answer."""
    words = ["proofka", "check", *source.arguments({setting.value for setting in deployment.settings})]
    words += [] if faults is None else ["--faults", faults]
    words += [] if seconds is None else ["--time", f"{seconds:g}"]
    return shlex.join([*words, "--more", "0"])
