"""What the supersteps of a distributed search cost, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from properties.superstep import Superstep
from reports.wording import counted, size


class SuperstepTable:
    """A row for each superstep: what was new in it, what was passed on, and what that took."""

    def __init__(self, supersteps: Sequence[Superstep]) -> None:
        self._supersteps = supersteps

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self._supersteps:
            yield Text("no supersteps: nothing was explored by Spark")
            return
        table = Table(box=None, pad_edge=False)
        for heading in ("superstep", "expanded", "new", "shorter way", "sent", "seconds", "busy", "longest", "states"):
            table.add_column(heading, justify="right")
        table.add_column("files", justify="right")
        for number, step in enumerate(self._supersteps, 1):
            table.add_row(
                str(number),
                f"{step.expanded:,}",
                f"{step.entered:,}",
                f"{step.replaced:,}",
                f"{step.sent:,}",
                f"{step.seconds:.2f}",
                f"{step.busy:.2f}",
                f"{step.longest:.2f}",
                f"{step.states:,}",
                size(step.bytes),
            )
        yield table
        yield Text(self._sentence())

    def _sentence(self) -> str:
        last = self._supersteps[-1]
        sent, moved = (sum(values) for values in zip(*((s.sent, s.sent_bytes) for s in self._supersteps), strict=True))
        return (
            f"{counted(len(self._supersteps), 'superstep')} for a depth of {last.depth}; {sent:,} rows "
            f"({size(moved)}) passed on; at most {size(max(s.peak for s in self._supersteps))} in one process"
        )
