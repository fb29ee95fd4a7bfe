"""Progress of a running command: a live line on a terminal, or lines of a log."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from proofka.properties.audited import AuditProgress, Stage
from proofka.properties.verdict import Progress
from proofka.reports import wording

LINES_EVERY = 30.0
"""Seconds between two lines of a log."""


class ProgressLog:
    """Progress of an audit as lines of a log: at the start and end of each stage that counts, and in between."""

    def __init__(self, console: Console, every: float = LINES_EVERY) -> None:
        self._console = console
        self._every = every
        self._stage: Stage | None = None
        self._ended = False
        self._printed = time.monotonic()

    def __call__(self, progress: AuditProgress) -> None:
        begins = progress.total > 0 and progress.stage is not self._stage
        ends = progress.total > 0 and progress.done == progress.total and not self._ended
        if begins or ends or time.monotonic() >= self._printed + self._every:
            self._console.print(describe_audit(progress), soft_wrap=True)
            self._stage, self._ended, self._printed = progress.stage, ends, time.monotonic()


class WhileWatched:
    """A live output that disappears at the end of the context; silent without a terminal."""

    def __init__(self, console: Console, *, wanted: bool = True) -> None:
        watched = wanted and console.is_terminal
        self._live = Live(console=console, transient=True, refresh_per_second=8) if watched else None

    @property
    def is_shown(self) -> bool:
        """True if the output is shown."""
        return self._live is not None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def show(self, what: RenderableType) -> None:
        """Show ``what`` in place of the earlier output."""
        if self._live:
            self._live.update(what)


class ProgressLine(WhileWatched):
    """A live line with the latest progress."""

    def __call__(self, progress: Progress | AuditProgress) -> None:
        self.show(Text(describe(progress), no_wrap=True, overflow="ellipsis"))


def describe(progress: Progress | AuditProgress) -> str:
    """Return ``2 faults {kill, power-loss}: 1,234,567 states, 10.2 M/s, 150 MB``, or :func:`describe_audit`."""
    if isinstance(progress, AuditProgress):
        return describe_audit(progress)
    looked_for = "" if progress.in_time is None else f"{progress.in_time} in time, "
    return (
        f"{looked_for}{wording.counted(progress.layer, 'fault')} {wording.fault_set(progress.combination)}: "
        f"{wording.number(progress.states)} states, {_rate(progress.rate)}, {wording.size(progress.memory)}"
    )


def describe_audit(progress: AuditProgress) -> str:
    """Return ``57 of 130 systems explored, 12 violate a required property, about 3 min left``."""
    of = f"{wording.number(progress.done)} of {wording.number(progress.total)}"
    said = {
        Stage.STARTING: "starting Spark",
        Stage.READING: "reading deployments",
        Stage.SIGNING: f"comparing systems: {of} configurations",
        Stage.EXPLORING: f"{of} systems explored, {wording.number(progress.violated)} violate a required property",
        Stage.SPREADING: f"{of} systems that need more memory explored by all executors together",
        Stage.WRITING: "writing the tables",
    }[progress.stage]
    return said if progress.seconds_left is None else f"{said}, {wording.about(progress.seconds_left)} left"


def _rate(rate: float) -> str:
    return f"{rate / 1e6:.1f} M/s" if rate >= 1e6 else f"{rate / 1e3:.0f} k/s" if rate >= 1e3 else f"{rate:.0f} /s"
