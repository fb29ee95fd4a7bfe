"""Names for parts of terms, so that a script for programs grows and nests little: ``t0``, ``t1``, ... in order.

The parts that a reader wants named are fewer (checker/export/sharing.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

DEEPEST = 60
"""Levels of nesting of a written term; a checker of certificates accepts 200."""

OWN_NAME = re.compile(r"t\d+")
"""The names of parts, which no variable may have."""


class Operation(Protocol):
    """An operator over earlier parts of a table, which ``children`` names by their places."""

    @property
    def children(self) -> tuple[int, ...]:
        """The places of the operands."""


def uses_of(parts: Sequence[Operation], roots: Collection[int]) -> dict[int, int]:
    """Return the places of the parts of some terms, each with the number of its uses in other parts."""
    uses, waiting = dict.fromkeys(roots, 0), list(roots)
    while waiting:
        for child in parts[waiting.pop()].children:
            if child not in uses:
                uses[child] = 0
                waiting.append(child)
            uses[child] += 1
    return uses


def names_of(
    parts: Sequence[Operation], uses: Mapping[int, int], *, named: Collection[int] = (), unnamed: Collection[int] = ()
) -> dict[int, str]:
    """Return a name for each part that is used twice, and each part that would nest too deep, by place.

    ``uses``: as of :func:`uses_of`. ``named``, ``unnamed``: the places that have a name whatever their use, and those
    that have none.
    """
    names: dict[int, str] = {}
    depth: dict[int, int] = {}
    for place in sorted(uses):
        children = parts[place].children
        below = 1 + max((depth[child] for child in children), default=0)
        needs_name = bool(children) and place not in unnamed and (uses[place] > 1 or below >= DEEPEST)
        if place in named or needs_name:
            names[place] = f"t{len(names)}"
        depth[place] = 0 if place in names else below
    return names
