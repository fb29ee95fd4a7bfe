"""``proofka verify``: the traces of an earlier result, replayed; and all else that a bundle holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from checker.cli.endings import EXIT_HOLDS, EXIT_VIOLATED
from checker.cli.errors import complain, fail, one_line_errors, plain
from checker.cli.rechecking import count_again, is_bundle, verify_bundle

MAX_RESULT_BYTES = 64 << 20
"""A result file larger than this is not one of ours."""


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A result that --json wrote, or a bundle.")],
    steps: Annotated[bool, typer.Option("--steps", help="Print each step of each trace as it is replayed.")] = False,
    recount: Annotated[bool, typer.Option("--recount", help="Explore again, and compare what was counted.")] = False,
) -> None:
    """Replay the traces of an earlier result against the model. Of a bundle also its hashes and systems.

    Exit status: 0 all is as it was written, and every trace is a run of the model that violates its property, 1 one is
    not, 2 the file is no result, 3 not all can be verified: another version of the model wrote it, or it was stopped.
    """
    with one_line_errors():
        ok = True
        if is_bundle(file):
            lines, told = verify_bundle(file, again=recount)
        else:
            lines, told, ok = _verify_result(file, again=recount)
    for number, line in enumerate(lines):
        _say(line)
        for step in told.get(number, ()) if steps else ():
            _say(step)
    raise typer.Exit(EXIT_HOLDS if ok else EXIT_VIOLATED)


def _verify_result(file: Path, *, again: bool) -> tuple[tuple[str, ...], Mapping[int, tuple[str, ...]], bool]:
    """What was found, a line each, the steps of traces by the line that they follow, and whether all is well."""
    document = load_result(file)
    from checker.verify import TamperedDocument, verify

    try:
        verification = verify(document)
        counts = count_again(document) if again else ()
    except TamperedDocument as error:
        complain(f"{file}: {error}")
        raise typer.Exit(EXIT_VIOLATED) from None
    return (*verification.lines, *counts), verification.steps, verification.ok


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
        document: Any = json.loads(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        fail(f"{file}:{error.lineno}: not JSON: {error.msg}")
    except (ValueError, RecursionError):
        fail(f"{file}: not JSON that --json wrote")
    if reason := problem(document):
        fail(f"{file}: {reason}")
    loaded: dict[str, Any] = document
    return loaded
