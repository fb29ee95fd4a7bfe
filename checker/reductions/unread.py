"""Values that nothing reads any more: every step after which that holds resets them (docs/reductions.md).

States that differ only in these values become one state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import z3

from proofka.model.language import Action, TransitionSystem, Unread, Variable
from proofka.model.language.terms import Filling, If

Values = frozenset[tuple[str, int]]
"""Names of variables, each with a value that a condition compares the variable with."""


def reset_unread(system: TransitionSystem) -> TransitionSystem:
    """Return the system whose actions reset variables as soon as nothing reads these."""
    actions = system.actions
    for one in system.unread:
        compared = frozenset(_compared(one.once))
        actions = tuple(_resetting(action, one, compared) for action in actions)
    return replace(system, actions=actions, unread=())


def _resetting(action: Action, unread: Unread, compared: Values) -> Action:
    """Return the action with resets, where it can make the condition true."""
    updates = action.updates
    if not any(_assigns(value, variable, compared) for variable, value in updates.items()):
        return action
    after = Filling([(variable.term, value) for variable, value in updates.items()]).filled(unread.once)
    resets = {
        variable: If(after, variable.initial, updates.get(variable, variable.term)) for variable in unread.variables
    }
    return replace(action, updates={**updates, **resets})


def _assigns(value: z3.ExprRef, variable: Variable, compared: Values) -> bool:
    """Tell whether some branch of the value makes a comparison with the variable true."""
    if z3.is_app_of(value, z3.Z3_OP_ITE):
        return any(_assigns(branch, variable, compared) for branch in value.children()[1:])
    return z3.is_int_value(value) and (variable.name, value.as_long()) in compared


def _compared(condition: z3.BoolRef) -> Iterator[tuple[str, int]]:
    """Yield what the condition compares; raise :class:`ValueError` where it is of another form."""
    if z3.is_and(condition) or z3.is_or(condition):
        for child in condition.children():
            yield from _compared(child)
        return
    if not z3.is_eq(condition) or not z3.is_int_value(condition.arg(1)):
        raise ValueError(f"{condition}: neither conjunction, disjunction nor comparison of a variable with a value")
    yield condition.arg(0).decl().name(), condition.arg(1).as_long()
