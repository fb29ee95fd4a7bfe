"""Output through the pager if it is longer than the screen; shorter output, or output to a file, is unchanged."""

from __future__ import annotations

import os

from rich.console import Console, RenderableType


def print_paged(out: Console, *parts: RenderableType) -> None:
    """Print the parts one below the other, through the pager if a terminal has too few lines."""
    with out.capture() as captured:
        for part in parts:
            out.print(part)
    text = captured.get()
    if out.is_terminal and text.count("\n") >= out.height:
        import pydoc

        # Without these less shows colours as codes, and leaves nothing on the screen.
        os.environ.setdefault("LESS", "-RX")
        pydoc.pager(text)
    else:
        out.file.write(text)
        out.file.flush()
