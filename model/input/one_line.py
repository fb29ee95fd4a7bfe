"""Text of any source on one line that can be printed."""

from __future__ import annotations


def one_line(text: str) -> str:
    """Return the text with every character replaced that is not printable, such as a line break."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
