"""The lines and columns, in a file, of the characters of a rule's text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from proofka.model.deployment.yaml_tree import Scalar

Place = Callable[[int], tuple[int, int]]
"""A function that returns line and column of a character of a text, or of the end of the text. Both begin with 1."""

_HEXADECIMAL = {"x": 2, "u": 4, "U": 8}
"""The number of digits of an escape in a text with double quotes."""


def in_whole_file(text: str) -> Place:
    """Return the places of a text that is a whole file."""

    starts = _starts_of_lines(text)

    def place(index: int) -> tuple[int, int]:
        line = bisect_right(starts, index)
        return line, index - starts[line - 1] + 1

    return place


def in_yaml(scalar: Scalar, source: str) -> Place:
    """Return the places of the text of a value in a YAML file; every place is the value's if the file is unlike it."""
    starts = _starts_of_lines(source)
    # YAML has more ends of lines than a text file: then the lines differ.
    is_there = scalar.line <= len(starts)
    found = _indices(scalar.text, source, starts[scalar.line - 1] + scalar.column - 1) if is_there else None
    if found is None:
        return lambda index: (scalar.line, scalar.column)
    in_file = in_whole_file(source)
    return lambda index: in_file(found[index])


def _starts_of_lines(text: str) -> list[int]:
    return [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]


def _indices(text: str, source: str, start: int) -> list[int] | None:
    """Return the index in the file of each character of a value, and of its end; None if one is not found.

    Lines of a value can be joined, and begin with spaces that the value does not have: only other characters count.
    """
    at, found = start, list[int]()
    style = source[start : start + 1]
    if style in ("|", ">"):
        at = source.find("\n", start) + 1
    elif style in ("'", '"'):
        at += 1
    for character in text:
        if character.isspace():
            found.append(at)
            at += 2 if style == '"' and source[at : at + 2] in (r"\n", r"\t", "\\ ") else 0
            continue
        while source[at : at + 1].isspace() or (style == '"' and source[at : at + 2] == "\\\n"):
            at += 2 if source[at] == "\\" else 1
        found.append(at)
        if style == '"' and source[at : at + 1] == "\\":
            at += 2 + _HEXADECIMAL.get(source[at + 1 : at + 2], 0)
        elif source[at : at + 1] == character:
            at += 2 if style == "'" and character == "'" else 1
        else:
            return None
    return [*found, at]
