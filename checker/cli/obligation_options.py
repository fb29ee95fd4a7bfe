"""Options about obligations: the solver to ask besides Z3, and the folder for the files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class SecondSolver(StrEnum):
    """The solvers that can be asked besides Z3."""

    CVC5 = "cvc5"


AskedToo = Annotated[
    SecondSolver | None,
    typer.Option(
        "--solver",
        help="Ask this solver too for everything that the verdicts leave to Z3, and withdraw the verdicts if the two "
        "disagree (default: none).",
    ),
]
ObligationsFolder = Annotated[
    Path | None,
    typer.Option(
        "--obligations",
        metavar="DIR",
        help="Write everything that the verdicts leave to Z3 into DIR, as SMT-LIB files for other solvers (default: "
        "none).",
    ),
]
