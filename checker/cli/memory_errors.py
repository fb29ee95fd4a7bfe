"""A system that refuses memory or a thread: one line, and an exit status of its own."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from checker.cli.endings import EXIT_NO_MEMORY

ADVICE = (
    "the system refused memory or a thread (ulimit -v, or the limit of a container): nothing more is decided; allow "
    "more memory, or explore less with --memory or fewer --faults"
)

_OF_OTHERS = ("can't start new thread", "out of memory", "failed to map segment", "could not find/load shared object")
"""Messages by which Python, Z3, the loader of libraries and llvmlite say that memory was refused."""


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


def is_refusal(error: BaseException | None) -> bool:
    """Tell whether an error, or an error that it was raised for, says that the system refused memory or a thread."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        if any(words in str(error) for words in _OF_OTHERS):
            return True
        error = error.__cause__ or error.__context__
    return False
