"""The choice of parts that get a name, so that a text grows only with the number of different parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from proofka.checker.export.expressions import Expressions, Op

LARGE = 9
"""Smallest number of operators, names and numbers of a part that gets a name if it is used twice."""
LARGE_VALUE = 5
"""The same number for a part that is also a variable's new value."""


def shared(expressions: Expressions, roots: Iterable[int], values: Collection[int] = ()) -> list[int]:
    """Return the large parts that occur more than once among these expressions, each after its own parts.

    ``values`` are new values of variables. A part that already has a name counts as one word, and is not searched.
    """
    uses: dict[int, int] = {}
    order: list[int] = []

    def visit(place: int) -> None:
        uses[place] = uses.get(place, 0) + 1
        if uses[place] == 1:
            node = expressions.nodes[place]
            for child in node.children if node.op is not Op.NAMED else ():
                visit(child)
            order.append(place)

    for root in roots:
        visit(root)
    sizes: dict[int, int] = {}
    found = []
    for place in order:
        node = expressions.nodes[place]
        size = 1 + sum(sizes[child] for child in node.children) if node.op is not Op.NAMED else 1
        named = uses[place] > 1 and size >= (LARGE_VALUE if place in values else LARGE)
        found += [place] if named else []
        sizes[place] = 1 if named else size
    return found
