"""The pipelines of a described cluster: a line about the cluster, and a line for each pipeline, as many as fit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from proofka.reports import lines, wording


class DescribedReport:
    """A cluster in words, and its pipelines by number and name; those that cannot be checked are marked.

    ``most``: the largest number of lines, or None for all.
    """

    def __init__(
        self, place: str, cluster: str, pipelines: Sequence[tuple[int, str, bool]], most: int | None = None
    ) -> None:
        self.place = place
        self.cluster = cluster
        self.pipelines = pipelines
        self.most = most

    @property
    def lines(self) -> int:
        """The number of lines."""
        return 1 + len(self._shown) + bool(self._left)

    @property
    def _shown(self) -> Sequence[tuple[int, str, bool]]:
        every = self.pipelines if len(self.pipelines) > 1 else ()
        fit = len(every) if self.most is None else max(0, self.most - 2)
        return every if len(every) <= fit + 1 else every[:fit]

    @property
    def _left(self) -> int:
        return len(self.pipelines) - len(self._shown) if len(self.pipelines) > 1 else 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        yield from self._line(f"{self.place}: {self.cluster}", width, style="bold")
        for number, name, is_wrong in self._shown:
            yield from self._line(f"{name}{': cannot be checked' if is_wrong else ''}", width, f"{number:>3}  ")
        if self._left:
            yield from self._line(wording.counted(self._left, "more pipeline"), width, "     ", style="dim")

    @staticmethod
    def _line(text: str, width: int, first: str = "", style: str = "") -> list[Text]:
        return lines.first_of([list(lines.wrapped(text, width, first=first, rest="     ", style=style))], 1, width)
