"""The table of supersteps: readable in 80 columns, and empty without work for Spark."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console

from proofka.properties.superstep import Superstep
from proofka.reports.supersteps import HEADINGS, SuperstepTable

SMALL = Superstep(1, 0, 46_301, 46_301, 0, 4_146, 66_336, 46_301, 2_634_792, 27, 9.621, 8.576, 6.652, 266_874_880)
LARGE = Superstep(
    number=2,
    faults=0,
    expanded=937_329_745,
    entered=937_000_000,
    replaced=329_745,
    sent=61_234_567,
    sent_bytes=929_629_608,
    states=964_739_578,
    bytes=42_942_216_672,
    depth=36,
    seconds=126.3,
    busy=1211.8,
    longest=99.9,
    peak=10**9,
)


def printed(*supersteps: Superstep) -> list[str]:
    out = StringIO()
    Console(file=out, width=80).print(SuperstepTable(supersteps))
    return out.getvalue().splitlines()


def test_a_row_for_each_superstep() -> None:
    heading, first, second, *rest = printed(SMALL, LARGE)
    assert heading.split() == " ".join(HEADINGS).split()
    assert first.split()[:2] == ["1", "46,301"]
    assert second.split()[0] == "2"
    assert not any("…" in line for line in (heading, first, second)), "nothing is cut off"
    assert " ".join(" ".join(rest).split()).startswith(
        "2 supersteps for a depth of 36; 61,238,713 rows (930 MB) passed on; at most 1.0 GB in one process"
    )


def test_nothing_was_handed_to_spark() -> None:
    assert printed() == ["no supersteps: every system was explored in memory, or was already known"]


def test_several_searches() -> None:
    """Each number of faults and each exploration is a separate search."""
    one_fault = replace(LARGE, number=3, faults=1, depth=40)
    other = replace(LARGE, number=1, faults=1, depth=9)
    text = " ".join(" ".join(printed(SMALL, LARGE, one_fault, other)).split())
    assert "4 supersteps in 3 searches, for depths of 9 to 40, 85 in sum;" in text
