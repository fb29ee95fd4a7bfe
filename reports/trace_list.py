"""The traces of a result, one in each row: ``proofka trace FILE``."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from proofka.reports import reproduced, wording
from proofka.reports.story import Telling


class TraceList:
    """Number, steps, fault set and violated properties of each trace. Numbers count from 1.

    A further column has the outcomes of replays, if there are any.
    """

    def __init__(self, tellings: Sequence[Telling]) -> None:
        self.tellings = tellings

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
        table.add_column("trace", justify="right", no_wrap=True)
        table.add_column("steps", justify="right", no_wrap=True)
        table.add_column("faults", overflow="fold")
        table.add_column("violates", overflow="fold")
        replayed = any(telling.reproductions for telling in self.tellings)
        if replayed:
            table.add_column("replayed", overflow="fold")
        for number, telling in enumerate(self.tellings, 1):
            names = wording.listed([verdict.property for verdict, _ in telling.violated])
            outcomes = "\n".join(
                wording.plain(f"{reproduced.brief(one)}, {one.kafka}") for one in telling.reproductions
            )
            table.add_row(
                Text(str(number)),
                Text(wording.number(len(telling.steps))),
                Text(
                    wording.plain(wording.fault_set(telling.faults)) + ("" if telling.faults else " (no fault needed)")
                ),
                Text(wording.plain(names), style="bold red"),
                *([Text(outcomes)] if replayed else []),
            )
        yield table
