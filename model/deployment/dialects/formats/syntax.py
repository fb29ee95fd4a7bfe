"""Programs and other texts with a grammar, as tree-sitter parses them: trees, places, and errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from proofka.model.deployment.errors import DeploymentError

if TYPE_CHECKING:
    from tree_sitter import Language, Node

DEEPEST = 1_000
"""The deepest nesting of a program's tree; deeper ones are refused."""

LARGEST = 256 * 1024
"""The largest size of a program, in characters: larger invalid programs would take long to refuse."""

LONGEST = 20_000
"""The largest length of an expression's text value, in characters."""

MOST_NODES = 400_000
"""The largest number of nodes in a tree."""

LONGEST_SHOWN = 60
"""The largest length of an expression in a message, in characters."""

_TEXTS = frozenset(
    (
        "string",
        "string_literal",
        "character_literal",
        "text_block",
        "interpreted_string_literal",
        "raw_string_literal",
        "rune_literal",
        "template_string",
        "regex",
        "jsx_text",
        "ERROR",
    )
)
"""Nodes that contain written text, in Java, Go and JavaScript; in an error, the content is unknown."""

_COMMENTS = ("comment", "line_comment", "block_comment")
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
    """Return the tree of a text. ``broken``: invalid parts remain in it. Raises DeploymentError with the line."""
    from tree_sitter import Parser

    if largest is not None and len(text) > largest:
        raise DeploymentError(f"is too large for a {name} program (at most {largest} characters)", file=file)
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
    """Return every node of these kinds under a node, itself included, in the order of the text."""
    return (node for node, _ in _with_depth(root) if node.type in kinds)


def line_of(node: Node) -> int:
    """Return the line in which a node begins."""
    return node.start_point[0] + 1


def text_of(node: Node | None) -> str:
    """Return the text of a node; empty for None."""
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


def in_one_line(node: Node | None) -> str:
    """Return the form of a node in one short line, for a message: names and calls, without texts, which can be
    secrets."""
    if node is None or node.text is None:
        return ""
    parts: list[bytes] = []
    at = node.start_byte
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type in _TEXTS or one.type in _COMMENTS:
            parts += [_between(node, at, one.start_byte), b'"..."' if one.type in _TEXTS else b" "]
            at = one.end_byte
        else:
            waiting += reversed(one.children)
    parts.append(_between(node, at, node.end_byte))
    return cut(_BLANKS.sub(" ", b"".join(parts).decode("utf-8", "replace")).strip())


def cut(text: str) -> str:
    """Return a text, cut at the length of an expression in a message."""
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def _between(node: Node, start: int, end: int) -> bytes:
    return (node.text or b"")[start - node.start_byte : end - node.start_byte]


def around(node: Node, *kinds: str) -> Node | None:
    """Return the nearest enclosing node of these kinds."""
    above = node.parent
    while above is not None and above.type not in kinds:
        above = above.parent
    return above


def named(node: Node | None) -> list[Node]:
    """Return the parts of a node without punctuation and comments."""
    if node is None:
        return []
    return [one for one in node.named_children if one.type not in _COMMENTS]
