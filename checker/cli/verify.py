"""``proofka verify``: replay the traces of an earlier result, and check every other part of a bundle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from checker.cli.endings import EXIT_BAD_INPUT
from checker.cli.errors import fail, one_line_errors, plain
from checker.cli.verify_again import (
    Found,
    is_bundle,
    load_bundle,
    verify_bundle,
    verify_result,
    verify_the_certificate,
)
from model.input.strict_json import AmbiguousJson, read_json

MAX_RESULT_BYTES = 64 << 20
"""Largest size of a result file, in bytes."""


def verify(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A result that --json wrote, a bundle, or a certificate.")
    ],
    steps: Annotated[
        bool, typer.Option("--steps", help="Print each replayed step of each trace (default: off).")
    ] = False,
    recount: Annotated[
        bool, typer.Option("--recount", help="Explore again, and compare the counts (default: off).")
    ] = False,
) -> None:
    """Check a result, a bundle or a certificate again: every value that follows from its deployment, and every trace,
    against the model.

    For a bundle the command also checks the hashes and the systems in it. --recount explores again, because no trace
    shows that a property holds. For a certificate the command builds the system again, and lets certcheck check the
    rest.

    Exit status: 0 everything agrees, 1 a value or a trace does not, 2 the file is no result, 3 a part cannot be
    verified: another version of the model wrote the result, the check was stopped, or settings are missing.
    """
    from checker.certificates.reading import is_certificate

    with one_line_errors():
        if is_certificate(file):
            if recount:
                fail(f"{file}: a certificate has the states themselves; verify it without --recount")
            found = verify_the_certificate(file)
        elif is_bundle(file):
            found = verify_bundle(file, again=recount)
        else:
            found = _verify_result(file, again=recount)
    for line, told in found.replayed if steps else ():
        _say(line)
        for step in told:
            _say(step)
    for line in found.lines:
        _say(line)
    raise typer.Exit(found.status)


def _verify_result(file: Path, *, again: bool) -> Found:
    return verify_result(file, load_result(file), again=again)


def _say(line: str) -> None:
    """Print a line. On a terminal the line is wrapped between words; in a file it stays one line."""
    from reports.lines import print_wrapped
    from reports.terminal import console

    out = console()
    if not out.is_terminal:
        typer.echo(plain(line))
        return
    indent = " " * (len(line) - len(line.lstrip()))
    print_wrapped(out, line.strip(), first=indent, rest=f"{indent}  ")


def load_document(file: Path) -> dict[str, Any]:
    """Return an unchanged result, read from a bundle or from a ``--json`` file.

    End the command with one line if the file is no such result.
    """
    from properties.sealing import SEAL, seal

    if is_bundle(file):
        return dict(load_bundle(file, EXIT_BAD_INPUT).document)
    document = load_result(file)
    if document[SEAL] != seal(document):
        fail(f"{file}: was changed after --json wrote it; proofka verify names the difference")
    return document


def load_result(file: Path) -> dict[str, Any]:
    """Return a result file that satisfies the schema. End the command with one line if the file is none."""
    from reports.schema import problem

    if not file.is_file():
        file.stat()  # raises OSError if the file does not exist
        what = "a directory" if file.is_dir() else "no regular file"
        fail(f"{file}: is {what}; expected a result that --json wrote")
    if file.stat().st_size > MAX_RESULT_BYTES:
        fail(f"{file}: is larger than {MAX_RESULT_BYTES >> 20} MB; results of proofka check are smaller")
    try:
        document: Any = read_json(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        fail(f"{file}:{error.lineno}: no bundle, and not JSON that --json wrote: {error.msg}")
    except AmbiguousJson as error:
        fail(f"{file}: not JSON that --json wrote: {error}")
    except (ValueError, RecursionError):
        fail(f"{file}: not JSON that --json wrote")
    if reason := problem(document):
        fail(f"{file}: {reason}")
    loaded: dict[str, Any] = document
    return loaded
