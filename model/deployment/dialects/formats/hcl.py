"""HCL, the language of Terraform: a text as its syntax, each part with its line. Nothing is evaluated here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.source import MOST_KEYS

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 200
"""The deepest nesting of syntax in a configuration: an object in an object has four levels."""

MOST_PARTS = 20 * MOST_KEYS
"""The largest number of parts of syntax."""

_SHOWN = 4000


@dataclass(frozen=True)
class Syntax:
    """A part of the text: its name in the grammar, its text (only the beginning if it has parts), its line, and its
    parts, including signs.

    ``gaps``: the text before each part, and after the last one; a template has text there too.
    """

    kind: str
    text: str
    line: int
    parts: tuple[Syntax, ...] = ()
    gaps: tuple[str, ...] = ()

    def of(self, *kinds: str) -> Iterator[Syntax]:
        """Return the parts of these kinds."""
        return (part for part in self.parts if part.kind in kinds)

    def first(self, *kinds: str) -> Syntax | None:
        """Return the first part of these kinds."""
        return next(self.of(*kinds), None)


@dataclass(frozen=True)
class Attribute:
    """An attribute: ``name = expression``."""

    name: str
    expression: Syntax
    line: int


@dataclass(frozen=True)
class Block:
    """A block ``resource "kind" "name" { ... }``: its names, the first as written, and its content."""

    names: tuple[str, ...]
    line: int
    attributes: tuple[Attribute, ...]
    blocks: tuple[Block, ...]

    @property
    def kind(self) -> str:
        """The first of its names: ``resource``, ``locals``."""
        return self.names[0]


def blocks_of(text: str, file: str) -> Block:
    """Return the blocks and attributes of a text, in one block without a name. Raises DeploymentError with the line."""
    import tree_sitter_hcl
    from tree_sitter import Language, Parser

    root = Parser(Language(tree_sitter_hcl.language())).parse(text.encode("utf-8", "replace")).root_node
    if root.has_error:
        raise DeploymentError("is not valid HCL", file=file, line=_error_line(root))
    syntax = _Reader(file).read(root, 0)
    return _body(syntax.first("body"), ("",), 1)


def _error_line(node: Node) -> int:
    """Return the line of the first part that is an error, or is missing."""
    while True:
        inner = next((one for one in node.children if one.has_error or one.is_missing), None)
        if inner is None or node.is_error:
            return node.start_point[0] + 1
        node = inner


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._parts = 0

    def read(self, node: Node, depth: int) -> Syntax:
        """Return the syntax of a node, within bounds."""
        line = node.start_point[0] + 1
        self._parts += 1
        if depth > DEEPEST:
            raise DeploymentError("is nested too deeply", file=self._file, line=line)
        if self._parts > MOST_PARTS:
            raise DeploymentError(f"has more than {MOST_PARTS} parts", file=self._file, line=line)
        content = node.text or b""
        parts: list[Syntax] = []
        gaps: list[str] = []
        at = node.start_byte
        for child in node.children:
            if child.type == "comment":
                continue
            gaps.append(content[at - node.start_byte : child.start_byte - node.start_byte].decode("utf-8", "replace"))
            parts.append(self.read(child, depth + 1))
            at = child.end_byte
        gaps.append(content[at - node.start_byte :].decode("utf-8", "replace"))
        # Text around other parts is only shown, and never completely.
        whole = not parts or node.type in ("string_lit", "template_literal")
        text = (content if whole else content[:_SHOWN]).decode("utf-8", "replace")
        return Syntax(node.type, text, line, tuple(parts), tuple(gaps))


def _body(body: Syntax | None, names: tuple[str, ...], line: int) -> Block:
    attributes: list[Attribute] = []
    blocks: list[Block] = []
    for part in body.parts if body is not None else ():
        if part.kind == "attribute":
            name, expression = part.first("identifier"), part.first("expression")
            if name is not None and expression is not None:
                attributes.append(Attribute(name.text, expression, part.line))
        elif part.kind == "block":
            inner = tuple(one.text.strip('"') for one in part.of("identifier", "string_lit"))
            blocks.append(_body(part.first("body"), inner, part.line))
    return Block(names, line, tuple(attributes), tuple(blocks))
