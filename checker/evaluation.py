"""Terms evaluated in a concrete state, by plain Python: many terms at once, each shared part once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import and_, mul, or_

import z3

from checker.terms import TermTable
from model.language import State

Value = int | bool


class UnknownOperator(Exception):
    """A term uses an operator that no model is written with."""


_OPERATORS: dict[int, Callable[[Sequence[Value]], Value]] = {
    z3.Z3_OP_TRUE: lambda _: True,
    z3.Z3_OP_FALSE: lambda _: False,
    z3.Z3_OP_AND: lambda values: bool(reduce(and_, values, True)),
    z3.Z3_OP_OR: lambda values: bool(reduce(or_, values, False)),
    z3.Z3_OP_NOT: lambda values: not values[0],
    z3.Z3_OP_IMPLIES: lambda values: not values[0] or bool(values[1]),
    z3.Z3_OP_EQ: lambda values: values[0] == values[1],
    z3.Z3_OP_DISTINCT: lambda values: len(set(values)) == len(values),
    z3.Z3_OP_ITE: lambda values: values[1] if values[0] else values[2],
    z3.Z3_OP_LE: lambda values: values[0] <= values[1],
    z3.Z3_OP_LT: lambda values: values[0] < values[1],
    z3.Z3_OP_GE: lambda values: values[0] >= values[1],
    z3.Z3_OP_GT: lambda values: values[0] > values[1],
    z3.Z3_OP_ADD: sum,
    z3.Z3_OP_SUB: lambda values: values[0] - sum(values[1:]),
    z3.Z3_OP_UMINUS: lambda values: -values[0],
    z3.Z3_OP_MUL: lambda values: reduce(mul, values, 1),
}


class Evaluator:
    """Evaluates always the same terms."""

    def __init__(self, terms: Iterable[z3.ExprRef]) -> None:
        table = TermTable()
        self._places = [table.add(term) for term in terms]
        self._nodes = table.nodes
        for node in self._nodes:
            if not (node.is_variable or node.kind == z3.Z3_OP_ANUM or node.kind in _OPERATORS):
                raise UnknownOperator(f"no model is written with operator {node.kind} of Z3")

    def values(self, state: State) -> list[Value]:
        """The value of each term in a state."""
        values: list[Value] = []
        for node in self._nodes:
            if node.is_variable:
                values.append(state[str(node.leaf)])
            elif node.kind == z3.Z3_OP_ANUM:
                assert isinstance(node.leaf, int)
                values.append(node.leaf)
            else:
                values.append(_OPERATORS[node.kind]([values[child] for child in node.children]))
        return [values[place] for place in self._places]
