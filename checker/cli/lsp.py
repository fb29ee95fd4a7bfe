"""``proofka lsp``: diagnostics, hovers and repairs in an editor, over the Language Server Protocol."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from proofka.checker.cli.errors import fail

NO_PYGLS = 'the library for language servers is not installed: pip install "proofka[lsp]"'


def lsp(
    seconds: Annotated[
        float,
        typer.Option("--time", metavar="SECONDS", min=1, help="Time limit of the check of a saved file (default: 10)."),
    ] = 10,
) -> None:
    """Serve an editor over the Language Server Protocol, on standard input and output.

    While a file is typed, its wrong values and rules are shown, and the verdicts of equal configurations that were
    checked before. A check runs when the file is saved. A hover shows the effective value of a setting and its origin,
    and each change that prevents a violation is offered as an edit.

    Exit status: 0 the editor closed the connection, 2 the library is missing, 130 Ctrl-C.
    """
    if find_spec("pygls") is None:
        fail(NO_PYGLS)
    from proofka.checker.cli.editor.server import server_of
    from proofka.checker.versions import versions

    server_of(versions()["proofka"], seconds).start_io()
