"""What is wrong is one line on standard error, and status 2."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from checker.cli.endings import EXIT_BAD_INPUT

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Why nothing more can be written: the disk is full, or the part of it that this user or file may have."""

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""Every wrong option or argument (typer has no public name for it)."""


@contextmanager
def one_line_usage_errors() -> Iterator[None]:
    """A wrong option ends the command with one line on standard error and status 2; no command at all prints help."""
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
    """Input that is wrong ends the command with status 2, and one line on standard error for each thing wrong."""
    from model.input_error import InputError

    try:
        yield
    except InputError as error:
        for one in (error, *error.others):
            complain(str(one))
        raise typer.Exit(EXIT_BAD_INPUT) from None
    except OSError as error:
        fail(_told(error))


@contextmanager
def one_line_of_a_full_disk() -> Iterator[None]:
    """End the command with one line and status 2 where standard output or a file is full: status 1 is a verdict."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        fail(_told(error))


def _told(error: OSError) -> str:
    """Word an error of the system, with the file that the error names."""
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{reason_of(error)}"


def reason_of(error: OSError) -> str:
    """What the system says went wrong."""
    return (error.strerror or str(error)).lower()


def fail(message: str) -> NoReturn:
    """End the command: the input is wrong."""
    complain(message)
    raise typer.Exit(EXIT_BAD_INPUT)


def complain(message: str) -> None:
    """Say a line on standard error."""
    typer.echo(plain(message), err=True)


def plain(text: str) -> str:
    """``text`` with control characters made visible."""
    from reports import wording

    return wording.plain(text)
