"""The console on which reports are printed."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console

MAX_WIDTH = 120
"""Largest width in characters, on terminals of any width: longer lines are hard to read."""


def console(file: TextIO | None = None, *, stderr: bool = False) -> Console:
    """Return a console that does not interpret markup. Rich itself honours ``NO_COLOR`` and pipes."""
    made = Console(file=file, stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False)
    if made.width > MAX_WIDTH:
        made.width = MAX_WIDTH
    return made
