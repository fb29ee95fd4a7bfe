"""What a check has decided so far, and what it explores: on a terminal, until the whole answer takes its place."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from properties.verdict import Progress, Verdict
from reports import wording
from reports.progress import describe
from reports.table import STYLE


class LiveRows:
    """A context that shows a row for each verdict that is known, and a line on what is being explored.

    The rows vanish at the end; nothing is shown where nobody watches.
    """

    def __init__(self, console: Console, *, wanted: bool = True) -> None:
        watched = wanted and console.is_terminal
        self._live = Live(console=console, transient=True, refresh_per_second=8) if watched else None
        self._verdicts: dict[str, Verdict] = {}
        self._line = "reading the configuration, building its model"

    def __enter__(self) -> LiveRows:
        if self._live:
            self._live.start()
            self._show()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def progress(self, progress: Progress) -> None:
        """Show what is being explored."""
        self._line = describe(progress)
        self._show()

    def decided(self, verdict: Verdict) -> None:
        """Show a verdict, in the place of an earlier one on the same property."""
        self._verdicts[verdict.property] = verdict
        self._show()

    def _show(self) -> None:
        if self._live:
            rows = [_row(verdict) for verdict in self._verdicts.values()]
            self._live.update(Group(*rows, Text(self._line, style="dim", no_wrap=True, overflow="ellipsis")))


def _row(verdict: Verdict) -> Text:
    sets = ", ".join(wording.fault_set(cut_set) for cut_set in verdict.cut_sets)
    said = f"{wording.SYMBOL[verdict.status]} {wording.plain(verdict.property)}"
    row = Text(said, style=STYLE[verdict.status], no_wrap=True, overflow="ellipsis")
    return row.append(f"  {sets}" if sets else f"  {wording.status(verdict)}, {wording.bounds(verdict.coverage)}")
