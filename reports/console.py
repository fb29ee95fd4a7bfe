"""The console that everything is printed on."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console

MAX_WIDTH = 120
"""Lines longer than this are hard to read, however wide the terminal."""


def console(file: TextIO | None = None, *, stderr: bool = False) -> Console:
    """A console that reads no markup out of what it prints. Rich itself honours ``NO_COLOR`` and pipes."""
    made = Console(file=file, stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False)
    if made.width > MAX_WIDTH:
        made.width = MAX_WIDTH
    return made
