"""The search that follows a printed answer: changes that help, other values of durations and assumptions."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from checker.cli.errors import complain
from checker.cli.exploring import acknowledge
from checker.interruption import interrupts

if TYPE_CHECKING:
    from checker.budget import Budget
    from checker.check import Run
    from properties.verdict import Result

DEFAULT_MORE = 10.0
"""Seconds for everything that a check looks for after its answer, unless ``--more`` says otherwise."""


def with_more(run: Run, result: Result, budget: Budget, seconds: float) -> Result:
    """Add to a result what single changes prevent and other values would change, until the time is over.

    Whatever ends the search, the answer and its exit status stay.
    """
    from checker.explanation import single_changes
    from checker.sensitivity import sensitivities
    from checker.thresholds import thresholds
    from reports.terminal import console

    stop = threading.Event()
    with (
        console(stderr=True).status(f"looking for more, at most {seconds:g} s (Ctrl-C ends it; --more SECONDS)"),
        _until(seconds, stop) as over,
    ):
        result = result if result.preventions is not None else single_changes(run, result, stop, seconds)
        turning = () if stop.is_set() else tuple(thresholds(run, result.verdicts, budget, stop))
        found = () if stop.is_set() else sensitivities(run.deployment, result.verdicts, stop)
    if stop.is_set():
        why = f"{seconds:g} s were not enough" if over.is_set() else "interrupted"
        complain(f"more: {why}: not every change and other value was tried (--more SECONDS gives more time)")
    return replace(result, sensitivities=found, thresholds=turning, others_tried=not stop.is_set())


@contextmanager
def _until(seconds: float, stop: threading.Event) -> Iterator[threading.Event]:
    """Within the block ``stop`` is set once the time is over, which sets the event given too, or by an interrupt."""
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
