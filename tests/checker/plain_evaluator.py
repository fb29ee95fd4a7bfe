"""A third reading of the terms: walks a Z3 syntax tree in Python, sharing nothing with kernel or solver."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import z3

from proofka.model.language import Action, State

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


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """A term, taken apart.

    ``leaf``: the name of a variable, or the value of a constant. ``term`` keeps Z3 from giving its id to another term.
    """

    term: z3.ExprRef
    kind: int
    parts: tuple[Part, ...]
    leaf: str | int


_TAKEN_APART: dict[int, Part] = {}
"""Terms by their ids: Z3's Python layer needs most of the time to take a term apart, and states do not change terms."""

_MOST_TAKEN_APART = 300_000
"""The number of terms that are kept, of which a deployment has some thousands."""


def taken_apart(term: z3.ExprRef) -> Part:
    """Return the parts of a term, from the table if the term was taken apart before."""
    key = term.get_id()
    if key not in _TAKEN_APART:
        kind, parts = term.decl().kind(), tuple(taken_apart(child) for child in term.children())
        leaf = int(str(term)) if kind == z3.Z3_OP_ANUM else term.decl().name()
        if len(_TAKEN_APART) >= _MOST_TAKEN_APART:
            _TAKEN_APART.clear()
        _TAKEN_APART[key] = Part(term, kind, parts, leaf)
    return _TAKEN_APART[key]


class PlainEvaluator:
    """The values of terms in one concrete state, each shared subterm computed once.

    ``functions``: the functions that the terms apply, by name.
    """

    def __init__(self, state: State, functions: Mapping[str, Callable[..., int]] | None = None) -> None:
        self._state = state
        self._functions = functions or {}
        self._known: dict[Part, Value] = {}

    def value(self, term: z3.ExprRef) -> Value:
        """Return the value of a term: a number, or a truth value."""
        return self._value(taken_apart(term))

    def _value(self, part: Part) -> Value:
        if part not in self._known:
            self._known[part] = self._compute(part)
        return self._known[part]

    def _compute(self, part: Part) -> Value:
        kind, parts = part.kind, part.parts
        if kind == z3.Z3_OP_UNINTERPRETED and parts:
            return self._functions[str(part.leaf)](*map(self._value, parts))
        if kind == z3.Z3_OP_UNINTERPRETED:
            return self._state[str(part.leaf)]
        if kind == z3.Z3_OP_ANUM:
            return int(part.leaf)
        if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
            return kind == z3.Z3_OP_TRUE
        if kind == z3.Z3_OP_ITE:
            condition, then, otherwise = parts
            return self._value(then if self._value(condition) else otherwise)
        if kind == z3.Z3_OP_AND:
            return all(self._value(one) for one in parts)
        if kind == z3.Z3_OP_OR:
            return any(self._value(one) for one in parts)
        if kind == z3.Z3_OP_NOT:
            return not self._value(parts[0])
        values = [self._value(one) for one in parts]
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
        raise NotImplementedError(part.leaf)


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
