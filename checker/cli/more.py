"""Search after the printed answer: changes that help, and other values of durations and assumptions."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from proofka.checker.cli.errors import complain, fail
from proofka.checker.cli.exploring import acknowledge
from proofka.checker.interruption import interrupts

if TYPE_CHECKING:
    from proofka.checker.budget import Budget
    from proofka.checker.check import Run
    from proofka.properties.verdict import Result

DEFAULT_MORE = 10.0
"""Seconds for the whole search after the answer, unless ``--more`` names another number."""


def with_more(run: Run, result: Result, budget: Budget, seconds: float) -> Result:
    """Add to a result the single changes that prevent violations, and the values that would change a verdict.

    The search ends after ``seconds``. The printed answer and its exit status never change.
    """
    from proofka.checker.explanation import single_changes
    from proofka.checker.sensitivity import sensitivities
    from proofka.checker.thresholds import thresholds
    from proofka.reports.terminal import console

    stop = threading.Event()
    with (
        console(stderr=True).status(
            f"looking for changes that help, at most {seconds:g} s (--more SECONDS; Ctrl-C ends the search)"
        ),
        _until(seconds, stop) as over,
    ):
        result = result if result.preventions is not None else single_changes(run, result, stop, seconds)
        turning = () if stop.is_set() else tuple(thresholds(run, result.verdicts, budget, stop))
        found = () if stop.is_set() else sensitivities(run.deployment, result.verdicts, stop)
    if stop.is_set():
        why = f"time limit of {seconds:g} s reached" if over.is_set() else "interrupted"
        complain(f"more: {why}: some changes and values were not tried (--more SECONDS sets the limit)")
    return replace(result, sensitivities=found, thresholds=turning, others_tried=not stop.is_set())


DEFAULT_STABILITY = 60.0
"""Seconds for the search at other sizes, unless ``--stability-time`` names another number."""


def refuse_stability(*, quiet: bool, pipelines: int) -> None:
    """End the command if ``--stability`` could not show its table."""
    if quiet:
        fail("--stability prints a table, and --quiet one sentence: leave one of them out")
    if pipelines > 1:
        fail(f"--stability takes one pipeline, not {pipelines}: choose by --topic or --pipeline")


def with_stability(run: Run, result: Result, seconds: float) -> Result:
    """Add the verdicts at other sizes to a result.

    The search ends after ``seconds``. The printed answer and its exit status never change.
    """
    from proofka.checker.stability import stability
    from proofka.reports.terminal import console

    stop = threading.Event()
    said = f"checking other sizes, at most {seconds:g} s (--stability-time SECONDS; Ctrl-C ends the search)"
    with console(stderr=True).status(said), _until(seconds, stop) as over:
        rows = stability(run.deployment, result.verdicts, stop)
    if stop.is_set():
        why = f"time limit of {seconds:g} s reached" if over.is_set() else "interrupted"
        complain(f"stability: {why}: some sizes were not decided (--stability-time SECONDS sets the limit)")
    return replace(result, stability=rows)


def with_preventions(run: Run, result: Result) -> Result:
    """Add the changes that would have prevented each violation to a result, up to Ctrl-C."""
    from proofka.checker.explanation import preventions
    from proofka.reports.terminal import console

    stop = threading.Event()
    with console(stderr=True).status("trying changes that prevent a violation"), interrupts(stop):
        found = preventions(run.deployment, result.verdicts, stop)
    if stop.is_set():
        complain("interrupted: some changes were not tried")
    return replace(result, preventions=found)


@contextmanager
def _until(seconds: float, stop: threading.Event) -> Iterator[threading.Event]:
    """Set ``stop`` in the block when the time is over or the user interrupts.

    The yielded event is set if the time is over.
    """
    over = threading.Event()

    def end() -> None:
        over.set()
        stop.set()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        with interrupts(stop, partial(acknowledge, "the answer stands")):
            yield over
    finally:
        timer.cancel()
