"""Actions in the form in which they are written: conditions, conditional changes, and unchanged variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proofka.checker.export.assumptions import Known
from proofka.checker.export.expressions import Expressions, Op
from proofka.checker.export.sharing import shared
from proofka.model.language import Action, Variable


@dataclass(frozen=True)
class Change:
    """New values of some variables if ``condition`` holds (always, if None); otherwise the variables stay unchanged."""

    condition: int | None
    values: tuple[tuple[Variable, int], ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(variable for variable, _ in self.values)


@dataclass(frozen=True)
class Step:
    """One action: the conditions under which it can happen, and its changes."""

    action: Action
    conditions: tuple[int, ...]
    changes: tuple[Change, ...]

    @property
    def changed(self) -> frozenset[Variable]:
        """The variables that the action can change."""
        return frozenset(variable for change in self.changes for variable in change.variables)

    @property
    def roots(self) -> list[int]:
        """All expressions in the action."""
        found = list(self.conditions)
        for change in self.changes:
            found += [] if change.condition is None else [change.condition]
            found += [value for _, value in change.values]
        return found


def step_of(action: Action, order: Sequence[Variable], expressions: Expressions) -> Step:
    """Return an action simplified by its guard, with changes in the order of the variables.

    Variables that change under the same condition change together.
    """
    nothing = Known(expressions)
    guard = nothing.simplify(expressions.read(action.guard))
    known = nothing.and_(guard)
    values: dict[Variable, int] = {}
    for variable in order:
        if variable in action.updates:
            value = known.simplify(nothing.simplify(expressions.read(action.updates[variable])))
            if value != expressions.read(variable.term):
                values[variable] = value
    shared_values = set(shared(expressions, [guard, *values.values()], list(values.values())))
    together: dict[int | None, list[tuple[Variable, int]]] = {}
    for variable, value in values.items():
        if value in shared_values:
            condition, then = None, value
        else:
            condition, then = _conditional(expressions, value, expressions.read(variable.term))
        together.setdefault(condition, []).append((variable, then))
    node = expressions.nodes[guard]
    conditions = node.children if node.op is Op.AND else () if expressions.is_(guard, True) else (guard,)
    changes = [Change(condition, tuple(values)) for condition, values in together.items()]
    return Step(action, conditions, tuple(changes))


def _conditional(expressions: Expressions, value: int, own: int) -> tuple[int | None, int]:
    """Return condition and new value of a value that is the variable's own value unless the condition holds."""
    node = expressions.nodes[value]
    if node.op is not Op.CHOICE or own not in node.children[1:]:
        return None, value
    condition, then, otherwise = node.children
    return (condition, then) if otherwise == own else (expressions.negation(condition), otherwise)


def read_step(action: Action, expressions: Expressions) -> Step:
    """Return an action unsimplified, as in its terms."""
    guard = expressions.read(action.guard)
    values = tuple((variable, expressions.read(value)) for variable, value in action.updates.items())
    return Step(action, (guard,), (Change(None, values),) if values else ())
