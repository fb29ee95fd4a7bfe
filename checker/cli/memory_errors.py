"""A system that refuses memory or a thread: one line, and an exit status of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from proofka.checker.refused_memory import ADVICE, EXIT_NO_MEMORY, is_refusal


@contextmanager
def one_line_without_memory() -> Iterator[None]:
    """End the command with one line and status 5 if the system refuses memory; status 1 would mean a violation."""
    try:
        yield
    except Exception as error:
        if not is_refusal(error):
            raise
        typer.echo(ADVICE, err=True)
        raise typer.Exit(EXIT_NO_MEMORY) from None
