"""Reports of the progress of explorations: states so far, and their rate."""

from __future__ import annotations

import time
from collections.abc import Callable

from proofka.checker.combinations import Combination
from proofka.checker.exploration import AnyExploration
from proofka.properties.verdict import Progress

OnProgress = Callable[[Progress], None]


def reporter_of(
    exploration: AnyExploration, size: int, on_progress: OnProgress | None, in_time: str | None = None
) -> Callable[[Combination], None] | None:
    """Return a function that reports the progress of an exploration after each combination; None without a listener.

    ``size``: the number of faults of the layer. ``in_time``: the property of a timed re-exploration.
    """
    if on_progress is None:
        return None
    started, states = time.monotonic(), exploration.meter.states

    def report(combination: Combination) -> None:
        meter = exploration.meter
        rate = (meter.states - states) / max(time.monotonic() - started, 1e-3)
        on_progress(Progress(size, exploration.named(combination), meter.states, rate, meter.memory, in_time))

    return report
