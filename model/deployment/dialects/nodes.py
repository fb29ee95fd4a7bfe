"""Access to parts of a YAML node by names, and such a node from values with their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.yaml_tree import Entry, Mapping, Node, Scalar, Sequence


def under(node: Node | None, *names: str) -> Node | None:
    """Return the node under these nested names; None if one of them is missing."""
    for name in names:
        if not isinstance(node, Mapping):
            return None
        node = next((entry.node for entry in reversed(node.entries) if entry.key == name), None)
    return node


def text_under(node: Node | None, *names: str) -> str:
    """Return the text under these names; empty if there is none."""
    found = under(node, *names)
    return found.text if isinstance(found, Scalar) and not found.null else ""


def items_under(node: Node | None, *names: str) -> tuple[Node, ...]:
    """Return the items of the list under these names; empty if there is none."""
    found = under(node, *names)
    return found.items if isinstance(found, Sequence) else ()


def entries_under(node: Node | None, *names: str) -> Iterator[tuple[str, Node]]:
    """Yield the keys of the mapping under these names, each with its node."""
    found = under(node, *names)
    if isinstance(found, Mapping):
        for entry in found.entries:
            yield entry.key, entry.node


def tree_of(values: Iterable[Said], line: int = 1) -> Mapping:
    """Return values as a tree by their names. A name that stands again with another value stands twice in the tree."""
    entries: list[Entry] = []
    below: dict[str, list[Said]] = {}
    for said in values:
        name, *rest = said.path
        if rest:
            below.setdefault(name, []).append(replace(said, path=tuple(rest)))
        else:
            entries.append(Entry(name, said.line, Scalar(said.value, said.line, said.null)))
    entries += [Entry(name, ones[0].line, tree_of(ones, ones[0].line)) for name, ones in below.items()]
    return Mapping(tuple(entries), line)
