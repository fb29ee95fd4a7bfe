"""Z3's answers about a system: domain safety of updates, feasible actions, and the successors of states."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import z3

from proofka.checker.disk_cache import disk_cache
from proofka.checker.forked import in_two_processes
from proofka.checker.obligations.obligation import Impossible
from proofka.checker.terms import Node, TermTable, hashes
from proofka.checker.user_cache import LOG
from proofka.model.language import Action, State, TransitionSystem, Variable
from proofka.model.language.terms import Filling, IntVal

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
            doubtful = _doubtful(step, bounds)
            if doubtful:
                solver.add(z3.Or(*doubtful))
                if _satisfiable(solver, step.action):
                    raise UnsafeUpdate(f"{step.action} leaves the domain in {solver.model()}")
        solver.pop()
    return feasible


def _doubtful(step: _Step, bounds: Sequence[Bounds]) -> list[z3.BoolRef]:
    """Return, for each update whose form does not bound it, the condition that it leaves the domain."""
    return [
        z3.Or(value < variable.low, value > variable.high)
        for variable, where in step.updates
        if not _within(bounds[where], variable)
        for value in [step.action.updates[variable]]
    ]


def impossible_actions(system: TransitionSystem, safe: TransitionSystem) -> Iterator[Impossible]:
    """Yield what :func:`prove_domain_safety` has found of the actions that it dropped: their guards never hold."""
    kept = {action.key for action in safe.actions}
    for action in system.actions:
        if action.key not in kept:
            yield Impossible(f"{action} happens in no state within the domains.", action.guard)


def unsafe_updates(safe: TransitionSystem) -> Iterator[Impossible]:
    """Yield what :func:`prove_domain_safety` has found of the actions that it kept: no update leaves its domain.

    Updates that are within their domains by their form alone are left out, because Z3 was not asked about them.
    """
    table = TermTable()
    steps = [_Step(action, table) for action in safe.actions]
    bounds = _bounds_by_form(table.nodes, safe.variables)
    for step in steps:
        doubtful = _doubtful(step, bounds)
        if doubtful:
            meaning = f"{step.action} leads from no state within the domains to a value outside its domain."
            yield Impossible(meaning, z3.And(step.action.guard, z3.Or(*doubtful)))


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
    """Evaluation of single steps and states by Z3; steps that were computed are cached."""

    def __init__(self, system: TransitionSystem) -> None:
        self._constants = {variable.name: variable.term for variable in system.variables}
        self._steps: dict[tuple[int, tuple[tuple[str, int], ...]], tuple[Action, dict[str, int] | None]] = {}

    def step(self, state: State, action: Action) -> dict[str, int] | None:
        """Return the state after ``action``, computed by Z3 from the terms; None if the action is not enabled.

        Runs to different violations begin alike, so Z3's answers are cached. Raise :class:`SolverUndecided` if Z3 does
        not reach a value.
        """
        asked = id(action), tuple(state.items())
        if asked not in self._steps:
            # Keeping the action alive prevents another action from getting the same id.
            self._steps[asked] = action, self._computed(state, action)
        return self._steps[asked][1]

    def _computed(self, state: State, action: Action) -> dict[str, int] | None:
        values = self._values(state)
        if not _truth(values.simplified(action.guard)):
            return None
        following = dict(state)
        for variable, update in action.updates.items():
            value = values.simplified(update)
            if not z3.is_int_value(value):
                raise SolverUndecided(f"Z3 does not reach a value for {variable.name} in {action}: {value}")
            following[variable.name] = value.as_long()
        return following

    def holds(self, state: State, term: z3.BoolRef) -> bool:
        """Tell whether Z3 finds that a formula holds in a concrete state."""
        return _truth(self._values(state).simplified(term))

    def _values(self, state: State) -> Filling:
        return Filling([(term, IntVal(state[name])) for name, term in self._constants.items() if name in state])


def _truth(value: z3.BoolRef) -> bool:
    if not (z3.is_true(value) or z3.is_false(value)):
        raise SolverUndecided(f"Z3 does not decide {value}")
    return bool(z3.is_true(value))
