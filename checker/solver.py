"""Z3's answers about a system: domain safety of updates, feasible actions, and the successors of states."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import z3

from checker.cone import FreeVariables
from checker.disk_cache import LOG, disk_cache
from checker.forked import in_two_processes
from checker.terms import Node, TermTable, hashes
from model.language import Action, State, TransitionSystem, Variable

Bounds = tuple[float, float]
"""The least and the greatest value that a term can have."""

_ANYTHING = (float("-inf"), float("inf"))


class UnsafeUpdate(Exception):
    """An action can take a variable out of its domain. The model is wrong, and a packed field would overflow."""


class SolverUndecided(Exception):
    """Z3 gave no answer to a question that the checker needs."""


def prove_domain_safety(system: TransitionSystem, terms: TermTable | None = None) -> TransitionSystem:
    """Prove ``domain and guard => domain'`` for every action, and drop the actions that can never happen.

    Proofs for the same system are cached (see :mod:`checker.disk_cache`). ``terms``: a table that receives the system's
    terms. Raise :class:`UnsafeUpdate` with the action and a state in which it leaves the domain.
    """
    table = TermTable() if terms is None else terms
    steps = [_Step(action, table) for action in system.actions]
    cache, key = disk_cache(), _key_of(system, steps, table)
    kept = None if cache is None else cache.read(key)
    if kept is None:
        feasible = _feasible_and_safe(system, steps, table)
        if cache is not None:
            cache.write(key, json.dumps(feasible).encode())
    else:
        feasible = json.loads(kept)
        LOG.info("proof of domain safety found")
    return replace(system, actions=tuple(system.actions[place] for place in feasible))


class _Step:
    """An action, and its terms in a table."""

    def __init__(self, action: Action, table: TermTable) -> None:
        self.action = action
        self.guard = table.add(action.guard)
        self.updates = [(variable, table.add(value)) for variable, value in action.updates.items()]


def _key_of(system: TransitionSystem, steps: Sequence[_Step], table: TermTable) -> str:
    """Return a hash of the proved statements, of the prover's version, and of this file."""
    domains = [(variable.name, variable.low, variable.high) for variable in system.variables]
    known = hashes(table.nodes)
    written = [(known[one.guard], [(variable.name, known[place]) for variable, place in one.updates]) for one in steps]
    provers = z3.get_full_version(), hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return hashlib.sha256(repr((provers, domains, written)).encode()).hexdigest()[:40]


def _feasible_and_safe(system: TransitionSystem, steps: Sequence[_Step], table: TermTable) -> list[int]:
    """Return the places of the actions that can happen, after proving that all of them are safe."""
    bounds = _bounds_by_form(table.nodes, system.variables)
    return sorted(in_two_processes(partial(_feasible_among, system, steps, bounds), range(len(steps))))


def _feasible_among(
    system: TransitionSystem, steps: Sequence[_Step], bounds: Sequence[Bounds], places: Sequence[int]
) -> list[int]:
    """Return those of ``places`` whose actions can happen. Raise :class:`UnsafeUpdate` for an unsafe action."""
    solver = z3.Solver()
    solver.set("ctrl_c", False)
    # Z3's older arithmetic core answers these questions in four fifths of the time.
    solver.set("arith.solver", 2)
    solver.add(system.domain)
    feasible = []
    for place in places:
        step = steps[place]
        solver.push()
        solver.add(step.action.guard)
        if _satisfiable(solver, step.action):
            feasible.append(place)
            doubtful = [
                z3.Or(value < variable.low, value > variable.high)
                for variable, where in step.updates
                if not _within(bounds[where], variable)
                for value in [step.action.updates[variable]]
            ]
            if doubtful:
                solver.add(z3.Or(*doubtful))
                if _satisfiable(solver, step.action):
                    raise UnsafeUpdate(f"{step.action} leaves the domain in {solver.model()}")
        solver.pop()
    return feasible


def _satisfiable(solver: z3.Solver, action: Action) -> bool:
    answer = solver.check()
    if answer == z3.unknown:
        raise SolverUndecided(f"Z3 cannot decide {action}: {solver.reason_unknown()}")
    return bool(answer == z3.sat)


def _within(bounds: Bounds, variable: Variable) -> bool:
    return variable.low <= bounds[0] and bounds[1] <= variable.high


def _bounds_by_form(nodes: Sequence[Node], variables: Sequence[Variable]) -> list[Bounds]:
    """Return the bounds of each node that follow from its form alone: constants, variables, and choices among these."""
    domains: dict[str, Bounds] = {variable.name: (variable.low, variable.high) for variable in variables}
    bounds: list[Bounds] = []
    for node in nodes:
        found = _ANYTHING
        if node.kind == z3.Z3_OP_ANUM and isinstance(node.leaf, int):
            found = node.leaf, node.leaf
        elif node.is_variable:
            found = domains.get(str(node.leaf), _ANYTHING)
        elif node.kind == z3.Z3_OP_ITE:
            one, other = (bounds[child] for child in node.children[1:])
            found = min(one[0], other[0]), max(one[1], other[1])
        bounds.append(found)
    return bounds


class Replayer:
    """Evaluation of single steps and states by Z3, with cached preparations for each action."""

    def __init__(self, system: TransitionSystem) -> None:
        self._constants = {variable.name: variable.term for variable in system.variables}
        self._free = FreeVariables()
        self._relations: dict[int, tuple[Action, z3.BoolRef]] = {}
        self._steps: dict[tuple[int, tuple[tuple[str, int], ...]], dict[str, int] | None] = {}

    def step(self, state: State, action: Action) -> dict[str, int] | None:
        """Return the state after ``action``, computed by Z3 from the terms; None if the action is not enabled.

        Runs to different violations begin alike, so Z3's answers are cached. Raise :class:`SolverUndecided` if Z3 does
        not reach a value.
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
                raise SolverUndecided(f"Z3 does not reach a value for {action}: {equation}")
            following[after.pop(sides[0].decl().name())] = sides[1].as_long()
        if after:
            raise SolverUndecided(f"Z3 leaves {', '.join(after.values())} open after {action}")
        return following

    def _relation(self, action: Action) -> z3.BoolRef:
        """Return guard and updates as one formula over the state and the primed variables."""
        kept = self._relations.get(id(action))
        if kept is None:
            assignments = [z3.Int(_primed(variable)) == value for variable, value in action.updates.items()]
            # Keeping the action alive prevents another action from getting the same id.
            kept = action, z3.And(action.guard, *assignments)
            self._relations[id(action)] = kept
        return kept[1]

    def holds(self, state: State, term: z3.BoolRef) -> bool:
        """Tell whether Z3 finds that a formula holds in a concrete state."""
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
