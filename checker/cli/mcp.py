"""``proofka mcp``: answer the calls of an assistant over the Model Context Protocol."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from proofka.checker.cli.errors import fail
from proofka.checker.cli.limits import budget_of
from proofka.checker.cli.options import Memory

NO_MCP = 'the Model Context Protocol\'s SDK is not installed: pip install "proofka[mcp]"'


def mcp(
    root: Annotated[
        Path, typer.Option("--root", metavar="DIR", help="The folder whose files the tools may read (default: here).")
    ] = Path(),
    seconds: Annotated[
        float, typer.Option("--time", metavar="SECONDS", min=1, help="Time limit of each call (default: 60).")
    ] = 60,
    memory: Memory = None,
) -> None:
    """Answer the calls of an assistant over the Model Context Protocol, on standard input and output.

    The tools check, trace, explain, repair, defects, claim and word read files below --root, and write none. Stop with
    Ctrl-C, or by closing standard input.

    Exit status: 0 the assistant closed the connection, 2 the input is wrong, 130 Ctrl-C.
    """
    if find_spec("mcp") is None:
        fail(NO_MCP)
    if not root.is_dir():
        fail(f"--root {root}: no such folder")
    from proofka.checker.cli.assistants.server import server_of
    from proofka.checker.cli.assistants.workspace import Workspace
    from proofka.checker.versions import versions

    budget = budget_of(seconds, {"memory": memory})
    server_of(Workspace(root, seconds, budget.memory), versions()["proofka"]).run("stdio")
