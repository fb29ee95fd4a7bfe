"""What Z3 says about a system: no update leaves its domain, which actions can happen, what a step leads to."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import z3

from checker.cone import FreeVariables
from model.language import Action, State, TransitionSystem, Variable


class UnsafeUpdate(Exception):
    """An action can take a variable out of its domain: the model is wrong, and a packed field would overflow."""


class SolverUndecided(Exception):
    """Z3 gave no answer to a question that the checker cannot go without."""


def prove_domain_safety(system: TransitionSystem) -> TransitionSystem:
    """Prove ``domain and guard => domain'`` of every action, and drop the actions that can never happen.

    Raises :class:`UnsafeUpdate` with the action and a state where it leaves the domain.
    """
    solver = z3.Solver()
    solver.set("ctrl_c", False)
    solver.add(system.domain)
    feasible = []
    for action in system.actions:
        solver.push()
        solver.add(action.guard)
        if _satisfiable(solver, action):
            feasible.append(action)
            escapes = [_escapes(variable, value) for variable, value in action.updates.items()]
            doubtful = [escape for escape in escapes if not z3.is_false(escape)]
            if doubtful:
                solver.add(z3.Or(*doubtful))
                if _satisfiable(solver, action):
                    raise UnsafeUpdate(f"{action} leaves the domain in {solver.model()}")
        solver.pop()
    return replace(system, actions=tuple(feasible))


def _satisfiable(solver: z3.Solver, action: Action) -> bool:
    answer = solver.check()
    if answer == z3.unknown:
        raise SolverUndecided(f"Z3 cannot decide {action}: {solver.reason_unknown()}")
    return bool(answer == z3.sat)


def _escapes(variable: Variable, value: z3.ArithRef) -> z3.BoolRef:
    """The value is outside the variable's domain; false where its form alone shows that it is not."""
    low, high = _bounds_by_form(value, variable)
    if variable.low <= low and high <= variable.high:
        return z3.BoolVal(False)
    return z3.Or(value < variable.low, value > variable.high)


def _bounds_by_form(value: z3.ArithRef, variable: Variable) -> tuple[float, float]:
    """The bounds of a choice among constants and the variable itself; unbounded for anything else."""
    if z3.is_int_value(value):
        return value.as_long(), value.as_long()
    if value.eq(variable.term):
        return variable.low, variable.high
    if z3.is_app_of(value, z3.Z3_OP_ITE):
        _, then, otherwise = value.children()
        one, other = _bounds_by_form(then, variable), _bounds_by_form(otherwise, variable)
        return min(one[0], other[0]), max(one[1], other[1])
    return float("-inf"), float("inf")


class Replayer:
    """Z3's reading of single steps and states, with what it prepares for an action kept for the next time."""

    def __init__(self, system: TransitionSystem) -> None:
        self._constants = {variable.name: variable.term for variable in system.variables}
        self._free = FreeVariables()
        self._relations: dict[int, tuple[Action, z3.BoolRef]] = {}
        self._steps: dict[tuple[int, tuple[tuple[str, int], ...]], dict[str, int] | None] = {}

    def step(self, state: State, action: Action) -> dict[str, int] | None:
        """The state after ``action``, as Z3 computes it from the terms; None if the action is not enabled.

        Runs to different violations begin alike, so Z3's answers are kept. Raises :class:`SolverUndecided` if Z3 does
        not come to a value.
        """
        relation = self._relation(action)
        asked = id(action), tuple(state.items())
        if asked not in self._steps:
            self._steps[asked] = self._computed(relation, state, action)
        return self._steps[asked]

    def _computed(self, relation: z3.BoolRef, state: State, action: Action) -> dict[str, int] | None:
        outcome = self._in_state(relation, state)
        if z3.is_false(outcome):
            return None
        after = {_primed(variable): variable.name for variable in action.updates}
        following = dict(state)
        for equation in outcome.children() if z3.is_and(outcome) else [outcome]:
            sides = sorted(equation.children(), key=z3.is_int_value)
            if not z3.is_eq(equation) or not z3.is_int_value(sides[1]) or sides[0].decl().name() not in after:
                raise SolverUndecided(f"Z3 does not come to a value for {action}: {equation}")
            following[after.pop(sides[0].decl().name())] = sides[1].as_long()
        if after:
            raise SolverUndecided(f"Z3 leaves {', '.join(after.values())} open after {action}")
        return following

    def _relation(self, action: Action) -> z3.BoolRef:
        """Guard and updates as one formula over the state and the primed variables."""
        kept = self._relations.get(id(action))
        if kept is None:
            assignments = [z3.Int(_primed(variable)) == value for variable, value in action.updates.items()]
            # The action is kept with its formula, so that no other can take its place in memory.
            kept = action, z3.And(action.guard, *assignments)
            self._relations[id(action)] = kept
        return kept[1]

    def holds(self, state: State, term: z3.BoolRef) -> bool:
        """Whether a formula holds in a concrete state, as Z3 decides it."""
        value = self._in_state(term, state)
        if not (z3.is_true(value) or z3.is_false(value)):
            raise SolverUndecided(f"Z3 does not decide {value}")
        return bool(z3.is_true(value))

    def _in_state(self, term: z3.BoolRef, state: State) -> z3.BoolRef:
        names = self._free.of(term) & self._constants.keys()
        pairs = [(self._constants[name], _value(state[name])) for name in names]
        return z3.simplify(z3.substitute(term, *pairs))


def _primed(variable: Variable) -> str:
    return f"{variable.name}'"


@cache
def _value(value: int) -> z3.IntNumRef:
    return z3.IntVal(value)
