"""Report wrong input: one line on standard error, and status 2."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from proofka.checker.cli.endings import EXIT_BAD_INPUT
from proofka.checker.refused_memory import is_refusal

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full disk, of an exhausted disk quota, and of a file that reached its size limit."""

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""The class of errors for a wrong option or argument; typer has no public name for this class."""


@contextmanager
def one_line_usage_errors() -> Iterator[None]:
    """End the command with one line on standard error and status 2 if an option is wrong.

    A call without any command prints the help.
    """
    try:
        yield
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        wrong: Any = error
        see = f"; see {wrong.ctx.command_path} --help" if wrong.ctx is not None else ""
        fail(wrong.format_message().replace("Value error, ", "").rstrip(".") + see)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End the command with status 2 if the input is wrong, with one line on standard error for each problem.

    The errors of a live cluster have statuses of their own.
    """
    from proofka.checker.live.errors import LiveError
    from proofka.model.input.input_error import InputError

    try:
        yield
    except InputError as error:
        for one in (error, *error.others):
            complain(str(one))
        raise typer.Exit(error.status if isinstance(error, LiveError) else EXIT_BAD_INPUT) from None
    except OSError as error:
        if is_refusal(error):
            raise
        fail(_told(error))


@contextmanager
def one_line_of_a_full_disk() -> Iterator[None]:
    """End the command with one line and status 2 if standard output or a file is full.

    Status 1 would mean a violated property.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        fail(_told(error))


def _told(error: OSError) -> str:
    """Return the message for an error of the operating system, with the file that the error names."""
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{reason_of(error)}"


def reason_of(error: OSError) -> str:
    """Return the operating system's own text for an error, in lower case."""
    return (error.strerror or str(error)).lower()


def fail(message: str, status: int = EXIT_BAD_INPUT) -> NoReturn:
    """Print a message on standard error and end the command with a status, without more words 2 (wrong input)."""
    complain(message)
    raise typer.Exit(status)


def complain(message: str) -> None:
    """Print a line on standard error."""
    typer.echo(plain(message), err=True)


def plain(text: str) -> str:
    """Return ``text`` with control characters made visible."""
    from proofka.reports import wording

    return wording.plain(text)
