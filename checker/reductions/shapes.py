"""A test whether a term becomes another under a renaming, up to the order of arguments; the answer is no if in
doubt.
"""

from __future__ import annotations

from collections.abc import Mapping

import z3

from proofka.checker.terms import Node, TermTable

_COMMUTATIVE = frozenset(
    (z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_XOR, z3.Z3_OP_ADD, z3.Z3_OP_MUL, z3.Z3_OP_EQ, z3.Z3_OP_DISTINCT)
)
_EQUALITIES = (z3.Z3_OP_EQ, z3.Z3_OP_DISTINCT)
_COMPARISONS = (*_EQUALITIES, z3.Z3_OP_LE, z3.Z3_OP_LT, z3.Z3_OP_GE, z3.Z3_OP_GT)
_MIRRORED = {z3.Z3_OP_GE: z3.Z3_OP_LE, z3.Z3_OP_GT: z3.Z3_OP_LT}

_Names = tuple[tuple[int, int], ...]
"""New names of values; empty if the values keep their names."""


class _NotAlike(Exception):
    """A renamed value is used for more than equality."""


class Shapes:
    """Numbers for terms and for their images under one renaming; equal numbers mean equal terms.

    ``places`` renames variables, ``values`` the values of some variables. For renamed values only ``variable ==
    value``, equality among variables with the same renaming, and choices between these have an image.
    """

    def __init__(self, terms: TermTable, places: Mapping[str, str], values: Mapping[str, Mapping[int, int]]) -> None:
        self._terms = terms
        self._places = places
        self._names: dict[str, _Names] = {name: tuple(sorted(renamed.items())) for name, renamed in values.items()}
        self._numbers: dict[tuple[object, ...], int] = {}
        self._known: dict[tuple[int, _Names, bool], int | None] = {}

    def equal(self, term: z3.ExprRef, image: z3.ExprRef, to: str | None = None) -> bool:
        """Tell whether ``image`` is the image of ``term``.

        ``to``: the variable that receives the value. False if in doubt.
        """
        names = self._names.get(to, ()) if to is not None else ()
        one = self._number(self._terms.add(term), names, renamed=True)
        return one is not None and one == self._number(self._terms.add(image), (), renamed=False)

    def _number(self, place: int, names: _Names, renamed: bool) -> int | None:
        key = (place, names, renamed)
        if key not in self._known:
            try:
                self._known[key] = self._compute(self._terms.nodes[place], names, renamed)
            except _NotAlike:
                self._known[key] = None
        return self._known[key]

    def _needed(self, place: int, names: _Names, renamed: bool) -> int:
        number = self._number(place, names, renamed)
        if number is None:
            raise _NotAlike
        return number

    def _compute(self, node: Node, names: _Names, renamed: bool) -> int:
        if node.kind == z3.Z3_OP_ANUM:
            assert isinstance(node.leaf, int)
            return self._interned(node.kind, dict(names).get(node.leaf, node.leaf))
        if node.is_variable:
            name = str(node.leaf)
            if not renamed:
                return self._interned(node.kind, name)
            if self._names.get(name, ()) != names:
                raise _NotAlike
            return self._interned(node.kind, self._places.get(name, name))
        below = names
        if node.kind in _COMPARISONS and renamed:
            below = next((found for child in node.children if (found := self._renamed_leaf(child))), ())
            if below and node.kind not in _EQUALITIES:
                raise _NotAlike
        elif node.kind != z3.Z3_OP_ITE and names:
            raise _NotAlike
        children = [
            self._needed(child, () if node.kind == z3.Z3_OP_ITE and index == 0 else below, renamed)
            for index, child in enumerate(node.children)
        ]
        kind = node.kind
        if kind in _MIRRORED:
            kind = _MIRRORED[kind]
            children.reverse()
        if kind in _COMMUTATIVE:
            children.sort()
        return self._interned(kind, node.leaf, *children)

    def _renamed_leaf(self, place: int) -> _Names:
        """Return the renaming of the values that a number is chosen from; empty if the values keep their names."""
        node = self._terms.nodes[place]
        if node.is_variable:
            return self._names.get(str(node.leaf), ())
        branches = node.children[1:] if node.kind == z3.Z3_OP_ITE else ()
        return next((found for child in branches if (found := self._renamed_leaf(child))), ())

    def _interned(self, *shape: object) -> int:
        return self._numbers.setdefault(shape, len(self._numbers))
