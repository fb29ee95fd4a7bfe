"""``proofka verify`` for a bundle, and a new exploration for a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from proofka.checker.cli.endings import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED
from proofka.checker.cli.errors import complain, fail

if TYPE_CHECKING:
    from proofka.checker.bundle import Bundle
    from proofka.checker.reexploration import Recounted
    from proofka.checker.timing.network import Contradiction
    from proofka.checker.verify import Verification

ZIP = b"PK"
"""The first bytes of every zip file."""


SIGNS_OF_A_RESULT = ('"verdicts"', '"deployment"', '"format"')
"""Texts that occur in every file that ``--json`` wrote."""

LOOKED_AT = 64 << 20
"""Bytes at the start of a file that are searched for the texts of a result."""


def is_bundle(file: Path) -> bool:
    """Tell whether a file must be read as a bundle: by its name, or by its first bytes."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return file.suffix.lower() == ".zip" or stream.read(len(ZIP)) == ZIP


def is_result(file: Path) -> bool:
    """Tell whether a file is a bundle or a result of ``--json``.

    The file's content decides, because configurations can be JSON as well.
    """
    if is_bundle(file) or not file.is_file():
        return is_bundle(file)
    with file.open("rb") as opened:
        text = opened.read(LOOKED_AT)
    return text.lstrip()[:1] == b"{" and all(sign.encode() in text for sign in SIGNS_OF_A_RESULT)


def load_bundle(file: Path, status: int = EXIT_VIOLATED) -> Bundle:
    """Return the content of a bundle.

    If a part is damaged, print a line for each damaged part and end the command with ``status``.
    """
    from proofka.checker.archive import MAX_FILE, DamagedBundle
    from proofka.checker.bundle import read_bundle
    from proofka.reports.schema import problem

    if file.stat().st_size > MAX_FILE:
        fail(f"{file}: is no bundle: it is larger than {MAX_FILE >> 20} MB")
    try:
        bundle = read_bundle(file.read_bytes())
    except DamagedBundle as error:
        for one in error.problems:
            complain(f"{file}: {one}")
        raise typer.Exit(status) from None
    if reason := problem(bundle.document):
        fail(f"{file}: result.json: {reason}", status)
    return bundle


@dataclass(frozen=True)
class Found:
    """The outcome of a verification: lines to print, the replayed traces with their steps, and the exit status.

    ``cycles``: for each property whose verdict rests on timing lemmas, the contradictions that a new exploration found.
    """

    lines: tuple[str, ...]
    replayed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    status: int = EXIT_HOLDS
    cycles: Mapping[str, tuple[Contradiction, ...]] = field(default_factory=dict)


def verify_bundle(file: Path, bundle: Bundle, *, again: bool) -> Found:
    """Verify a bundle that was read from a file. End the command if a part differs from what was written."""
    from proofka.checker.bundle_check import fits_its_result, is_of_this_model, of_another_model, recheck
    from proofka.checker.tampered import TamperedDocument

    whole = f"hashes: correct for all {len(bundle.members) + 1} members and for the directory"
    sources = tuple(f"source named in the bundle: {one.name} (SHA-256 {one.sha256})" for one in bundle.sources)
    try:
        if not is_of_this_model(bundle.document):
            fits_its_result(bundle)
            return Found((whole, *of_another_model(bundle.document), *sources), status=EXIT_UNDECIDED)
        found = _with_counts(recheck(bundle), bundle.document, again=again)
    except TamperedDocument as error:
        fail(f"{file}: {error}", EXIT_VIOLATED)
    return replace(found, lines=(whole, *found.lines, *sources))


def verify_result(file: Path, document: Mapping[str, Any], *, again: bool) -> Found:
    """Verify a result that was read from a file. End the command if a part differs from what was written."""
    from proofka.checker.bundle_check import is_of_this_model, of_another_model
    from proofka.checker.tampered import TamperedDocument
    from proofka.checker.verify import verify

    try:
        if not is_of_this_model(document):
            return Found(of_another_model(document), status=EXIT_UNDECIDED)
        return _with_counts(verify(document), document, again=again)
    except TamperedDocument as error:
        fail(f"{file}: {error}", EXIT_VIOLATED)


def _with_counts(found: Verification, document: Mapping[str, Any], *, again: bool) -> Found:
    """Return the outcome with the compared counts, and with a line for each part that could not be verified.

    Raise TamperedDocument.
    """
    left_open = found.open
    cycles: Mapping[str, tuple[Contradiction, ...]] = {}
    if again:
        counts = _count_again(document)
        lines, left_open, cycles = counts.lines, (*left_open, *counts.open), counts.cycles
    else:
        of = f", which also checks the passes: {', '.join(found.passes)}" if found.passes else ""
        lines = (f"counts: not compared; --recount explores again{of}",)
    not_all = tuple(f"not verified: {one}" for one in left_open)
    return Found((*found.lines, *lines, *not_all), found.replayed, EXIT_UNDECIDED if not_all else EXIT_HOLDS, cycles)


def _count_again(document: Mapping[str, Any]) -> Recounted:
    """Explore the deployment of a result again, and compare the counts. Raise TamperedDocument."""
    from proofka.checker.budget import Budget
    from proofka.checker.interruption import interrupts
    from proofka.checker.reexploration import NothingCounted, Recounted, RecountStopped, recount

    budget = Budget()
    try:
        with interrupts(budget.stop):
            return recount(document, budget)
    except NothingCounted as nothing:
        return Recounted((), (f"counts: {nothing}",))
    except RecountStopped as stopped:
        return Recounted((), (f"counts: the new exploration was stopped ({stopped})",))
