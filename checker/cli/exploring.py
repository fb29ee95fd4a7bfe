"""Run an exploration with live rows and progress. Ctrl-C keeps the verdicts decided before."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from proofka.checker.cli.endings import EXIT_UNDECIDED
from proofka.checker.cli.errors import fail
from proofka.checker.interruption import interrupts

if TYPE_CHECKING:
    from proofka.checker.budget import Budget
    from proofka.checker.check import Run
    from proofka.checker.deepening import Depth
    from proofka.checker.engine import Engine
    from proofka.checker.reductions.choice import Reduction
    from proofka.model.deployment.deployment import Deployment
    from proofka.properties.verdict import Result

STANDARD_ERROR = 2
"""File descriptor of standard error. Messages go to the descriptor itself while another stream is in use."""


def run_check(
    deployment: Deployment,
    budget: Budget,
    engine: Engine,
    reductions: frozenset[Reduction],
    depth: Depth | None = None,
) -> tuple[Run, Result]:
    """Explore, with live rows and a progress line if standard output is a terminal.

    Ctrl-C ends the exploration; the result has the verdicts decided before. If the solver is undecided, or a trace
    cannot be replayed, end the command.
    """
    from proofka.checker.check import explore
    from proofka.checker.solver import SolverUndecided
    from proofka.checker.traces import ReplayMismatch
    from proofka.reports.live_rows import LiveRows
    from proofka.reports.terminal import console

    try:
        watched = LiveRows(console(stderr=True), wanted=sys.stdout.isatty())
        with watched as rows, interrupts(budget.stop, partial(acknowledge, "what is decided follows")):
            run = explore(deployment, budget, rows.progress, engine, reductions, rows.decided, depth)
            return run, run.result()
    except (SolverUndecided, ReplayMismatch) as error:
        fail(f"no verdict: {error}", EXIT_UNDECIDED)


def acknowledge(what: str) -> None:
    """Print that a request to stop was received.

    The signal can arrive while a stream is being written, so this function writes to the file descriptor.
    """
    os.write(STANDARD_ERROR, f"stopping; {what}\n".encode())
