"""Conditions on many packed states at once: Z3 terms over the model's variables, computed with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np
import z3
from numpy.typing import NDArray

from proofka.checker.evaluation import UnknownOperator
from proofka.checker.kernel.layout import Layout, Words
from proofka.checker.terms import Node, TermTable

Values = NDArray[np.int64] | NDArray[np.bool_]
"""The value of a term in each state."""


def _different(values: Sequence[Values]) -> Values:
    pairs = [values[one] != values[other] for other in range(len(values)) for one in range(other)]
    return np.asarray(np.logical_and.reduce(pairs), dtype=np.bool_)


_OPERATORS: Mapping[int, Callable[[Sequence[Values]], Values]] = {
    z3.Z3_OP_AND: lambda values: reduce(np.logical_and, values),
    z3.Z3_OP_OR: lambda values: reduce(np.logical_or, values),
    z3.Z3_OP_NOT: lambda values: np.logical_not(values[0]),
    z3.Z3_OP_IMPLIES: lambda values: np.logical_or(np.logical_not(values[0]), values[1]),
    z3.Z3_OP_EQ: lambda values: values[0] == values[1],
    z3.Z3_OP_DISTINCT: _different,
    z3.Z3_OP_ITE: lambda values: np.where(values[0], values[1], values[2]),
    z3.Z3_OP_LE: lambda values: values[0] <= values[1],
    z3.Z3_OP_LT: lambda values: values[0] < values[1],
    z3.Z3_OP_GE: lambda values: values[0] >= values[1],
    z3.Z3_OP_GT: lambda values: values[0] > values[1],
    z3.Z3_OP_ADD: lambda values: reduce(np.add, values),
    z3.Z3_OP_SUB: lambda values: reduce(np.subtract, values),
    z3.Z3_OP_UMINUS: lambda values: np.negative(values[0]),
}
"""For each operator, a function from the values of its operands."""

_CONSTANTS = {z3.Z3_OP_TRUE: True, z3.Z3_OP_FALSE: False, z3.Z3_OP_AND: True, z3.Z3_OP_OR: False}
"""The value of an operator without operands."""


class Condition:
    """A condition that tells, for each of many packed states, whether the condition holds there."""

    def __init__(self, term: z3.BoolRef, layout: Layout) -> None:
        table = TermTable()
        self._place = table.add(term)
        self._nodes: Sequence[Node] = table.nodes
        self._layout = layout

    def holds(self, rows: Words) -> NDArray[np.bool_]:
        """Return, for each row, whether the condition holds in the row's state.

        Raise :class:`UnknownOperator`, or KeyError for a variable that the states do not have.
        """
        known: list[Values] = []
        for node in self._nodes:
            known.append(self._value(node, known, rows))
        return np.broadcast_to(np.asarray(known[self._place], dtype=np.bool_), (len(rows),))

    def _value(self, node: Node, known: Sequence[Values], rows: Words) -> Values:
        if node.is_variable:
            field = self._layout.fields[str(node.leaf)]
            bits = (rows[:, field.word] >> np.uint64(field.shift)) & np.uint64((1 << field.width) - 1)
            return bits.astype(np.int64) + field.variable.low
        if node.kind == z3.Z3_OP_ANUM:
            return np.asarray(node.leaf, dtype=np.int64)
        if not node.children and node.kind in _CONSTANTS:
            return np.asarray(_CONSTANTS[node.kind])
        if node.kind not in _OPERATORS:
            raise UnknownOperator(f"no model is written with operator {node.kind} of Z3")
        return _OPERATORS[node.kind]([known[child] for child in node.children])
