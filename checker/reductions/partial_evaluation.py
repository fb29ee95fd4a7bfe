"""Partial evaluation of a shared graph of terms: the values of nodes, and the variables that they read, under
assumptions.

Sets of variables are integers, one bit for each variable.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import z3

from checker.terms import Node, TermTable
from model.language import Variable

Facts = Mapping[int, int]
"""Place of a node -> its assumed value."""


class Known(NamedTuple):
    """Known facts about a node's value: its ``constant``, or the variables that it can depend on and an equal node."""

    constant: int | None
    reads: int
    place: int


class Graph:
    """Terms over the ``variables``, and the facts about each node without assumptions.

    ``mask`` holds the variables below each node, ``base`` the facts about it. All terms must be entered before the
    first question.
    """

    def __init__(self, variables: Sequence[Variable], terms: TermTable) -> None:
        self.variables = variables
        self.index = {variable.name: index for index, variable in enumerate(variables)}
        self.places = [terms.add(variable.term) for variable in variables]
        self.nodes: Sequence[Node] = terms.nodes
        self.mask: list[int] = []
        self.base: list[Known] = []
        for place, node in enumerate(self.nodes):
            own = 1 << self.index[str(node.leaf)] if node.is_variable else 0
            self.mask.append(own | union(self.mask[child] for child in node.children))
            self.base.append(_evaluate(node, place, self.mask[place], [self.base[child] for child in node.children]))

    def place_of(self, variable: Variable) -> int:
        """Return the node of a variable."""
        return self.places[self.index[variable.name]]


class Reading:
    """The nodes of a graph under some facts, each evaluated on first use."""

    def __init__(self, graph: Graph, facts: Facts) -> None:
        self.facts = facts
        self._graph = graph
        self._touched = union(graph.mask[place] for place in facts)
        self._known = {place: Known(int(value), 0, place) for place, value in facts.items()}

    def touches(self, place: int) -> bool:
        """Tell whether the facts can matter to a node."""
        return self._graph.mask[place] & self._touched != 0

    def value(self, place: int) -> Known:
        """Return the facts about a node."""
        graph = self._graph
        if not graph.mask[place] & self._touched:
            return graph.base[place]
        known = self._known.get(place)
        if known is None:
            node = graph.nodes[place]
            known = _evaluate(node, place, graph.mask[place], [self.value(child) for child in node.children])
            self._known[place] = known
        return known

    def assuming(self, place: int, value: int) -> Reading | None:
        """Return the same reading with a further value of a node, and its direct consequences; None if impossible."""
        known = self.value(place).constant
        if known is not None:
            return self if known == value else None
        graph, node = self._graph, self._graph.nodes[place]
        facts = {**self.facts, place: value}
        if node.kind == z3.Z3_OP_EQ and value:
            for one, other in (node.children, node.children[::-1]):
                if graph.nodes[one].is_variable and graph.nodes[other].kind == z3.Z3_OP_ANUM:
                    facts[one] = int(graph.nodes[other].leaf or 0)
        assumed = Reading(graph, facts)
        if node.kind == z3.Z3_OP_NOT:
            return assumed.assuming(node.children[0], not value)
        more: Reading | None = assumed
        if node.kind == (z3.Z3_OP_AND if value else z3.Z3_OP_OR):
            for child in node.children:
                more = None if more is None else more.assuming(child, value)
        return more

    def branches(self, place: int) -> Iterator[tuple[Reading, int]]:
        """Yield the possible branches of a choice, with the assumptions of each branch."""
        condition, *branches = self._graph.nodes[place].children
        for truth, branch in zip((True, False), branches, strict=True):
            assumed = self.assuming(condition, truth)
            if assumed is not None:
                yield assumed, branch

    def possible(self, place: int) -> set[int] | None:
        """Return every value that a node can have; None if its form does not tell."""
        known = self.value(place)
        if known.constant is not None:
            return {known.constant}
        node = self._graph.nodes[known.place]
        if node.is_variable:
            variable = self._graph.variables[self._graph.index[str(node.leaf)]]
            return set(range(variable.low, variable.high + 1))
        if node.kind == z3.Z3_OP_ITE:
            then, otherwise = self.possible(node.children[1]), self.possible(node.children[2])
            return None if then is None or otherwise is None else then | otherwise
        return None


def union(masks: Iterable[int]) -> int:
    """Return the union of sets of variables."""
    result = 0
    for mask in masks:
        result |= mask
    return result


def reads(children: Iterable[Known]) -> int:
    """Return the variables that several nodes read together."""
    return union(child.reads for child in children)


_FOLDS: Mapping[int, Callable[[Sequence[int]], int]] = {
    z3.Z3_OP_NOT: lambda values: not values[0],
    z3.Z3_OP_UMINUS: lambda values: -values[0],
    z3.Z3_OP_ADD: sum,
    z3.Z3_OP_SUB: lambda values: values[0] - sum(values[1:]),
    z3.Z3_OP_MUL: math.prod,
    z3.Z3_OP_DISTINCT: lambda values: len(set(values)) == len(values),
    z3.Z3_OP_IMPLIES: lambda values: not values[0] or values[1],
    z3.Z3_OP_EQ: lambda values: operator.eq(*values),
    z3.Z3_OP_LE: lambda values: operator.le(*values),
    z3.Z3_OP_LT: lambda values: operator.lt(*values),
    z3.Z3_OP_GE: lambda values: operator.ge(*values),
    z3.Z3_OP_GT: lambda values: operator.gt(*values),
}
"""Operators with their values for constants. The value of any other operator is assumed to depend on everything that
its operands read."""


def _evaluate(node: Node, place: int, mask: int, children: Sequence[Known]) -> Known:
    """Return the facts about a node from the facts about its children; ``mask`` is everything that it could read."""
    kind = node.kind
    if not children:
        if kind == z3.Z3_OP_ANUM:
            return Known(int(node.leaf or 0), 0, place)
        if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
            return Known(kind == z3.Z3_OP_TRUE, 0, place)
        return Known(None, mask, place)
    if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR):
        decides = kind == z3.Z3_OP_OR
        undecided = [child for child in children if child.constant is None]
        if any(child.constant == decides for child in children if child.constant is not None):
            return Known(decides, 0, place)
        if not undecided:
            return Known(not decides, 0, place)
        return undecided[0] if len(undecided) == 1 else Known(None, reads(undecided), place)
    if kind == z3.Z3_OP_ITE:
        condition, then, otherwise = children
        if condition.constant is not None:
            return then if condition.constant else otherwise
        if then.constant == otherwise.constant and (then.constant is not None or then.place == otherwise.place):
            return then
        return Known(None, reads(children), place)
    values = [child.constant for child in children if child.constant is not None]
    if len(values) == len(children) and kind in _FOLDS:
        return Known(int(_FOLDS[kind](values)), 0, place)
    return Known(None, reads(children), place)
