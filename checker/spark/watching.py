"""Watching an audit while it runs: what has appeared in its folder, how long the rest may take, and interrupts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from properties.audited import AuditProgress, Stage
from properties.verdict import Status

if TYPE_CHECKING:
    from pyspark import SparkContext

T = TypeVar("T")
OnProgress = Callable[[AuditProgress], None]
Count = Callable[[], tuple[int, int]]
"""How many are done, and how many of these violate something."""

BETWEEN_LOOKS = 0.5
"""Seconds between two looks."""

SHARE_OF_LOOKING = 0.05
"""The part of the time that looking may take: a large folder is listed less often."""

RECENT = 12
"""From so many of the latest explorations it is estimated how long the rest will take."""

FEWEST = 4
"""While fewer explorations are done there is no estimate."""


class Interrupted(Exception):
    """Somebody asked to stop before the audit was done; ``progress`` says how far it came."""

    def __init__(self, progress: AuditProgress) -> None:
        super().__init__(f"interrupted while {progress.stage}")
        self.progress = progress


@dataclass
class _Watched:
    """A stage, and the moments at which it began and at which each that is done was seen to be done."""

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
    """Who runs an audit says in which stage it is; who watches, from another thread, sees how far it has come.

    What counts is what stands in the folder, so executors need not report to anybody.
    """

    def __init__(self, on_progress: OnProgress | None = None, stop: threading.Event | None = None) -> None:
        self.stop = stop or threading.Event()
        self._on_progress = on_progress
        self._watched = _Watched(Stage.STARTING, 0, lambda: (0, 0))

    def begin(self, stage: Stage, total: int = 0, count: Count = lambda: (0, 0)) -> None:
        """Enter a stage. Raises :class:`Interrupted` instead where somebody asked to stop."""
        if self.stop.is_set():
            raise Interrupted(self.look())
        if self._watched.total:
            self.tell()
        self._watched = _Watched(stage, total, count)

    def look(self) -> AuditProgress:
        """How far the audit has come."""
        return self._watched.look()

    def tell(self) -> None:
        """Say how far the audit has come to whoever listens."""
        if self._on_progress is not None:
            self._on_progress(self.look())

    def run(self, context: SparkContext, work: Callable[[], T]) -> T:
        """Do the work in another thread, and report until it is done.

        Raises what the work raises, and :class:`Interrupted` where it was stopped; then Spark's jobs are as well.
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
    """How long ``left`` more will take. ``moments``: when the work began, and when each that is done was.

    The costliest come first, so the latest tell more of the rest than all do; the estimate is still rather too long,
    and grows while one holds all others up.
    """
    finished = len(moments) - 1
    if finished < FEWEST:
        return None
    recent = min(RECENT, finished)
    return left * (now - moments[-1 - recent]) / recent


class Violations:
    """How many systems violate a property that is required of them; each file is read once."""

    def __init__(self, required: Mapping[str, Collection[str]]) -> None:
        self._required = required
        self._violated: dict[str, bool] = {}

    def among(self, found: Mapping[str, Path]) -> int:
        """Of the systems in these files."""
        import pyarrow.parquet as pq

        for system in found.keys() - self._violated.keys():
            rows = pq.read_table(found[system], columns=["property", "status"]).to_pylist()
            violated = {row["property"] for row in rows if row["status"] == Status.VIOLATED}
            self._violated[system] = not violated.isdisjoint(self._required[system])
        return sum(self._violated.values())
