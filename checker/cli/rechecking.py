"""``proofka verify`` of a bundle, and exploring again what a result speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from checker.cli.endings import EXIT_UNDECIDED, EXIT_VIOLATED
from checker.cli.errors import complain, fail, plain

if TYPE_CHECKING:
    from checker.bundle import Bundle

ZIP = b"PK"
"""How every zip file begins."""


def is_bundle(file: Path) -> bool:
    """Whether a file is to be read as a bundle: by its name, or by how it begins."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return file.suffix.lower() == ".zip" or stream.read(len(ZIP)) == ZIP


def load_bundle(file: Path, status: int = EXIT_VIOLATED) -> Bundle:
    """The content of a bundle; ends the command with ``status`` and a line for each part that is damaged."""
    from checker.archive import MAX_FILE, DamagedBundle
    from checker.bundle import read_bundle
    from reports.schema import problem

    if file.stat().st_size > MAX_FILE:
        fail(f"{file}: is larger than {MAX_FILE >> 20} MB, so it is no bundle")
    try:
        bundle = read_bundle(file.read_bytes())
    except DamagedBundle as error:
        for one in error.problems:
            complain(f"{file}: {one}")
        raise typer.Exit(status) from None
    if reason := problem(bundle.document):
        complain(f"{file}: result.json: {reason}")
        raise typer.Exit(status)
    return bundle


def verify_bundle(file: Path, *, again: bool) -> tuple[tuple[str, ...], Mapping[int, tuple[str, ...]]]:
    """Check a bundle again: what was found, a line each, and the steps of traces by the line that they follow.

    Ends the command where something is not as it was written.
    """
    bundle = load_bundle(file)
    from checker.recheck import is_of_this_model, of_another_model, recheck
    from checker.verify import TamperedDocument

    whole = f"as it was written: {len(bundle.members) + 1} members, the directory and the hashes of all"
    sources = tuple(f"made of {one.name} (SHA-256 {one.sha256}), which is not in it" for one in bundle.sources)
    try:
        if not is_of_this_model(bundle):
            for line in (whole, *of_another_model(bundle), *sources):
                typer.echo(plain(line))
            raise typer.Exit(EXIT_UNDECIDED)
        found = recheck(bundle)
        counts = count_again(bundle.document) if again else (NOT_COUNTED,)
    except TamperedDocument as error:
        complain(f"{file}: {error}")
        raise typer.Exit(EXIT_VIOLATED) from None
    return (whole, *found.lines, *counts, *sources), {number + 1: steps for number, steps in found.steps.items()}


NOT_COUNTED = "counts: not compared; --recount explores again"


def count_again(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Explore again what a result speaks of. Raises TamperedDocument."""
    from checker.budget import Budget
    from checker.interruption import interrupts
    from checker.recount import NothingCounted, RecountStopped, recount

    budget = Budget()
    try:
        with interrupts(budget.stop):
            return recount(document, budget)
    except NothingCounted as nothing:
        complain(f"the counts were not compared: {nothing}")
        raise typer.Exit(EXIT_UNDECIDED) from None
    except RecountStopped as stopped:
        complain(f"exploring again was stopped ({stopped}): the counts were not compared")
        raise typer.Exit(EXIT_UNDECIDED) from None
