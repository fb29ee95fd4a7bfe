"""Options of ``proofka risk``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from proofka.checker.cli.completing import complete_property
from proofka.checker.cli.options import seconds_of


def number_of(text: str) -> float:
    """Return a number of violations a year, 0 or more. Raise typer.BadParameter."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise typer.BadParameter(f"{text!r} is not a number of violations a year, 0 or more")
    return value


RatesFile = Annotated[
    Path | None,
    typer.Option(
        "--rates",
        metavar="FILE",
        help="The rates of faults in YAML: a file of rates, or a project file with rates: (default: rates: in "
        "proofka.yaml of this folder).",
    ),
]
Properties = Annotated[
    list[str] | None,
    typer.Option(
        "--property",
        metavar="P",
        help="A property whose number is computed; repeat for more (default: the required properties).",
        autocompletion=complete_property,
    ),
]
AllRuns = Annotated[
    bool,
    typer.Option(
        "--windows",
        help="For each set of two faults, find the longest time between them in all runs; this makes numbers smaller, "
        "and takes some checks for each set (default: off).",
    ),
]
AtMost = Annotated[
    float | None,
    typer.Option(
        "--at-most",
        metavar="X",
        parser=number_of,
        help="The largest accepted number of violations a year; X decides the exit status (default: none).",
    ),
]
WithRepairs = Annotated[
    bool, typer.Option("--repairs", help="Also search for repairs, and print the numbers with each (default: off).")
]
SecondsForRepairs = Annotated[
    float,
    typer.Option(
        "--repair-time", metavar="SECONDS", parser=seconds_of, help="Stop the search for repairs after SECONDS."
    ),
]
