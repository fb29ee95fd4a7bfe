"""Observation of a running audit: the finished systems in its folder, the remaining time, and interrupts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from proofka.properties.audited import AuditProgress, Stage
from proofka.properties.verdict import Status

if TYPE_CHECKING:
    from pyspark import SparkContext

T = TypeVar("T")
OnProgress = Callable[[AuditProgress], None]
Count = Callable[[], tuple[int, int]]
"""Number of finished systems, and the number of these with a violation."""

BETWEEN_LOOKS = 0.5
"""Seconds between two looks."""

SHARE_OF_LOOKING = 0.05
"""Part of the time that looking can take; a large folder is listed less often."""

RECENT = 12
"""Number of latest explorations from which the remaining time is estimated."""

FEWEST = 4
"""Smallest number of finished explorations for an estimate."""


class Interrupted(Exception):
    """The user asked to stop before the audit was done; ``progress`` is its progress until then."""

    def __init__(self, progress: AuditProgress) -> None:
        super().__init__(f"interrupted while {progress.stage}")
        self.progress = progress


@dataclass
class _Watched:
    """A stage, and the times at which it began and at which each finished item was seen."""

    stage: Stage
    total: int
    count: Count
    moments: list[float] = field(default_factory=lambda: [time.monotonic()])
    done_before: int | None = None

    def look(self) -> AuditProgress:
        done, violated = self.count()
        now = time.monotonic()
        if self.done_before is None:
            self.done_before = done
        self.moments += [now] * (done - self.done_before - len(self.moments) + 1)
        left = seconds_left(self.moments, self.total - done, now)
        return AuditProgress(self.stage, done, self.total, violated, left)


class Watch:
    """Progress of an audit: the thread of the audit enters stages, and another thread reads the progress.

    The files in the folder are counted, so executors need not report.
    """

    def __init__(self, on_progress: OnProgress | None = None, stop: threading.Event | None = None) -> None:
        self.stop = stop or threading.Event()
        self._on_progress = on_progress
        self._watched = _Watched(Stage.STARTING, 0, lambda: (0, 0))

    def begin(self, stage: Stage, total: int = 0, count: Count = lambda: (0, 0)) -> None:
        """Enter a stage. Raise :class:`Interrupted` instead after a request to stop."""
        if self.stop.is_set():
            raise Interrupted(self.look())
        if self._watched.total:
            self.tell()
        self._watched = _Watched(stage, total, count)

    def look(self) -> AuditProgress:
        """Return the progress of the audit."""
        return self._watched.look()

    def tell(self) -> None:
        """Report the progress of the audit to the listener."""
        if self._on_progress is not None:
            self._on_progress(self.look())

    def run(self, context: SparkContext, work: Callable[[], T]) -> T:
        """Do the work in another thread, and report progress until it is done.

        Raise the exceptions of the work, and :class:`Interrupted` after a request to stop, which also cancels Spark's
        jobs.
        """
        results: list[T] = []
        errors: list[BaseException] = []

        def in_its_thread() -> None:
            try:
                results.append(work())
            except BaseException as error:
                errors.append(error)

        worker = threading.Thread(target=in_its_thread, daemon=True)
        worker.start()
        pause = BETWEEN_LOOKS
        while worker.is_alive():
            worker.join(pause)
            if self.stop.is_set():
                context.cancelAllJobs()
            elif self._on_progress is not None:
                started = time.monotonic()
                self.tell()
                pause = max(BETWEEN_LOOKS, (time.monotonic() - started) / SHARE_OF_LOOKING)
        if errors and self.stop.is_set():
            raise Interrupted(self.look()) from errors[0]
        if errors:
            raise errors[0]
        return results[0]


def seconds_left(moments: Sequence[float], left: int, now: float) -> float | None:
    """Return the estimated seconds for ``left`` more items.

    ``moments``: the times at which the work began and at which each item was done. The costliest items come first, so
    the latest items predict the rest better than all items. The estimate is still too long on average, and grows while
    one item delays all others.
    """
    finished = len(moments) - 1
    if finished < FEWEST:
        return None
    recent = min(RECENT, finished)
    return left * (now - moments[-1 - recent]) / recent


class Violations:
    """The number of systems that violate a required property; each file is read once."""

    def __init__(self, required: Mapping[str, Collection[str]]) -> None:
        self._required = required
        self._violated: dict[str, bool] = {}

    def among(self, found: Mapping[str, Path]) -> int:
        """Return this number among the systems in these files."""
        import pyarrow.parquet as pq

        for system in found.keys() - self._violated.keys():
            rows = pq.read_table(found[system], columns=["property", "status"]).to_pylist()
            violated = {row["property"] for row in rows if row["status"] == Status.VIOLATED}
            self._violated[system] = not violated.isdisjoint(self._required[system])
        return sum(self._violated.values())
