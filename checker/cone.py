"""Constants and cone of influence: the smaller system that decides a question.

Reference: Clarke, Grumberg, Peled, *Model Checking*, section 13.1 (cone of influence reduction).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import z3

from checker.terms import TermTable
from model.language import Action, Clock, TransitionSystem, Variable

Substitution = list[tuple[z3.ExprRef, z3.ExprRef]]


class FreeVariables:
    """Which variables occur in a term, remembered per shared subterm."""

    def __init__(self) -> None:
        self._terms = TermTable()
        self._known: list[frozenset[str]] = []

    def of(self, term: z3.ExprRef) -> frozenset[str]:
        """The names of the variables in ``term``."""
        place = self._terms.add(term)
        for node in self._terms.nodes[len(self._known) :]:
            own = frozenset({str(node.leaf)}) if node.is_variable else frozenset()
            self._known.append(own.union(*(self._known[child] for child in node.children)))
        return self._known[place]


def propagate_constants(system: TransitionSystem) -> tuple[TransitionSystem, Substitution]:
    """Replace variables that no action ever changes by their initial value, until nothing is left to replace.

    Actions whose guard simplifies to false, and assignments of a variable to itself, disappear. Returns the
    smaller system and the substitution, which properties must undergo as well.
    """
    substitution: Substitution = []
    variables = list(system.variables)
    actions = _specialised(system.actions, [], set(variables))
    while True:
        changing = {
            variable
            for action in actions
            for variable, value in action.updates.items()
            if not value.eq(variable.term) and not value.eq(z3.IntVal(variable.initial))
        }
        constants = [variable for variable in variables if variable not in changing]
        if not constants:
            return _with_variables(system, variables, actions), substitution
        fixed: Substitution = [(variable.term, z3.IntVal(variable.initial)) for variable in constants]
        substitution += fixed
        variables = [variable for variable in variables if variable in changing]
        actions = _specialised(actions, fixed, changing)


def _with_variables(
    system: TransitionSystem, variables: Sequence[Variable], actions: Iterable[Action]
) -> TransitionSystem:
    history = tuple(variable for variable in system.history if variable in variables)
    return replace(system, variables=tuple(variables), actions=tuple(actions), history=history)


def _specialised(actions: Iterable[Action], fixed: Substitution, kept: set[Variable]) -> list[Action]:
    return [small for action in actions if (small := _specialise(action, fixed, kept)) is not None]


def _specialise(action: Action, fixed: Substitution, kept: set[Variable]) -> Action | None:
    guard = specialise(action.guard, fixed)
    if z3.is_false(guard):
        return None
    updates = {variable: specialise(value, fixed) for variable, value in action.updates.items() if variable in kept}
    return replace(action, guard=guard, updates={v: u for v, u in updates.items() if not u.eq(v.term)})


def specialise(term: z3.ExprRef, fixed: Substitution) -> z3.ExprRef:
    """The term with the constants filled in, simplified."""
    return z3.simplify(z3.substitute(term, *fixed))


def slice_to(system: TransitionSystem, roots: Iterable[z3.ExprRef], free: FreeVariables) -> TransitionSystem:
    """The part of ``system`` that the root terms can see; the rest neither enables nor changes any of it.

    Of the clocks it has those that can keep something of this part from happening (see :func:`_clocks_of`).
    """
    by_name = {variable.name: variable for variable in system.variables}
    cone: set[str] = set()
    frontier = set().union(*(free.of(root) for root in roots)) & by_name.keys()
    writers: Mapping[str, list[Action]] = {name: [] for name in by_name}
    for action in system.actions:
        for variable in action.updates:
            writers[variable.name].append(action)
    while frontier:
        name = frontier.pop()
        cone.add(name)
        for action in writers[name]:
            seen = free.of(action.guard) | free.of(action.updates[by_name[name]])
            frontier |= (seen & by_name.keys()) - cone
    actions = []
    for action in system.actions:
        updates = {variable: value for variable, value in action.updates.items() if variable.name in cone}
        if updates:
            actions.append(replace(action, updates=updates))
    variables = tuple(variable for variable in system.variables if variable.name in cone)
    return replace(_with_variables(system, variables, actions), clocks=_clocks_of(system, actions, free))


def _clocks_of(system: TransitionSystem, kept: Iterable[Action], free: FreeVariables) -> tuple[Clock, ...]:
    """The clocks that matter to actions of a part: what they need, and deadlines that the rest cannot keep by itself.

    A deadline is left to the rest if all that is due belongs to it and changes nothing that another clock counts: any
    run of the part goes on, whatever is due elsewhere happening at its time.
    """
    keys = {action.key for action in kept}
    clocks = [clock for action in kept for need in action.needs for clock in (need.clock, need.until)]
    needed = {clock.key for clock in clocks if clock is not None}
    elsewhere = [clock for clock in system.clocks if clock.due and not clock.due & keys and clock.key not in needed]
    while True:
        left = {clock.key for clock in elsewhere}
        mattering = [c for c in system.clocks if c.key in needed or (c.at_most is not None and c.key not in left)]
        counted = frozenset().union(*(free.of(clock.runs) for clock in mattering))
        changing = {action.key for action in system.actions if counted & {variable.name for variable in action.updates}}
        still = [clock for clock in elsewhere if not clock.due & changing]
        if len(still) == len(elsewhere):
            return tuple(mattering)
        elsewhere = still
