"""The reason of each undecided row in the tables of verdicts."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from proofka.properties.verdict import Status, Verdict
from proofka.reports.brief import BriefTable
from proofka.reports.table import VerdictTable
from tests.reports import samples

NOTE = "it was not decided whether violations are possible in time with 2 kills and 1 power-loss"


def undecided(*notes: str, stopped: str | None = None, reached: tuple[str, ...] = ()) -> Verdict:
    coverage = replace(samples.COVERAGE, stopped=stopped, bounds_reached=reached)
    return samples.verdict("log-order", Status.UNKNOWN, coverage=coverage, notes=notes)


def printed(table: object, width: int) -> str:
    console = Console(file=StringIO(), width=width, color_system=None)
    console.print(table)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("table", [BriefTable, VerdictTable])
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (undecided(stopped="time"), "time limit"),
        (undecided(stopped="memory"), "memory limit"),
        (undecided(stopped="lemmas"), "too many timing lemmas"),
        (undecided(reached=("log",)), "bound reached: log"),
        (undecided(), "not explored"),
    ],
)
def test_an_undecided_row_says_why(table: type[BriefTable], width: int, verdict: Verdict, said: str) -> None:
    rows = printed(table([samples.HOLDS, verdict]), width).split("\n\n")[0]
    assert said in rows and rows.count("\n") <= 7
    assert said not in printed(table([samples.HOLDS]), width).split("\n\n")[0]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_note_without_room_in_its_row_is_whole_below(width: int) -> None:
    rows, below = printed(BriefTable([samples.HOLDS, undecided(NOTE)]), width).split("\n\n", 1)
    assert "the reason is below" in rows and max(map(len, rows.splitlines())) <= width and "bounds" in rows
    assert NOTE in " ".join(below.split())
