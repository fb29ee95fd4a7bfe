"""Obligations behind Z3's simplifier: the constant variables, and the shorter terms that are explored.

That the constants keep their initial values follows by induction: every action that can happen while they have these
values leaves them as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import z3

from proofka.checker.cone import specialise
from proofka.checker.obligations.obligation import Impossible
from proofka.checker.questions import Simplified
from proofka.model.language import Action, Variable
from proofka.model.language.terms import IntVal
from proofka.properties.property import Property


def simplifications(simplified: Simplified, properties: Sequence[Property]) -> Iterator[Impossible]:
    """Yield what has to be impossible while the constants have their initial values.

    These are differences between the terms of the model and the terms that are explored, and actions that were left
    out. Terms that stayed the same are left out.
    """
    yield from _of_actions(simplified)
    for what, term in _terms(simplified, properties):
        simple = specialise(term, simplified.constants)
        if not term.eq(simple):
            yield Impossible(f"{what} is the same condition after simplifying.", z3.Xor(term, simple))


def _of_actions(simplified: Simplified) -> Iterator[Impossible]:
    kept = set(simplified.system.variables)
    simple = {action.key: action for action in simplified.system.actions}
    for action in simplified.model.system.actions:
        after = simple.get(action.key)
        if after is None:
            yield Impossible(f"{action} happens in no state that has the constants.", action.guard)
        elif differences := list(_differences(action, after, kept)):
            meaning = f"{action} is the same step after simplifying, and changes no constant."
            yield Impossible(meaning, z3.Or(*differences))


def _differences(action: Action, after: Action, kept: set[Variable]) -> Iterator[z3.BoolRef]:
    if not action.guard.eq(after.guard):
        yield z3.Xor(action.guard, after.guard)
    for variable in {**action.updates, **after.updates}:
        before = action.updates.get(variable, variable.term)
        stays = variable.term if variable in kept else IntVal(variable.initial)
        value = after.updates.get(variable, stays)
        if not before.eq(value):
            yield z3.And(action.guard, before != value)


def _terms(simplified: Simplified, properties: Sequence[Property]) -> Iterator[tuple[str, z3.BoolRef]]:
    system = simplified.model.system
    for prop in properties:
        yield f"what violates {prop.name}", prop.violated
        yield f"the witness of {prop.name}", prop.witness
        if prop.goal is not None:
            yield f"the goal of {prop.name}", prop.goal
    for name, limit in (system.limits or {}).items():
        yield f"the bound {name}", limit
    for clock in system.clocks:
        yield f"the condition of the clock {clock}", clock.runs
    for family in system.ranked:
        if family.settled is not None:
            yield f"the condition after which no {family.name} is made", family.settled
