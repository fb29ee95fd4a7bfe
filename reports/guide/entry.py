"""What the guide says of one word: ``proofka help WORD``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from csv import DictReader
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Entry:
    """``word``, what ``kind`` of word it is, and paragraphs: a label, which may be empty, and a text."""

    word: str
    kind: str
    paragraphs: tuple[tuple[str, str], ...]


@cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of one of the guide's tables."""
    return rows_of(__package__, f"tables/{name}.csv")


def rows_of(package: str, path: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a table that is shipped with a package."""
    text = files(package).joinpath(path).read_text(encoding="utf-8")
    return tuple(DictReader(text.splitlines()))


def some(label: str, text: str) -> Iterator[tuple[str, str]]:
    """A paragraph, unless there is nothing to say."""
    if text:
        yield label, text
