"""Programs and other texts with a grammar, as tree-sitter parses them: trees, their places, and what is broken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from model.deployment.errors import DeploymentError

if TYPE_CHECKING:
    from tree_sitter import Language, Node

DEEPEST = 1_000
"""No program is nested deeper than this, as a tree; what is deeper is refused."""

LARGEST = 256 * 1024
"""A program is no larger than this, in characters: much of what does not parse would take long to say so."""

LONGEST = 20_000
"""A text that an expression comes to is no longer than this."""

MOST_NODES = 400_000
"""Nor is a tree larger than this."""

_WORDS = {"typescript": "language_typescript", "tsx": "language_tsx"}
_BLANKS = re.compile(r"\s+")


@cache
def _language(name: str) -> Language:
    from tree_sitter import Language

    package = import_module(f"tree_sitter_{'typescript' if name == 'tsx' else name}")
    return Language(getattr(package, _WORDS.get(name, "language"))())


def tree_of(
    text: str,
    file: str,
    language: str,
    name: str,
    *,
    broken: bool = False,
    deepest: int = DEEPEST,
    largest: int | None = None,
) -> Node:
    """The tree of a text. ``broken``: parts that do not parse are left in it. Raises DeploymentError with the line."""
    from tree_sitter import Parser

    if largest is not None and len(text) > largest:
        raise DeploymentError(f"is larger than a {name} program that is read (at most {largest} characters)", file=file)
    root = Parser(_language(language)).parse(text.encode("utf-8", "surrogatepass")).root_node
    for count, (node, depth) in enumerate(_with_depth(root)):
        if depth > deepest:
            raise DeploymentError(f"is nested deeper than {deepest} levels", file=file, line=line_of(node))
        if count > MOST_NODES:
            raise DeploymentError(f"has more than {MOST_NODES} parts", file=file, line=line_of(node))
        if not broken and (node.is_error or node.is_missing):
            raise DeploymentError(f"is not valid {name}", file=file, line=line_of(node))
    return root


def _with_depth(root: Node) -> Iterator[tuple[Node, int]]:
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        if depth <= DEEPEST:
            waiting += [(child, depth + 1) for child in reversed(node.children)]


def all_of(root: Node, *kinds: str) -> Iterator[Node]:
    """Every node of these kinds under a node, itself included, in the order of the text."""
    return (node for node, _ in _with_depth(root) if node.type in kinds)


def line_of(node: Node) -> int:
    """The line in which it begins."""
    return node.start_point[0] + 1


def text_of(node: Node | None) -> str:
    """Its text."""
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


def in_one_line(node: Node | None) -> str:
    """Its text with each run of blanks as one, for a message."""
    return _BLANKS.sub(" ", text_of(node)).strip()


def around(node: Node, *kinds: str) -> Node | None:
    """The nearest node of these kinds that it stands in."""
    above = node.parent
    while above is not None and above.type not in kinds:
        above = above.parent
    return above


def named(node: Node | None) -> list[Node]:
    """The parts of a node without punctuation and comments."""
    if node is None:
        return []
    return [one for one in node.named_children if one.type not in ("comment", "line_comment", "block_comment")]
