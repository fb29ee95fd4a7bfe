"""Obligations as files, one for each, that any solver for SMT-LIB 2.6 reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from proofka.checker.obligations.obligation import Obligation
from proofka.model.input.whole_file import write_whole

SUFFIX = ".smt2"


def write(obligations: Iterable[Obligation], folder: Path) -> None:
    """Write each obligation into a file of its name. Raise OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in obligations:
        write_whole(folder / f"{one.name}{SUFFIX}", one.file_text())
