"""The console on which reports are printed."""

from __future__ import annotations

import os
from typing import Any, TextIO

from rich.console import Console

MAX_WIDTH = 120
"""Largest width in characters, on terminals of any width: longer lines are hard to read."""


UNBROKEN = 10_000
"""Width in characters of the lines of a list that no terminal shows."""


class _Console(Console):
    """A console that prints a line which is wider than the terminal whole: a file name or a command can be copied."""

    def print(self, *objects: Any, crop: bool = False, **options: Any) -> None:
        """Print the objects without cutting their lines."""
        super().print(*objects, crop=crop, **options)


def console(file: TextIO | None = None, *, stderr: bool = False) -> Console:
    """Return a console that does not interpret markup. Rich itself honours ``NO_COLOR`` and pipes."""
    made = _Console(file=file, stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False)
    if made.width > MAX_WIDTH:
        made.width = MAX_WIDTH
    return made


def console_of_lists() -> Console:
    """Return a console for lists. Each entry is one line in a pipe or a file, unless ``COLUMNS`` says the width."""
    made = console()
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = UNBROKEN
    return made
