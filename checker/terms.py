"""Z3 terms as a table of nodes: each shared subterm once, numbered children first.

Walking Z3's own objects costs microseconds a node; readers that visit a term many times walk this table instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import z3


@dataclass(frozen=True)
class Node:
    """One operator application: Z3's operator ``kind`` over earlier nodes; ``leaf`` is a variable's name or a value."""

    kind: int
    children: tuple[int, ...]
    leaf: str | int | None
    depth: int

    @property
    def is_variable(self) -> bool:
        """The node is a variable; ``leaf`` is its name."""
        return self.kind == z3.Z3_OP_UNINTERPRETED and not self.children


@dataclass
class TermTable:
    """Nodes in an order in which children come before their parents."""

    nodes: list[Node] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    _keep_alive: list[z3.ExprRef] = field(default_factory=list)

    def add(self, term: z3.ExprRef) -> int:
        """Enter a term; the place of its node."""
        self._keep_alive.append(term)
        return self._add(term.ctx_ref(), term.as_ast())

    def _add(self, context: z3.ContextObj, ast: z3.Ast) -> int:
        key = z3.Z3_get_ast_id(context, ast)
        place = self._places.get(key)
        if place is None:
            node = self._node(context, ast)
            place = len(self.nodes)
            self.nodes.append(node)
            self._places[key] = place
        return place

    def _node(self, context: z3.ContextObj, ast: z3.Ast) -> Node:
        if z3.Z3_get_ast_kind(context, ast) == z3.Z3_NUMERAL_AST:
            return Node(z3.Z3_OP_ANUM, (), int(z3.Z3_get_numeral_string(context, ast)), 1)
        declaration = z3.Z3_get_app_decl(context, ast)
        kind = z3.Z3_get_decl_kind(context, declaration)
        count = z3.Z3_get_app_num_args(context, ast)
        children = tuple(self._add(context, z3.Z3_get_app_arg(context, ast, index)) for index in range(count))
        name = z3.Z3_get_symbol_string(context, z3.Z3_get_decl_name(context, declaration))
        leaf = name if kind == z3.Z3_OP_UNINTERPRETED or not children else None
        return Node(kind, children, leaf, 1 + max((self.nodes[child].depth for child in children), default=0))

    def conjuncts(self, place: int) -> frozenset[int]:
        """The conditions that must all hold for the node to hold."""
        node = self.nodes[place]
        if node.kind == z3.Z3_OP_AND:
            return frozenset(part for child in node.children for part in self.conjuncts(child))
        return frozenset() if node.kind == z3.Z3_OP_TRUE else frozenset({place})
