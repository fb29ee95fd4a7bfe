"""Dead-variable reset: a variable that nothing can read any more takes one fixed value.

A variable is *dead* while another variable, the condition, has a certain value. Then no root and no guard reads the
dead variable, and no update carries it into a variable that lives after the step. Partial evaluation of the shared
graph of terms, once for each condition, finds what a term reads under the condition. Sets of variables are bits of an
integer. docs/reductions.md proves that resetting dead variables changes no answer.

Reference: M. Bozga, J.-C. Fernandez, L. Ghirvu, "State space reduction based on live variables analysis", SAS 1999.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import z3

from checker.reductions.partial_evaluation import Graph, Reading, union
from checker.terms import TermTable
from model.language import Action, TransitionSystem, Variable

LARGEST_DOMAIN = 8
"""Largest number of values of a variable that is tried as a condition."""

DEEPEST_CHOICE = 8
"""Largest depth of nested choices that is searched; deeper choices always get a reset."""


@dataclass(frozen=True)
class DeadVariable:
    """The fact that ``variable`` is dead while ``condition`` has ``value``."""

    condition: Variable
    value: int
    variable: Variable

    def __str__(self) -> str:
        return f"{self.variable.name} while {self.condition.name} = {self.value}"


def find_dead_variables(system: TransitionSystem, roots: Iterable[z3.BoolRef]) -> tuple[DeadVariable, ...]:
    """Return the variables that are dead with respect to the root terms, with their conditions."""
    return _find(_Graph(system, roots))


def effective(system: TransitionSystem, roots: Iterable[z3.BoolRef]) -> tuple[DeadVariable, ...]:
    """Return the dead variables that some action can leave with more than one value; only these can make states
    equal.
    """
    graph = _Graph(system, roots)
    dead = _find(graph)
    added = {one for reset in _plan(graph, dead) for several in reset.where.values() for one in several}
    return tuple(one for one in dead if one in added)


def reset_dead_variables(
    system: TransitionSystem, roots: Iterable[z3.BoolRef], dead: Sequence[DeadVariable] | None = None
) -> TransitionSystem:
    """Return the system in which each dead variable (or each of ``dead``) takes one value after every action.

    The result is bisimilar to ``system``, action by action, and the bisimulation respects the roots.
    """
    graph = _Graph(system, roots)
    plan = _plan(graph, _find(graph) if dead is None else dead)
    return replace(system, actions=tuple(_with_resets(action, plan) for action in system.actions))


@dataclass(frozen=True)
class _Reset:
    """The value of a variable where it is dead, and the actions that need a reset: key of an action -> conditions."""

    variable: Variable
    value: int
    where: Mapping[_Key, Sequence[DeadVariable]]


def _plan(graph: _Graph, dead: Sequence[DeadVariable]) -> list[_Reset]:
    """Return a reset for each variable, to its initial value, or to its lowest value.

    The lowest value is used if the variable starts alive and fewer resets are needed then.
    """
    conditions = {one.condition for one in dead}
    # A variable that is itself a condition is reset after the variables that depend on it.
    variables = sorted(dict.fromkeys(one.variable for one in dead), key=lambda variable: variable in conditions)
    plan = []
    for variable in variables:
        mine = [one for one in dead if one.variable == variable]
        starts_dead = any(one.condition.initial == one.value for one in mine)
        values = {variable.initial: None} if starts_dead else {variable.initial: None, variable.low: None}
        ways = [_reset(graph, variable, value, mine) for value in values]
        plan.append(min(ways, key=lambda way: sum(len(several) for several in way.where.values())))
    return plan


def _reset(graph: _Graph, variable: Variable, value: int, dead: Sequence[DeadVariable]) -> _Reset:
    where = {}
    for read in graph.actions:
        several = [one for one in dead if graph.leaves_open(read, one, value, dead)]
        if several:
            where[read.action.key] = several
    return _Reset(variable, value, where)


def _with_resets(action: Action, plan: Sequence[_Reset]) -> Action:
    updates = dict(action.updates)
    for reset in plan:
        if action.key in reset.where:
            conditions = reset.where[action.key]
            is_dead = z3.Or(*(updates.get(one.condition, one.condition.term) == one.value for one in conditions))
            value = updates.get(reset.variable, reset.variable.term)
            updates[reset.variable] = z3.simplify(z3.If(is_dead, z3.IntVal(reset.value), value))
    return action if all(action.key not in reset.where for reset in plan) else replace(action, updates=updates)


_Key = tuple[str, tuple[tuple[str, int], ...]]

_Places = Sequence[tuple[int, int]]
"""Nodes, each with a value; a node can occur more than once."""


@dataclass(frozen=True)
class _ActionTerms:
    """An action by the places of its terms; ``updates`` by the variable's index, ``changed`` as bits.

    ``enabled`` reads terms under the assumption that its guard holds; None if the guard cannot hold.
    """

    action: Action
    guard: int
    updates: Mapping[int, int]
    changed: int
    enabled: Reading | None = None


class _Graph(Graph):
    """The shared graph of a system's guards and updates and of the roots."""

    def __init__(self, system: TransitionSystem, roots: Iterable[z3.BoolRef]) -> None:
        terms = TermTable()
        index = {variable: place for place, variable in enumerate(system.variables)}
        self.roots = [terms.add(root) for root in roots]
        entered = []
        for action in system.actions:
            updates = {index[variable]: terms.add(value) for variable, value in action.updates.items()}
            changed = union(1 << place for place in updates)
            entered.append(_ActionTerms(action, terms.add(action.guard), updates, changed))
        super().__init__(system.variables, terms)
        self.guards = list(dict.fromkeys(read.guard for read in entered))
        anywhere = Reading(self, {})
        self.actions = [replace(read, enabled=anywhere.assuming(read.guard, True)) for read in entered]

    def leaves_open(self, read: _ActionTerms, dead: DeadVariable, reset: int, known: Iterable[DeadVariable]) -> bool:
        """Tell whether the variable can be dead after the action with another value than ``reset``.

        Before the action, the variable is assumed to have that value where ``known`` says that it is dead.
        """
        condition, variable = self.index[dead.condition.name], self.index[dead.variable.name]
        if read.enabled is None or not (read.changed >> condition | read.changed >> variable) & 1:
            return False
        where = [(self.place_of(one.condition), one.value) for one in known]
        place = read.updates.get(variable, self.places[variable])
        ends = self._ends(read.enabled, read.updates.get(condition, self.places[condition]), dead.value)
        return any(not self._is_reset(end, place, dead.variable, reset, where) for end in ends)

    def _is_reset(
        self, reading: Reading, place: int, variable: Variable, reset: int, where: _Places, deeper: int = DEEPEST_CHOICE
    ) -> bool:
        """Tell whether a node is ``reset`` on every branch, or the variable itself where it had that value before."""
        known = reading.value(place)
        if known.constant is not None:
            return known.constant == reset
        if known.place == self.place_of(variable):
            return any(reading.facts.get(condition) == value for condition, value in where)
        if self.nodes[known.place].kind != z3.Z3_OP_ITE or not deeper:
            return False
        branches = reading.branches(known.place)
        return all(self._is_reset(also, branch, variable, reset, where, deeper - 1) for also, branch in branches)

    def _ends(self, reading: Reading, place: int, value: int, deeper: int = DEEPEST_CHOICE) -> Iterator[Reading]:
        """Yield the branches on which a node can have a value, as readings with the assumptions of the branch."""
        known = reading.value(place)
        if known.constant is not None:
            if known.constant == value:
                yield reading
        elif self.nodes[known.place].kind == z3.Z3_OP_ITE and deeper:
            for assumed, branch in reading.branches(known.place):
                yield from self._ends(assumed, branch, value, deeper - 1)
        else:
            yield Reading(self, {**reading.facts, known.place: value})


_Condition = tuple[int, int]
"""A variable, by its index, and its value."""


def _find(graph: _Graph) -> tuple[DeadVariable, ...]:
    """Start from all variables that are unread under their conditions, and drop those that a step carries on."""
    readings: dict[_Condition, Reading] = {}
    dead: dict[_Condition, int] = {}
    for index, variable in enumerate(graph.variables):
        if variable.high - variable.low < LARGEST_DOMAIN:
            for value in range(variable.low, variable.high + 1):
                reading = Reading(graph, {graph.places[index]: value})
                unread = _unread(graph, reading) & ~(1 << index)
                if unread:
                    readings[index, value], dead[index, value] = reading, unread
    changing = True
    while changing:
        changing = False
        for condition, before in dead.items():
            dead[condition] = _not_carried_on(graph, condition, readings[condition], dead)
            changing = changing or dead[condition] != before
    return tuple(
        DeadVariable(graph.variables[index], value, variable)
        for (index, value), mask in dead.items()
        for place, variable in enumerate(graph.variables)
        if mask >> place & 1
    )


def _unread(graph: _Graph, reading: Reading) -> int:
    """Return the variables on which neither a root nor a guard depends."""
    read = 0
    for place in sorted((*graph.roots, *graph.guards), key=reading.touches):
        if graph.mask[place] & ~read:
            read |= reading.value(place).reads
    return (1 << len(graph.variables)) - 1 & ~read


def _not_carried_on(graph: _Graph, condition: _Condition, reading: Reading, dead: Mapping[_Condition, int]) -> int:
    """Return the variables that are dead under the condition and that no step carries into a living variable."""
    left = dead[condition]
    for action in graph.actions:
        if not left:
            break
        if reading.value(action.guard).constant == 0:
            continue
        after = _dead_after(condition, action, reading, dead)
        left &= after | action.changed
        for index, place in action.updates.items():
            if not after >> index & 1 and graph.mask[place] & left:
                left &= ~reading.value(place).reads
    return left


def _dead_after(condition: _Condition, action: _ActionTerms, reading: Reading, dead: Mapping[_Condition, int]) -> int:
    """Return the variables that are dead after the action, for every value that the action gives the condition's
    variable.
    """
    index = condition[0]
    if index not in action.updates:
        return dead[condition]
    values = reading.possible(action.updates[index])
    if values is None:
        return 0
    result = -1
    for value in values:
        result &= dead.get((index, value), 0)
    return result
