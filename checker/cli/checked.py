"""The result that a command looks at: read from a file, or of a new check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from checker.cli.errors import fail
from checker.cli.verify_again import is_result
from checker.source import Source
from model.deployment.deployment import Deployment
from properties.verdict import Result


@dataclass(frozen=True)
class Checked:
    """A deployment and its result."""

    deployment: Deployment
    result: Result


def checked(source: Source, file: Path, *, faults: str | None, seconds: float | None) -> Checked:
    """Return the deployment and the result of a file (a result or a bundle), or of a new check of ``source``.

    ``faults``, ``seconds``: limits of the new check. End the command if the file is wrong.
    """
    if is_result(file):
        if source != Source(file) or faults or seconds:
            fail(f"{file}: is a result; options of a check apply to configurations only")
        from checker.cli.verify import load_document
        from model.deployment.document import from_document
        from reports.document import result_from_document

        document = load_document(file)
        return Checked(from_document(document["deployment"]), result_from_document(document))
    from checker.cli.exploring import run_check
    from checker.cli.limits import budget_of
    from checker.engine import EmbeddedEngine
    from checker.reductions.choice import chosen
    from checker.source import narrowed

    deployment = narrowed(source.read(), faults, None)
    _, result = run_check(deployment, budget_of(seconds, {}), EmbeddedEngine(None), chosen((), ()))
    return Checked(deployment, result)
