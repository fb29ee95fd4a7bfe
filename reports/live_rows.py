"""The verdicts so far and the current exploration, shown on a terminal until the answer replaces them."""

from __future__ import annotations

from typing import Self

from rich.console import Console, Group
from rich.text import Text

from proofka.properties.verdict import Progress, Verdict
from proofka.reports import wording
from proofka.reports.progress import WhileWatched, describe
from proofka.reports.table import STYLE


class LiveRows(WhileWatched):
    """A row for each known verdict, and a line about the current exploration."""

    def __init__(self, console: Console, *, wanted: bool = True) -> None:
        super().__init__(console, wanted=wanted)
        self._verdicts: dict[str, Verdict] = {}
        self._line = "reading the configuration, building its model"

    def __enter__(self) -> Self:
        super().__enter__()
        self._show()
        return self

    def progress(self, progress: Progress) -> None:
        """Show the current exploration."""
        self._line = describe(progress)
        self._show()

    def decided(self, verdict: Verdict) -> None:
        """Show a verdict in place of an earlier verdict on the same property."""
        self._verdicts[verdict.property] = verdict
        self._show()

    def _show(self) -> None:
        if self.is_shown:
            rows = [_row(verdict) for verdict in self._verdicts.values()]
            self.show(Group(*rows, Text(self._line, style="dim", no_wrap=True, overflow="ellipsis")))


def _row(verdict: Verdict) -> Text:
    sets = ", ".join(wording.fault_set(cut_set) for cut_set in verdict.cut_sets)
    said = f"{wording.SYMBOL[verdict.status]} {wording.plain(verdict.property)}"
    row = Text(said, style=STYLE[verdict.status], no_wrap=True, overflow="ellipsis")
    return row.append(f"  {sets}" if sets else f"  {wording.status(verdict)}, {wording.bounds(verdict)}")
