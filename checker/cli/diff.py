"""``proofka diff``: what changed between two results, and which setting made the difference."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from checker.cli.errors import complain, fail, one_line_errors
from checker.cli.verify import load_document

if TYPE_CHECKING:
    from model.deployment.deployment import Deployment
    from properties.difference import Difference
    from properties.verdict import Result

EXIT_SAME = 0
EXIT_CHANGED = 1


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A bundle, or a result that --json wrote.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one.")],
    no_causes: Annotated[
        bool, typer.Option("--no-causes", help="Do not check what lies between the two to find what made the change.")
    ] = False,
) -> None:
    """Say which verdicts changed between two results, and which change of a setting caused it.

    Exit status: 0 nothing changed, 1 a verdict, a setting or a version did, 2 the input is wrong.
    """
    with one_line_errors():
        before, after = _load(old), _load(new)
        found = _difference(before, after, causes=not no_causes)
    from reports.difference import DifferenceReport
    from reports.terminal import console

    console().print(DifferenceReport(found, _named(old, before), _named(new, after)))
    raise typer.Exit(EXIT_SAME if found.is_empty else EXIT_CHANGED)


def _load(file: Path) -> tuple[Deployment, Result]:
    document = load_document(file)
    from model.deployment import DocumentError, from_document
    from reports.document import result_from_document

    try:
        deployment = from_document(document["deployment"])
    except DocumentError as error:
        model = str(document["versions"].get("model", "unknown"))
        fail(f"{file}: of model {model}, whose deployments this version does not read ({error}): check it again")
    return deployment, result_from_document(document)


def _difference(before: tuple[Deployment, Result], after: tuple[Deployment, Result], *, causes: bool) -> Difference:
    from checker.budget import Budget
    from checker.difference import SECONDS_EACH, difference
    from checker.interruption import interrupts
    from checker.solver import SolverUndecided
    from checker.traces import ReplayMismatch
    from reports.terminal import console

    out = console(stderr=True)
    budget = Budget(seconds=SECONDS_EACH)
    try:
        with out.status("looking for causes") as status, interrupts(budget.stop):
            found = difference(
                before,
                after,
                causes=causes,
                budget=budget,
                on_check=lambda checks: status.update(f"looking for causes: deployment {checks}"),
            )
    except (SolverUndecided, ReplayMismatch) as error:
        complain(f"no causes: {error}")
        found = difference(before, after, causes=False)
    if budget.stop.is_set():
        complain("interrupted: not every cause was looked for")
    sys.stdout.flush()
    return found


def _named(file: Path, loaded: tuple[Deployment, Result]) -> str:
    from reports import summary

    deployment, result = loaded
    return f"{file}: {deployment.name}, {summary.cluster(deployment)}, model {result.versions.get('model', 'unknown')}"
