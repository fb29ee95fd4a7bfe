"""YAML as a tree of texts with line numbers, from the parser's events.

Only the parts of YAML that a configuration needs are accepted: one document of mappings, sequences and scalars.
Anchors, aliases, tags and merge keys are refused, so the reader expands, executes and fetches nothing. Scalars remain
text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.hiding import printable, shown_key
from proofka.model.deployment.problems import first_of
from proofka.model.deployment.source import MOST_KEYS

DEEPEST = 8
"""The deepest nesting of a deployment's sections; deeper nesting is refused before it is read."""


@dataclass(frozen=True)
class Scalar:
    """One value as the user wrote it; ``null``: it is empty or says null; ``plain``: it is known to have no quotes.

    ``column``: of the first character, which is a quote or the sign of a block where the value has one.
    """

    text: str
    line: int
    null: bool = False
    plain: bool = False
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Entry:
    """A key of a mapping with its value; ``line`` is the key's line."""

    key: str
    line: int
    node: Node


@dataclass(frozen=True)
class Mapping:
    """Keys, each once, in the order of the file."""

    entries: tuple[Entry, ...]
    line: int


@dataclass(frozen=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    line: int


Node = Scalar | Mapping | Sequence


def parse_yaml(text: str, file: str) -> Node:
    """Return the single document of a YAML text. Raises DeploymentError with the line of the error."""
    root, repeated = parse_with_repeated(text, file)
    if repeated:
        raise first_of(repeated)
    return root


def parse_with_repeated(text: str, file: str) -> tuple[Node, tuple[DeploymentError, ...]]:
    """Return the single document of a YAML text, with the first value of repeated keys, and their errors.

    Raises DeploymentError with the line of any other error.
    """
    with one_line_errors(text, file):
        tree = _Tree(events_of(text), file)
        return tree.document(), tuple(tree.repeated)


def events_of(text: str) -> Iterator[Any]:
    """Return the parser's events in order. The iterator raises errors of many kinds for text that is no YAML."""
    from ruamel.yaml import YAML

    return iter(YAML(typ="safe", pure=True).parse(text))


@contextmanager
def one_line_errors(text: str, file: str) -> Iterator[None]:
    """Turn an error of the parser within the block into a DeploymentError, with the line if it is known."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    try:
        yield
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        problem = printable(" ".join(str(error.problem or error.context or "cannot be parsed").split()))
        raise DeploymentError(f"is not valid YAML: {problem}", file=file, line=line) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise DeploymentError("has a character that YAML does not allow", file=file, line=line) from None
    except (YAMLError, ValueError, RecursionError, AssertionError, AttributeError, IndexError, TypeError) as error:
        # The parser itself fails in several ways on some broken input; a reader of configurations must not.
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise DeploymentError(f"is not valid YAML: {printable(lines[0])}", file=file) from None


class _Tree:
    def __init__(self, events: Iterator[Any], file: str) -> None:
        self._events = events
        self._file = file
        self._nodes = 0
        self.repeated: list[DeploymentError] = []

    def document(self) -> Node:
        next(self._events)  # The stream starts.
        if type(next(self._events)).__name__ == "StreamEndEvent":
            raise DeploymentError("is empty", file=self._file)
        root = self._node(next(self._events), 0)
        next(self._events)  # The document ends.
        after = next(self._events)
        if type(after).__name__ != "StreamEndEvent":
            raise self._error(after, "has more than one YAML document; put each deployment into its own file")
        return root

    def _node(self, event: Any, depth: int) -> Node:
        kind = type(event).__name__
        if kind == "AliasEvent":
            raise self._error(event, "YAML aliases (*) are not accepted; write the value out")
        if event.anchor is not None:
            raise self._error(event, "YAML anchors (&) are not accepted; write the value out")
        if event.tag is not None:
            raise self._error(event, "YAML tags (!) are not accepted; write a plain value")
        self._nodes += 1
        if self._nodes > 2 * MOST_KEYS:
            raise self._error(event, f"has more than {MOST_KEYS} keys; check that this is the right file")
        line = event.start_mark.line + 1
        if kind == "ScalarEvent":
            plain = event.style is None or event.style == ""
            null = bool(plain and event.value in ("", "~", "null", "Null", "NULL"))
            return Scalar(event.value, line, null, column=event.start_mark.column + 1)
        if depth >= DEEPEST:
            raise self._error(event, f"is nested deeper than {DEEPEST} levels")
        return self._mapping(line, depth) if kind == "MappingStartEvent" else self._sequence(line, depth)

    def _mapping(self, line: int, depth: int) -> Mapping:
        entries: list[Entry] = []
        lines: dict[str, int] = {}
        while type(event := next(self._events)).__name__ != "MappingEndEvent":
            key = self._node(event, depth + 1)
            if not isinstance(key, Scalar) or key.null:
                raise self._error(event, "a key must be a single value")
            if key.text == "<<":
                raise self._error(event, "YAML merge keys (<<) are not accepted; write the values out")
            if key.text in lines:
                message = f"is given twice, also in line {lines[key.text]}; keep one"
                self.repeated.append(DeploymentError(message, file=self._file, line=key.line, key=shown_key(key.text)))
                self._node(next(self._events), depth + 1)
                continue
            lines[key.text] = key.line
            entries.append(Entry(key.text, key.line, self._node(next(self._events), depth + 1)))
        return Mapping(tuple(entries), line)

    def _sequence(self, line: int, depth: int) -> Sequence:
        items: list[Node] = []
        while type(event := next(self._events)).__name__ != "SequenceEndEvent":
            items.append(self._node(event, depth + 1))
        return Sequence(tuple(items), line)

    def _error(self, event: Any, message: str) -> DeploymentError:
        return DeploymentError(message, file=self._file, line=event.start_mark.line + 1)
