"""What the guide says of one word: ``proofka help WORD``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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


class Entries(Mapping[str, Entry]):
    """Entries by word, each made when somebody asks for it: hardly anybody asks for a second one."""

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
    """The row of one of the guide's tables that has this value."""
    return next(row for row in table(table_name) if row[column] == value)


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
