"""An entry of the guide on one word: ``proofka help WORD``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from csv import DictReader
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Entry:
    """An entry: ``word``, its ``kind``, and paragraphs, each a label (which can be empty) and a text."""

    word: str
    kind: str
    paragraphs: tuple[tuple[str, str], ...]


class Entries(Mapping[str, Entry]):
    """Entries by word, each built on request, because most runs read one entry only."""

    def __init__(self, kind: str, words: Iterable[str], paragraphs: Callable[[str], Iterator[tuple[str, str]]]) -> None:
        self._kind = kind
        self._words = dict.fromkeys(words)
        self._paragraphs = paragraphs

    def __getitem__(self, word: str) -> Entry:
        if word not in self._words:
            raise KeyError(word)
        return Entry(word, self._kind, tuple(self._paragraphs(word)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)


def row_of(table_name: str, column: str, value: str) -> Mapping[str, str]:
    """Return the first row of a table of the guide with this value in a column."""
    return next(row for row in table(table_name) if row[column] == value)


@cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table of the guide."""
    return rows_of(__package__, f"tables/{name}.csv")


def rows_of(package: str, path: str) -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table of a package."""
    text = files(package).joinpath(path).read_text(encoding="utf-8")
    return tuple(DictReader(text.splitlines()))


def some(label: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield a paragraph, or nothing if the text is empty."""
    if text:
        yield label, text
