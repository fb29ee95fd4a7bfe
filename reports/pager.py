"""What is longer than the screen goes through the pager; what is not, or goes into a file, is printed as it is."""

from __future__ import annotations

import os

from rich.console import Console, RenderableType


def print_paged(out: Console, *parts: RenderableType) -> None:
    """Print the parts one below the other. Somebody who watches and has not enough lines gets them in the pager."""
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
