"""Constants and cone of influence: the smaller system that decides a question.

Reference: Clarke, Grumberg, Peled, *Model Checking*, section 13.1 (cone of influence reduction).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import z3

from proofka.checker.terms import TermTable
from proofka.model.language import Action, Clock, TransitionSystem, Variable
from proofka.model.language.terms import BoolVal, Filling, IntVal

Substitution = list[tuple[z3.ExprRef, z3.ExprRef]]


class FreeVariables:
    """The variables of terms, cached for each shared subterm; ``terms`` can already hold terms."""

    def __init__(self, terms: TermTable | None = None) -> None:
        self._terms = TermTable() if terms is None else terms
        self._known: list[frozenset[str]] = []
        self._influences: dict[int, tuple[TransitionSystem, Mapping[str, frozenset[str]]]] = {}

    def of(self, term: z3.ExprRef) -> frozenset[str]:
        """Return the names of the variables in ``term``."""
        place = self._terms.add(term)
        for node in self._terms.nodes[len(self._known) :]:
            own = frozenset({str(node.leaf)}) if node.is_variable else frozenset()
            self._known.append(own.union(*(self._known[child] for child in node.children)))
        return self._known[place]

    def influences(self, system: TransitionSystem) -> Mapping[str, frozenset[str]]:
        """Return, for each variable of a system, the variables read by the actions that assign it."""
        kept = self._influences.get(id(system))
        if kept is None:
            read: dict[str, set[str]] = {variable.name: set() for variable in system.variables}
            for action in system.actions:
                guard = self.of(action.guard)
                for variable, value in action.updates.items():
                    read[variable.name] |= guard | self.of(value)
            # Keeping the system alive prevents another system from getting the same id.
            kept = system, {name: frozenset(seen & read.keys()) for name, seen in read.items()}
            self._influences[id(system)] = kept
        return kept[1]


def propagate_constants(system: TransitionSystem) -> tuple[TransitionSystem, Substitution]:
    """Replace variables that no action changes by their initial value, until nothing is left to replace.

    Actions whose guard simplifies to false, and assignments of a variable to itself, disappear. Return the smaller
    system and the substitution, which properties must undergo as well.
    """
    substitution: Substitution = []
    variables = list(system.variables)
    actions = _specialised(system.actions, [], set(variables))
    while True:
        changing = {
            variable
            for action in actions
            for variable, value in action.updates.items()
            if not value.eq(variable.term) and not value.eq(IntVal(variable.initial))
        }
        constants = [variable for variable in variables if variable not in changing]
        if not constants:
            return _with_variables(system, variables, actions, system.clocks), substitution
        fixed: Substitution = [(variable.term, IntVal(variable.initial)) for variable in constants]
        substitution += fixed
        variables = [variable for variable in variables if variable in changing]
        actions = _specialised(actions, fixed, changing)


def _with_variables(
    system: TransitionSystem, variables: Sequence[Variable], actions: Iterable[Action], clocks: tuple[Clock, ...]
) -> TransitionSystem:
    left = frozenset(variables)
    history = tuple(variable for variable in system.history if variable in left)
    return replace(system, variables=tuple(variables), actions=tuple(actions), history=history, clocks=clocks)


def _specialised(actions: Sequence[Action], fixed: Substitution, kept: set[Variable]) -> list[Action]:
    changes = [{v: value for v, value in action.updates.items() if v in kept} for action in actions]
    changed = list(zip(actions, changes, strict=True))
    terms = [term for action, updates in changed for term in (action.guard, *updates.values())]
    simple = iter(Filling(fixed).each_simplified(terms))
    specialised = [
        _specialise(action, next(simple), {variable: next(simple) for variable in updates})
        for action, updates in changed
    ]
    return [action for action in specialised if action is not None]


def _specialise(action: Action, guard: z3.BoolRef, updates: Mapping[Variable, z3.ExprRef]) -> Action | None:
    if guard.eq(BoolVal(False)):
        return None
    return replace(action, guard=guard, updates={v: u for v, u in updates.items() if not u.eq(v.term)})


def specialise(term: z3.ExprRef, fixed: Substitution) -> z3.ExprRef:
    """Return the term with the constants filled in, simplified."""
    return Filling(fixed).simplified(term)


def slice_to(system: TransitionSystem, roots: Iterable[z3.ExprRef], free: FreeVariables) -> TransitionSystem:
    """Return the part of ``system`` that the root terms depend on; the rest neither enables nor changes this part.

    The part keeps the clocks that can prevent its actions (see :func:`_clocks_of`).
    """
    influences = free.influences(system)
    cone: set[str] = set()
    frontier = set().union(*(free.of(root) for root in roots)) & influences.keys()
    while frontier:
        name = frontier.pop()
        cone.add(name)
        frontier |= influences[name] - cone
    actions = [small for action in system.actions if (small := _within(action, cone)).updates]
    variables = tuple(variable for variable in system.variables if variable.name in cone)
    clocks = _clocks_of(system, actions, free)
    return _with_variables(system, variables, actions, clocks)


def _within(action: Action, cone: set[str]) -> Action:
    """Return the action, changing only the variables with these names."""
    updates = {variable: value for variable, value in action.updates.items() if variable.name in cone}
    return action if len(updates) == len(action.updates) else replace(action, updates=updates)


def _clocks_of(system: TransitionSystem, kept: Iterable[Action], free: FreeVariables) -> tuple[Clock, ...]:
    """Return the clocks that matter to the actions of a part: needed clocks, and deadlines that the rest cannot keep
    alone.

    A deadline is left to the rest if all actions that are due belong to the rest and change nothing that another clock
    counts. Then any run of the part can continue, and the actions due elsewhere happen at their time.
    """
    keys = {action.key for action in kept}
    clocks = [clock for action in kept for need in system.needs_of(action) for clock in (need.clock, need.until)]
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
