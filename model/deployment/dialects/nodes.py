"""Access to parts of a YAML node by names."""

from __future__ import annotations

from collections.abc import Iterator

from model.deployment.yaml_tree import Mapping, Node, Scalar, Sequence


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
