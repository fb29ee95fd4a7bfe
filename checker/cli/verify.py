"""``proofka verify``: the traces of an earlier result, replayed; and all else that a bundle holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from checker.cli.endings import EXIT_BAD_INPUT
from checker.cli.errors import fail, one_line_errors, plain
from checker.cli.rechecking import Found, is_bundle, load_bundle, verify_bundle, verify_result
from model.strict_json import AmbiguousJson, read_json

MAX_RESULT_BYTES = 64 << 20
"""A result file larger than this is not one of ours."""


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A result that --json wrote, or a bundle.")],
    steps: Annotated[bool, typer.Option("--steps", help="Print each step of each trace as it is replayed.")] = False,
    recount: Annotated[bool, typer.Option("--recount", help="Explore again, and compare what was counted.")] = False,
) -> None:
    """Check a result or a bundle again: everything that follows from its deployment, and every trace, by the model.

    Of a bundle also its hashes and the systems in it. --recount explores again what no trace shows: that a property
    holds. Exit status: 0 all is as it was written and comes out again, 1 something is not, 2 the file is no result,
    3 not all can be verified: another version of the model wrote it, it was stopped, or settings tell too little.
    """
    with one_line_errors():
        found = verify_bundle(file, again=recount) if is_bundle(file) else _verify_result(file, again=recount)
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
    """Print a line; on a terminal it is broken between words, and into a file it stays one."""
    from reports.lines import wrapped
    from reports.terminal import console

    out = console()
    if not out.is_terminal:
        typer.echo(plain(line))
        return
    indent = " " * (len(line) - len(line.lstrip()))
    for part in wrapped(line.strip(), out.width, first=indent, rest=f"{indent}  "):
        out.print(part)


def load_document(file: Path) -> dict[str, Any]:
    """A result that is as it was written, from a bundle or from what --json wrote; or one line why it is none."""
    from properties.sealing import SEAL, seal

    if is_bundle(file):
        return dict(load_bundle(file, EXIT_BAD_INPUT).document)
    document = load_result(file)
    if document[SEAL] != seal(document):
        fail(f"{file}: was changed after --json wrote it; proofka verify says where")
    return document


def load_result(file: Path) -> dict[str, Any]:
    """A result file that satisfies the schema, or one line why it is none."""
    from reports.schema import problem

    if not file.is_file():
        file.stat()  # raises where there is nothing
        what = "a directory" if file.is_dir() else "no regular file"
        fail(f"{file}: is {what}; expected a result that --json wrote")
    if file.stat().st_size > MAX_RESULT_BYTES:
        fail(f"{file}: is larger than {MAX_RESULT_BYTES >> 20} MB, so it is no result of proofka check")
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
