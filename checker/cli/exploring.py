"""Exploring while somebody watches: rows as they are decided, and Ctrl-C that keeps what is decided."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import typer

from checker.cli.endings import EXIT_UNDECIDED
from checker.cli.errors import complain
from checker.interruption import interrupts

if TYPE_CHECKING:
    from checker.budget import Budget
    from checker.check import Run
    from checker.deepening import Depth
    from checker.engine import Engine
    from checker.reductions.choice import Reduction
    from model.deployment.deployment import Deployment
    from properties.verdict import Result

STANDARD_ERROR = 2
"""Number of the file that a message goes to in the middle of other output."""


def run_check(
    deployment: Deployment,
    budget: Budget,
    engine: Engine,
    reductions: frozenset[Reduction],
    depth: Depth | None = None,
) -> tuple[Run, Result]:
    """Explore, with rows and a progress line where somebody watches. Ctrl-C ends it with what was covered by then."""
    from checker.check import explore
    from checker.solver import SolverUndecided
    from checker.traces import ReplayMismatch
    from reports.live_rows import LiveRows
    from reports.terminal import console

    try:
        watched = LiveRows(console(stderr=True), wanted=sys.stdout.isatty())
        with watched as rows, interrupts(budget.stop, partial(acknowledge, "what is decided follows")):
            run = explore(deployment, budget, rows.progress, engine, reductions, rows.decided, depth)
            return run, run.result()
    except (SolverUndecided, ReplayMismatch) as error:
        complain(f"no verdict: {error}")
        raise typer.Exit(EXIT_UNDECIDED) from None


def acknowledge(what: str) -> None:
    """Say that a request to stop was heard. A signal may come while a stream is written to, so none is used."""
    os.write(STANDARD_ERROR, f"stopping; {what}\n".encode())
