"""A third reading of the terms: walks a Z3 syntax tree in Python, sharing nothing with kernel or solver."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping

import z3

from model.language import Action, State

Value = int | bool

BINARY: Mapping[int, Callable[[Value, Value], Value]] = {
    z3.Z3_OP_LE: operator.le,
    z3.Z3_OP_LT: operator.lt,
    z3.Z3_OP_GE: operator.ge,
    z3.Z3_OP_GT: operator.gt,
    z3.Z3_OP_EQ: operator.eq,
    z3.Z3_OP_IFF: operator.eq,
    z3.Z3_OP_XOR: operator.ne,
    z3.Z3_OP_IMPLIES: lambda one, other: not one or other,
}


class PlainEvaluator:
    """The values of terms in one concrete state, each shared subterm computed once."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._known: dict[int, Value] = {}

    def value(self, term: z3.ExprRef) -> Value:
        """Return the value of a term: a number, or a truth value."""
        key = term.get_id()
        if key not in self._known:
            self._known[key] = self._compute(term)
        return self._known[key]

    def _compute(self, term: z3.ExprRef) -> Value:
        kind, children = term.decl().kind(), term.children()
        if kind == z3.Z3_OP_UNINTERPRETED:
            return self._state[term.decl().name()]
        if kind == z3.Z3_OP_ANUM:
            return int(str(term))
        if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
            return kind == z3.Z3_OP_TRUE
        if kind == z3.Z3_OP_ITE:
            condition, then, otherwise = children
            return self.value(then if self.value(condition) else otherwise)
        if kind == z3.Z3_OP_AND:
            return all(self.value(child) for child in children)
        if kind == z3.Z3_OP_OR:
            return any(self.value(child) for child in children)
        if kind == z3.Z3_OP_NOT:
            return not self.value(children[0])
        values = [self.value(child) for child in children]
        if kind == z3.Z3_OP_ADD:
            return sum(values)
        if kind == z3.Z3_OP_SUB:
            return values[0] - sum(values[1:])
        if kind == z3.Z3_OP_UMINUS:
            return -values[0]
        if kind == z3.Z3_OP_MUL:
            product = 1
            for value in values:
                product *= value
            return product
        if kind == z3.Z3_OP_DISTINCT:
            return len(set(values)) == len(values)
        if kind in BINARY and len(values) == 2:
            return BINARY[kind](*values)
        raise NotImplementedError(term.decl().name())


def holds(term: z3.BoolRef, state: State) -> bool:
    """Tell whether a Boolean term holds in a concrete state."""
    return bool(PlainEvaluator(state).value(term))


def successor(action: Action, state: State) -> dict[str, int] | None:
    """Return the state after an action, or None where it is not enabled."""
    return successors([action], state).get(str(action))


def successors(actions: Iterable[Action], state: State) -> dict[str, dict[str, int]]:
    """Return the states after every action that is enabled, by the action's name and arguments."""
    evaluator = PlainEvaluator(state)
    return {
        str(action): {**state, **{variable.name: int(evaluator.value(new)) for variable, new in action.updates.items()}}
        for action in actions
        if evaluator.value(action.guard)
    }
