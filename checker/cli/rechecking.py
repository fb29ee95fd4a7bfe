"""``proofka verify`` of a bundle, and exploring again what a result speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from checker.cli.endings import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED
from checker.cli.errors import complain, fail

if TYPE_CHECKING:
    from checker.bundle import Bundle
    from checker.recount import Recounted
    from checker.verify import Verification

ZIP = b"PK"
"""How every zip file begins."""


SIGNS_OF_A_RESULT = ('"verdicts"', '"deployment"', '"format"')
"""What stands in every file that --json wrote."""

LOOKED_AT = 64 << 20
"""In so many bytes of a file is looked for the signs."""


def is_bundle(file: Path) -> bool:
    """Whether a file is to be read as a bundle: by its name, or by how it begins."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return file.suffix.lower() == ".zip" or stream.read(len(ZIP)) == ZIP


def is_result(file: Path) -> bool:
    """Tell a bundle, or what --json wrote, by what stands in the file: configurations can be JSON as well."""
    if is_bundle(file) or not file.is_file():
        return is_bundle(file)
    with file.open("rb") as opened:
        text = opened.read(LOOKED_AT)
    return text.lstrip()[:1] == b"{" and all(sign.encode() in text for sign in SIGNS_OF_A_RESULT)


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


@dataclass(frozen=True)
class Found:
    """What checking again found: lines, the traces that were replayed with their steps, and how the command ends."""

    lines: tuple[str, ...]
    replayed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    status: int = EXIT_HOLDS


def verify_bundle(file: Path, *, again: bool) -> Found:
    """Check a bundle again. Ends the command where something is not as it was written."""
    bundle = load_bundle(file)
    from checker.recheck import is_of_this_model, of_another_model, recheck, same_deployment
    from checker.tampered import TamperedDocument

    whole = f"hashes: those of all {len(bundle.members) + 1} members and of the directory are right"
    sources = tuple(f"it says that it was made of {one.name} (SHA-256 {one.sha256})" for one in bundle.sources)
    try:
        if not is_of_this_model(bundle.document):
            same_deployment(bundle)
            return Found((whole, *of_another_model(bundle.document), *sources), status=EXIT_UNDECIDED)
        found = _with_counts(recheck(bundle), bundle.document, again=again)
    except TamperedDocument as error:
        complain(f"{file}: {error}")
        raise typer.Exit(EXIT_VIOLATED) from None
    return replace(found, lines=(whole, *found.lines, *sources))


def verify_result(file: Path, document: Mapping[str, Any], *, again: bool) -> Found:
    """Check a result again that was read from a file. Ends the command where something is not as it was written."""
    from checker.recheck import is_of_this_model, of_another_model
    from checker.tampered import TamperedDocument
    from checker.verify import verify

    try:
        if not is_of_this_model(document):
            return Found(of_another_model(document), status=EXIT_UNDECIDED)
        return _with_counts(verify(document), document, again=again)
    except TamperedDocument as error:
        complain(f"{file}: {error}")
        raise typer.Exit(EXIT_VIOLATED) from None


def _with_counts(found: Verification, document: Mapping[str, Any], *, again: bool) -> Found:
    """What was found, what exploring again finds, and what nothing could be said of. Raises TamperedDocument."""
    left_open = found.open
    if again:
        counts = _count_again(document)
        lines, left_open = counts.lines, (*left_open, *counts.open)
    else:
        of = f", for the passes too: {', '.join(found.passes)}" if found.passes else ""
        lines = (f"counts: not compared; --recount explores again{of}",)
    not_all = tuple(f"not verified: {one}" for one in left_open)
    return Found((*found.lines, *lines, *not_all), found.replayed, EXIT_UNDECIDED if not_all else EXIT_HOLDS)


def _count_again(document: Mapping[str, Any]) -> Recounted:
    """Explore again what a result speaks of. Raises TamperedDocument."""
    from checker.budget import Budget
    from checker.interruption import interrupts
    from checker.recount import NothingCounted, Recounted, RecountStopped, recount

    budget = Budget()
    try:
        with interrupts(budget.stop):
            return recount(document, budget)
    except NothingCounted as nothing:
        return Recounted((), (f"counts: {nothing}",))
    except RecountStopped as stopped:
        return Recounted((), (f"counts: exploring again was stopped ({stopped})",))
