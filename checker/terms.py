"""Z3 terms as a table of nodes: each shared subterm once, children before parents.

Walking Z3's own objects costs microseconds for each node, so readers that visit a term many times walk this table. The
table is filled by calling Z3's library without its Python layer.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import z3

from proofka.model.language.z3_library import function

_ADDRESS = ctypes.c_void_p


class Node(NamedTuple):
    """One operator application: Z3's operator ``kind`` over earlier nodes; ``leaf`` is a variable's name or a value."""

    kind: int
    children: tuple[int, ...]
    leaf: str | int | None
    depth: int

    @property
    def is_variable(self) -> bool:
        """Tell whether the node is a variable; ``leaf`` is its name."""
        return self.kind == z3.Z3_OP_UNINTERPRETED and not self.children


_declaration_of = function("Z3_get_app_decl", _ADDRESS, _ADDRESS, _ADDRESS)
_count_of = function("Z3_get_app_num_args", ctypes.c_uint, _ADDRESS, _ADDRESS)
_child_of = function("Z3_get_app_arg", _ADDRESS, _ADDRESS, _ADDRESS, ctypes.c_uint)
_kind_of = function("Z3_get_decl_kind", ctypes.c_int, _ADDRESS, _ADDRESS)
_is_application = function("Z3_is_app", ctypes.c_bool, _ADDRESS, _ADDRESS)
_is_numeral = function("Z3_is_numeral_ast", ctypes.c_bool, _ADDRESS, _ADDRESS)
_name_of = function("Z3_get_decl_name", _ADDRESS, _ADDRESS, _ADDRESS)
_string_of = function("Z3_get_symbol_string", ctypes.c_char_p, _ADDRESS, _ADDRESS)
_numeral_of = function("Z3_get_numeral_string", ctypes.c_char_p, _ADDRESS, _ADDRESS)


@dataclass
class TermTable:
    """Nodes in an order in which children come before their parents.

    Z3 keeps equal terms once, so a term's address identifies the term while the term is alive. The table keeps all
    entered terms alive, and so their subterms.
    """

    nodes: list[Node] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    _operators: dict[int, tuple[int, str]] = field(default_factory=dict)
    _keep_alive: list[z3.ExprRef] = field(default_factory=list)

    def add(self, term: z3.ExprRef) -> int:
        """Enter a term, and return the place of its node. Raise :class:`TypeError` for a term with a quantifier."""
        address = term.as_ast().value
        place = self._places.get(address)
        if place is not None:
            return place
        self._keep_alive.append(term)
        return self._add(term.ctx_ref().value, address)

    def _add(self, context: int, address: int) -> int:
        if not _is_application(context, address):
            raise TypeError("a quantifier or a bound variable: the models have neither")
        operator = _declaration_of(context, address)
        found = self._operators.get(operator)
        if found is None:
            name = _string_of(context, _name_of(context, operator)).decode()
            self._operators[operator] = found = _kind_of(context, operator), name
        kind, name = found
        children = []
        depth = 0
        for index in range(_count_of(context, address)):
            below = _child_of(context, address, index)
            place = self._places.get(below)
            if place is None:
                place = self._add(context, below)
            children.append(place)
            depth = max(depth, self.nodes[place].depth)
        leaf: str | int | None = name if kind == z3.Z3_OP_UNINTERPRETED or not children else None
        if not children and _is_numeral(context, address):
            leaf = int(_numeral_of(context, address))
        place = len(self.nodes)
        self.nodes.append(Node(kind, tuple(children), leaf, depth + 1))
        self._places[address] = place
        return place

    def conjuncts(self, place: int) -> frozenset[int]:
        """Return the conditions that must all hold for the node to hold."""
        return conjuncts(self.nodes, place)


def conjuncts(nodes: Sequence[Node], place: int) -> frozenset[int]:
    """Return the conditions that must all hold for a node of a table to hold."""
    node = nodes[place]
    if node.kind == z3.Z3_OP_AND:
        return frozenset(part for child in node.children for part in conjuncts(nodes, child))
    return frozenset() if node.kind == z3.Z3_OP_TRUE else frozenset({place})


_COMMUTATIVE = frozenset(
    {
        z3.Z3_OP_AND,
        z3.Z3_OP_OR,
        z3.Z3_OP_XOR,
        z3.Z3_OP_ADD,
        z3.Z3_OP_MUL,
        z3.Z3_OP_EQ,
        z3.Z3_OP_DISTINCT,
    }
)


def hashes(nodes: Sequence[Node]) -> list[bytes]:
    """Return the hash of each node of a table, independent of the order of commutative arguments.

    Z3 orders arguments by its earlier work, so their order has no meaning.
    """
    known: list[bytes] = []
    for node in nodes:
        children = [known[child] for child in node.children]
        if node.kind in _COMMUTATIVE:
            children.sort()
        written = f"{node.kind}|{node.leaf}|".encode() + b"".join(children)
        known.append(hashlib.blake2b(written, digest_size=16).digest())
    return known
