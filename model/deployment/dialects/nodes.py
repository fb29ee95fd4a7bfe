"""Finding one's way in a YAML node: what stands under which names."""

from __future__ import annotations

from collections.abc import Iterator

from model.deployment.yaml_tree import Mapping, Node, Scalar, Sequence


def under(node: Node | None, *names: str) -> Node | None:
    """What stands under these names, one in the other; None where one of them is missing."""
    for name in names:
        if not isinstance(node, Mapping):
            return None
        node = next((entry.node for entry in reversed(node.entries) if entry.key == name), None)
    return node


def text_under(node: Node | None, *names: str) -> str:
    """The text that stands there; empty where none does."""
    found = under(node, *names)
    return found.text if isinstance(found, Scalar) and not found.null else ""


def items_under(node: Node | None, *names: str) -> tuple[Node, ...]:
    """The items of the list that stands there; empty where none does."""
    found = under(node, *names)
    return found.items if isinstance(found, Sequence) else ()


def entries_under(node: Node | None, *names: str) -> Iterator[tuple[str, Node]]:
    """The keys of the mapping that stands there, each with what is under it."""
    found = under(node, *names)
    if isinstance(found, Mapping):
        for entry in found.entries:
            yield entry.key, entry.node
