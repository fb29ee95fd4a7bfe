"""Costs of the supersteps of a distributed search, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from proofka.properties.superstep import Superstep, searches
from proofka.reports.wording import brief, counted, size

HEADINGS = ("step", "expanded", "new", "again", "sent", "bytes", "seconds", "busy", "states", "files")
LEGEND = (
    "expanded: rows whose successors were computed; new: new states; again: known states that a shorter run reached; "
    "sent: rows for other partitions; busy: seconds of all tasks together; states, files: totals after the superstep."
)


class SuperstepTable:
    """A row for each superstep: new rows, rows for other partitions, time and memory."""

    def __init__(self, supersteps: Sequence[Superstep]) -> None:
        self._supersteps = supersteps

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self._supersteps:
            yield Text("no supersteps: every system was explored in memory, or was already known")
            return
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        for heading in HEADINGS:
            table.add_column(heading, justify="right", no_wrap=True)
        for step, cost in enumerate(self._supersteps, 1):
            counts = [brief(count) for count in (cost.expanded, cost.entered, cost.replaced, cost.sent)]
            seconds = [f"{spent:.1f}" for spent in (cost.seconds, cost.busy)]
            table.add_row(str(step), *counts, size(cost.sent_bytes), *seconds, brief(cost.states), size(cost.bytes))
        yield table
        yield Text(self._sentence())
        yield Text(LEGEND, style="dim")

    def _sentence(self) -> str:
        steps = self._supersteps
        depths = [max(step.depth for step in search) for search in searches(steps)]
        for_what = f"for a depth of {depths[0]}"
        if len(depths) > 1:
            for_what = f"in {len(depths)} searches, for depths of {min(depths)} to {max(depths)}, {sum(depths)} in sum"
        return (
            f"{counted(len(steps), 'superstep')} {for_what}; "
            f"{sum(step.sent for step in steps):,} rows ({size(sum(step.sent_bytes for step in steps))}) passed on; "
            f"at most {size(max(step.peak for step in steps))} in one process"
        )
