"""The condition under which the newest value can be reset, because no fresh values are made any more, proved by Z3.

The statement about ``settled``, for every action: if ``settled`` holds, it stays true, and the action makes no fresh
value. If ``settled`` does not hold, the newest value stays, becomes one newer, or ``settled`` holds from then on.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.checker.cone import FreeVariables, Substitution, specialise
from proofka.checker.obligations.obligation import Impossible
from proofka.model.language import Action, Ranked, TransitionSystem


def why_not_settled(family: Ranked, system: TransitionSystem, constants: Substitution) -> str | None:
    """Return why resetting the family's newest value can be wrong; None if Z3 proves that it is right."""
    if family.settled is None:
        return "nothing is declared to be settled by then"
    settled, free = specialise(family.settled, constants), FreeVariables()
    seen = free.of(settled)
    unseen = seen - {variable.name for variable in system.variables}
    if unseen:
        return f"{', '.join(sorted(unseen))} cannot be seen"
    solver = z3.Solver()
    solver.set("ctrl_c", False)
    solver.add(system.domain)
    for action, breach in _breaches(family, system, settled):
        if solver.check(breach) != z3.unsat:
            return f"{action} does not keep to it that nothing fresh is made afterwards"
    return None


def unsettled(family: Ranked, system: TransitionSystem, constants: Substitution) -> Iterator[Impossible]:
    """Yield what :func:`why_not_settled` asks Z3 about a family with a condition."""
    assert family.settled is not None, "a family without the condition"
    for action, breach in _breaches(family, system, specialise(family.settled, constants)):
        yield Impossible(f"{action} keeps to it that no {family.name} is made once these are settled.", breach)


def _breaches(family: Ranked, system: TransitionSystem, settled: z3.BoolRef) -> Iterator[tuple[Action, z3.BoolRef]]:
    """Yield each action that the statement is about, with the condition under which the action breaks the statement.

    ``settled``: the family's condition over the system's variables.
    """
    seen = FreeVariables().of(settled)
    for action in system.actions:
        touched = {variable.name for variable in action.updates}
        if family.newest.name in touched or touched & seen:
            yield action, z3.And(action.guard, z3.Or(*_failures(family, settled, action)))


def _failures(family: Ranked, settled: z3.BoolRef, action: Action) -> list[z3.BoolRef]:
    """Return the conditions under which the action breaks the statement."""
    newest = family.newest.term
    after = action.updates.get(family.newest, newest)
    settled_after = z3.substitute(settled, *((variable.term, value) for variable, value in action.updates.items()))
    grows = after == newest + 1
    return [
        z3.And(settled, z3.Or(z3.Not(settled_after), grows)),
        z3.And(z3.Not(settled), after != newest, z3.Not(grows), z3.Not(settled_after)),
    ]
