"""What Z3 says about a system: no update leaves its domain, which actions can happen, what a step leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import z3

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


def at(system: TransitionSystem, state: State) -> z3.BoolRef:
    """The formula that the system is in this concrete state."""
    return z3.And(*(variable.term == state[variable.name] for variable in system.variables))


def replay_step(system: TransitionSystem, state: State, action: Action) -> dict[str, int] | None:
    """The state after ``action``, as Z3 computes it from the terms; None if the action is not enabled.

    Raises :class:`SolverUndecided` if Z3 gives up.
    """
    solver = z3.Solver()
    solver.add(at(system, state), action.guard)
    after = {variable: z3.Int(f"{variable.name}'") for variable in action.updates}
    solver.add(*(after[variable] == value for variable, value in action.updates.items()))
    if not _satisfiable(solver, action):
        return None
    model = solver.model()
    changed = {variable.name: model.eval(term, model_completion=True).as_long() for variable, term in after.items()}
    return {**state, **changed}


def holds_in(system: TransitionSystem, state: State, term: z3.BoolRef) -> bool:
    """Whether a Boolean term holds in a concrete state, as Z3 decides it."""
    solver = z3.Solver()
    solver.add(at(system, state), term)
    answer = solver.check()
    if answer == z3.unknown:
        raise SolverUndecided(f"Z3 cannot decide {term}: {solver.reason_unknown()}")
    return bool(answer == z3.sat)


def evaluate(terms: Mapping[str, z3.ExprRef], system: TransitionSystem, state: State) -> dict[str, z3.ExprRef]:
    """Each term simplified in a concrete state."""
    pairs = [(variable.term, z3.IntVal(state[variable.name])) for variable in system.variables]
    return {name: z3.simplify(z3.substitute(term, *pairs)) for name, term in terms.items()}
