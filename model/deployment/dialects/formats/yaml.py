"""YAML as other tools write and read it: several documents, anchors, merge keys, tags, repeated keys.

Nothing is constructed from tags, and the expansion of aliases is counted, so no text grows without limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.source import MOST_KEYS
from proofka.model.deployment.yaml_tree import Entry, Mapping, Node, Scalar, Sequence, events_of, one_line_errors

DEEPEST = 64
"""The deepest nesting of a configuration."""

MOST_NODES = 10 * MOST_KEYS
"""The largest number of values, with aliases expanded."""

TEMPLATE_KEY = "[...]"
"""The name of a key that is no text: a template's square brackets or braces."""

_NULLS = ("", "~", "null", "Null", "NULL")


def documents_of(text: str, file: str) -> tuple[Node, ...]:
    """Return the documents of a YAML text, without empty ones. Raises DeploymentError with the line."""
    with one_line_errors(text, file):
        return tuple(_Documents(events_of(text), file).all())


def values_of(node: Node, path: tuple[str, ...] = ()) -> Iterator[Said]:
    """Yield every value under a node, with the names that lead to it. An empty mapping or list yields its place.

    A text that is a single value yields nothing.
    """
    if isinstance(node, Scalar):
        if path:
            yield Said(path, node.text, node.line, node.null)
    elif isinstance(node, Mapping):
        if not node.entries and path:
            yield Said(path, "", node.line, null=True)
        for entry in node.entries:
            yield from values_of(entry.node, (*path, entry.key))
    else:
        if not node.items and path:
            yield Said(path, "", node.line, null=True)
        for number, item in enumerate(node.items):
            yield from values_of(item, (*path, f"[{number}]"))


def _in_braces(key: Node) -> str:
    """Return the placeholder of ``{{ name }}`` without quotes, which YAML parses as a mapping in a mapping."""
    if not isinstance(key, Mapping) or len(key.entries) != 1:
        return ""
    (entry,) = key.entries
    is_name = isinstance(entry.node, Scalar) and entry.node.null
    return f"{{{{ {entry.key} }}}}" if is_name else ""


class _Documents:
    def __init__(self, events: Iterator[Any], file: str) -> None:
        self._events = events
        self._file = file
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._nodes = 0

    def all(self) -> Iterator[Node]:
        next(self._events)  # The stream starts.
        while type(next(self._events)).__name__ != "StreamEndEvent":
            self._anchors.clear()
            root = self._node(next(self._events), 0)
            next(self._events)  # The document ends.
            if not (isinstance(root, Scalar) and root.null):
                yield root

    def _node(self, event: Any, depth: int) -> Node:
        kind = type(event).__name__
        line = event.start_mark.line + 1
        if kind == "AliasEvent":
            if event.anchor not in self._anchors:
                raise DeploymentError("has an alias (*) without its anchor (&)", file=self._file, line=line)
            node, size = self._anchors[event.anchor]
            self._count(size, line)
            return node
        before = self._nodes
        self._count(1, line)
        if kind == "ScalarEvent":
            plain = event.style is None or event.style == ""
            node = Scalar(event.value, line, bool(plain and event.value in _NULLS), plain and event.tag is None)
        elif depth >= DEEPEST:
            raise DeploymentError(f"is nested deeper than {DEEPEST} levels", file=self._file, line=line)
        else:
            node = self._mapping(line, depth) if kind == "MappingStartEvent" else self._sequence(line, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, self._nodes - before)
        return node

    def _count(self, nodes: int, line: int) -> None:
        self._nodes += nodes
        if self._nodes > MOST_NODES:
            raise DeploymentError(f"has more than {MOST_NODES} values", file=self._file, line=line)

    def _mapping(self, line: int, depth: int) -> Mapping | Scalar:
        entries: list[Entry] = []
        merged: list[Entry] = []
        known: set[str] = set()
        template = ""
        while type(event := next(self._events)).__name__ != "MappingEndEvent":
            key = self._node(event, depth + 1)
            node = self._node(next(self._events), depth + 1)
            if not isinstance(key, Scalar):
                # Only the tool knows the meaning of a template's square brackets or braces.
                template = _in_braces(key)
                entries.append(Entry(TEMPLATE_KEY, line, node))
            elif key.text == "<<":
                for other in node.items if isinstance(node, Sequence) else (node,):
                    # "Keys in mapping nodes earlier in the sequence override keys specified in later mapping nodes"
                    # (YAML's merge key type); within one mapping, readers keep the last of a repeated key.
                    new = [one for one in (other.entries if isinstance(other, Mapping) else ()) if one.key not in known]
                    merged += new
                    known |= {one.key for one in new}
            else:
                entries.append(Entry(key.text, key.line, node))
        if template and len(entries) == 1 and not merged:
            return Scalar(template, line)
        own = {entry.key for entry in entries}
        # Merged keys come after own keys, and of several the first counts (YAML's merge key type).
        first: dict[str, Entry] = {}
        for entry in merged:
            first.setdefault(entry.key, entry)
        return Mapping((*(entry for key, entry in first.items() if key not in own), *entries), line)

    def _sequence(self, line: int, depth: int) -> Sequence:
        items: list[Node] = []
        while type(event := next(self._events)).__name__ != "SequenceEndEvent":
            items.append(self._node(event, depth + 1))
        return Sequence(tuple(items), line)
