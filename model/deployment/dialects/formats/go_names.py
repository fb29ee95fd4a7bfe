"""The variable of each name in a Go program, and every place of its use.

Blocks and their declarations are those of the Go specification ("Blocks", "Declarations and scope"). A name means the
declaration before it in the innermost enclosing block. Parameters belong to the function, declarations in the head of
an ``if``, ``for`` or ``switch`` to that statement, and declarations outside of functions to the package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from proofka.model.deployment.dialects.formats.syntax import named, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Variable: TypeAlias = tuple[int, str]
"""The declaring block (its node's id), and the name; for a field, also the variable's name: ``s.conf``."""

FUNCTIONS = ("function_declaration", "method_declaration", "func_literal")
_BLOCKS = (
    *FUNCTIONS,
    "source_file",
    "block",
    "if_statement",
    "for_statement",
    "expression_switch_statement",
    "type_switch_statement",
    "select_statement",
    "expression_case",
    "type_case",
    "default_case",
    "communication_case",
)
_PARAMETERS = ("parameter_declaration", "variadic_parameter_declaration")
_SPECS = ("var_spec", "const_spec", *_PARAMETERS)
_AT_ONCE = (*FUNCTIONS, "source_file")
"""Blocks whose declarations (of the file, or parameters) are known in the whole block."""


class _Block(NamedTuple):
    """A block with its enclosing block."""

    id: int
    kind: str
    around: _Block | None


class Names:
    """The variables of one file."""

    def __init__(self, root: Node) -> None:
        self._declared: dict[Variable, tuple[int, set[int]]] = {}
        self._keys: dict[int, Variable] = {}
        self._fields: dict[str, list[Node]] = {}
        self._uses: dict[Variable, list[Node]] = {}
        for node, block in _walk(root):
            for name in _declares(node):
                owner = block if node.type not in _PARAMETERS else _function(block)
                at = 0 if owner.kind in _AT_ONCE else node.end_byte
                before, ids = self._declared.get((owner.id, text_of(name)), (at, set()))
                self._declared[owner.id, text_of(name)] = (min(before, at), ids | {name.id})
        for node, block in _walk(root):
            if node.type == "selector_expression":
                self._fields.setdefault(text_of(node.child_by_field_name("field")), []).append(node)
            elif node.type == "identifier" and not _is_key(node):
                key = self._resolve(node, block)
                self._keys[node.id] = key
                self._uses.setdefault(key, []).append(node)

    def _resolve(self, node: Node, block: _Block) -> Variable:
        text = text_of(node)
        while block.around is not None:
            seen_from, ids = self._declared.get((block.id, text), (node.end_byte, set()))
            if seen_from <= node.start_byte or node.id in ids:
                break
            block = block.around
        return block.id, text

    def variable(self, node: Node | None) -> Variable | None:
        """Return the variable of a name or field; None for any other expression."""
        fields: list[str] = []
        while node is not None and node.type == "selector_expression":
            fields.append(text_of(node.child_by_field_name("field")))
            node = node.child_by_field_name("operand")
        key = None if node is None else self._keys.get(node.id)
        return None if key is None else (key[0], ".".join((key[1], *reversed(fields))))

    def uses(self, variable: Variable) -> list[Node]:
        """Return every use of a variable in the file; for a field, every place with a field of that name."""
        _, _, name = variable[1].rpartition(".")
        return self._fields.get(name, []) if "." in variable[1] else self._uses.get(variable, [])

    @property
    def fields(self) -> Mapping[str, list[Node]]:
        """Every place with a field, by its name."""
        return self._fields


def _walk(root: Node) -> Iterator[tuple[Node, _Block]]:
    """Yield every node with its innermost block."""
    waiting = [(root, _Block(root.id, root.type, None))]
    while waiting:
        node, block = waiting.pop()
        yield node, block
        inner = _Block(node.id, node.type, block) if node.type in _BLOCKS and node.id != root.id else block
        waiting += [(child, inner) for child in reversed(node.children)]


def _function(block: _Block) -> _Block:
    while block.kind not in FUNCTIONS and block.around is not None:
        block = block.around
    return block


def _declares(node: Node) -> list[Node]:
    if node.type in _SPECS:
        return node.children_by_field_name("name")
    kinds = ("short_var_declaration", "range_clause", "receive_statement")
    if node.type in kinds and any(child.type == ":=" for child in node.children):
        return [one for one in named(node.child_by_field_name("left")) if one.type == "identifier"]
    return []


def _is_key(node: Node) -> bool:
    """Tell whether a node is the name of a field in a literal of a struct."""
    above = node.parent
    if above is None or above.type != "literal_element" or above.parent is None:
        return False
    pair = above.parent
    return pair.type == "keyed_element" and pair.child_by_field_name("key") == above
