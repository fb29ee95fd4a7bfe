"""One step of a finite system for Z3: values as short bit vectors, and statements as Boolean variables.

The search for an invariant asks thousands of small questions, which Z3 answers faster about bits than about numbers.
Leader epochs have as many values as there can be different epochs in a state. No proof rests on this encoding: the
scripts of a proof are written from the terms of the open system (checker/invariants/scripts.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import z3

from proofka.checker.invariants.statements import Statements
from proofka.checker.terms import Node, TermTable
from proofka.model.language.lemmas import OpenSystem

_SAME = {
    z3.Z3_OP_AND: z3.And,
    z3.Z3_OP_OR: z3.Or,
    z3.Z3_OP_NOT: z3.Not,
    z3.Z3_OP_IMPLIES: z3.Implies,
    z3.Z3_OP_XOR: z3.Xor,
    z3.Z3_OP_DISTINCT: z3.Distinct,
    z3.Z3_OP_ITE: z3.If,
    z3.Z3_OP_EQ: lambda left, right: left == right,
    z3.Z3_OP_IFF: lambda left, right: left == right,
    z3.Z3_OP_LE: lambda left, right: left <= right,
    z3.Z3_OP_LT: lambda left, right: left < right,
    z3.Z3_OP_GE: lambda left, right: left >= right,
    z3.Z3_OP_GT: lambda left, right: left > right,
    z3.Z3_OP_ADD: lambda *parts: reduce(add, parts),
    z3.Z3_OP_SUB: lambda left, right: left - right,
    z3.Z3_OP_UMINUS: lambda one: -one,
    z3.Z3_OP_MUL: lambda left, right: left * right,
    z3.Z3_OP_TRUE: lambda: z3.BoolVal(True),
    z3.Z3_OP_FALSE: lambda: z3.BoolVal(False),
}
"""The operators, each with the operator on bit vectors or truth values."""


class Bits:
    """The terms of a system as terms over bit vectors that are wide enough for every value of a variable."""

    def __init__(self, system: OpenSystem) -> None:
        self.most_epoch = len(system.endless) + 3
        largest = max((max(abs(one.low), abs(one.high)) for one in system.variables), default=1)
        self.width = max(largest, self.most_epoch).bit_length() + 2
        self._table = TermTable()
        self._made: list[Any] = []

    def before(self, name: str) -> Any:
        """Return the variable's value before the step."""
        return z3.BitVec(name, self.width)

    def after(self, name: str) -> Any:
        """Return the variable's value after the step."""
        return z3.BitVec(f"{name}'", self.width)

    def of(self, term: z3.ExprRef) -> Any:
        """Return a term over the values before the step."""
        place = self._table.add(term)
        for node in self._table.nodes[len(self._made) :]:
            self._made.append(self._of_node(node))
        return self._made[place]

    def _of_node(self, node: Node) -> Any:
        if node.is_variable:
            return self.before(str(node.leaf))
        if node.kind == z3.Z3_OP_ANUM:
            return z3.BitVecVal(int(str(node.leaf)), self.width)
        return _SAME[node.kind](*(self._made[child] for child in node.children))


class FiniteStep:
    """The conditions on a state, and on a step from the state to the next one.

    ``before`` and ``after``: a Boolean variable for each statement, of the states before and after the step. ``takes``:
    for each action a Boolean variable, of which a step makes one true. ``allowed``: whether the guard of each action
    holds.
    """

    def __init__(self, system: OpenSystem, seen: Statements) -> None:
        self._system = system
        self.bits = Bits(system)
        self.before = [z3.Bool(f"before {number}") for number in range(len(seen.all))]
        self.after = [z3.Bool(f"after {number}") for number in range(len(seen.all))]
        self.takes = [z3.Bool(f"takes {number}") for number in range(len(system.actions))]
        self.allowed = [z3.Bool(f"allowed {number}") for number in range(len(system.actions))]
        self._seen = seen
        self._changing: dict[str, set[int]] = {variable.name: set() for variable in system.variables}
        for number, action in enumerate(system.actions):
            for variable in action.updates:
                self._changing[variable.name].add(number)
        self.idle: list[frozenset[int]] = [
            frozenset(range(len(self.takes))).difference(*(self._changing[name] for name in one.variables))
            for one in seen.all
        ]
        """For each statement, the actions that change none of its variables."""

    def state(self) -> list[z3.BoolRef]:
        """Return the conditions on the state before the step."""
        found = [one == spoken.term(self.bits.before) for one, spoken in zip(self.before, self._seen.all, strict=True)]
        for variable in self._system.variables:
            high = self.bits.most_epoch if variable.name in self._system.endless else variable.high
            value = self.bits.before(variable.name)
            found += [value >= variable.low, value <= high]
        return found

    def guards(self) -> list[z3.BoolRef]:
        """Return the conditions that a step takes an action whose guard holds."""
        return [z3.Implies(takes, allowed) for takes, allowed in zip(self.takes, self.allowed, strict=True)]

    def step(self) -> list[z3.BoolRef]:
        """Return the conditions on the effect of the step, whether the guard holds or not."""
        bits = self.bits
        found = [z3.AtMost(*self.takes, 1), z3.Or(*self.takes)]
        for takes, allowed, action in zip(self.takes, self.allowed, self._system.actions, strict=True):
            found.append(allowed == bits.of(action.guard))
            for variable, value in action.updates.items():
                found.append(z3.Implies(takes, bits.after(variable.name) == bits.of(value)))
        for name, changing in self._changing.items():
            stays = bits.after(name) == bits.before(name)
            found.append(z3.Or(*(self.takes[number] for number in sorted(changing)), stays))
        found += [one == spoken.term(bits.after) for one, spoken in zip(self.after, self._seen.all, strict=True)]
        return found

    def condition(self, term: z3.BoolRef) -> z3.BoolRef:
        """Return a condition on the state before the step."""
        condition: z3.BoolRef = self.bits.of(term)
        return condition


def literal(number: int, truths: Sequence[z3.BoolRef]) -> z3.BoolRef:
    """Return a literal as a condition (checker/invariants/mining.py has the numbers of literals)."""
    return truths[number >> 1] if number & 1 else z3.Not(truths[number >> 1])
