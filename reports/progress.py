"""The live line of a running exploration, on a terminal only."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from properties.audited import AuditProgress, Stage
from properties.verdict import Progress
from reports import wording


class ProgressLine:
    """A context that shows the latest reading and vanishes at its end; silent where nobody watches."""

    def __init__(self, console: Console, *, wanted: bool = True) -> None:
        watched = wanted and console.is_terminal
        self._live = Live(console=console, transient=True, refresh_per_second=8) if watched else None

    @property
    def is_shown(self) -> bool:
        """Whether anybody watches."""
        return self._live is not None

    def __enter__(self) -> ProgressLine:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def __call__(self, progress: Progress | AuditProgress) -> None:
        if self._live:
            self._live.update(Text(describe(progress), no_wrap=True, overflow="ellipsis"))


def describe(progress: Progress | AuditProgress) -> str:
    """``2 faults {kill, power-loss}: 1,234,567 states, 10.2 M/s, 150 MB``, or what :func:`describe_audit` says."""
    if isinstance(progress, AuditProgress):
        return describe_audit(progress)
    return (
        f"{wording.counted(progress.layer, 'fault')} {wording.fault_set(progress.combination)}: "
        f"{wording.number(progress.states)} states, {_rate(progress.rate)}, {wording.size(progress.memory)}"
    )


def describe_audit(progress: AuditProgress) -> str:
    """``57 of 130 systems explored, 12 violate what is required, about 3 min left``."""
    of = f"{wording.number(progress.done)} of {wording.number(progress.total)}"
    said = {
        Stage.STARTING: "starting Spark",
        Stage.READING: "reading deployments",
        Stage.SIGNING: f"looking for the same among configurations: {of}",
        Stage.EXPLORING: f"{of} systems explored, {wording.number(progress.violated)} violate what is required",
        Stage.WRITING: "writing the tables",
    }[progress.stage]
    return said if progress.seconds_left is None else f"{said}, {wording.about(progress.seconds_left)} left"


def _rate(rate: float) -> str:
    return f"{rate / 1e6:.1f} M/s" if rate >= 1e6 else f"{rate / 1e3:.0f} k/s" if rate >= 1e3 else f"{rate:.0f} /s"
