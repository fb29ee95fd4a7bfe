"""The systems of certificates: that of a deployment, and for verdicts that rest on times the same with flags."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

import z3

from proofka.checker.certificates.text import Asked, SystemText
from proofka.checker.questions import Prepared, with_history
from proofka.checker.timing.constraints import Bound
from proofka.checker.timing.differences import Difference
from proofka.checker.timing.refinement import Timing
from proofka.model.deployment.deployment import Deployment
from proofka.model.language import Action
from proofka.properties.catalogue import properties_of
from proofka.properties.property import Property


def limits_of(deployment: Deployment, prepared: Prepared) -> dict[str, int]:
    """Return the largest number of faults of each kind that the system's actions have, sorted by name."""
    kinds = {action.fault for action in prepared.model.system.actions if action.fault is not None}
    most = dict(deployment.faults.at_most)
    return {kind: most.get(kind, 0) for kind in sorted(kind.value for kind in kinds)}


def unlimited_in(deployment: Deployment, limits: Collection[str]) -> frozenset[str]:
    """Return the kinds of fault of which a deployment asks for any number, of those that the system's actions have."""
    return frozenset(deployment.faults.any_number).intersection(limits)


def system_text(prepared: Prepared) -> SystemText:
    """Return the text of the whole system of a prepared model, with every property."""
    constant = {str(variable) for variable, _ in prepared.constants}
    whole = prepared.model.system
    kept = [variable for variable in whole.variables if variable.name not in constant]
    filled = filler(prepared)
    names = {variable.name for variable in kept}
    actions = [written(action, names, filled) for action in whole.actions]
    asked = [asked_of(prop, filled) for prop in properties_of(prepared.model.pipeline)]
    return SystemText(kept, actions, asked)


def timed_text(
    prepared: Prepared, timing: Timing, prop: Property, differences: Iterable[Difference], bounds: Collection[Bound]
) -> SystemText:
    """Return the text of the part of the system that a property sees, with a flag for each difference of clocks.

    ``bounds``: the bounds of the model that the flags use.
    """
    part = with_history(prepared, [prop])
    whole, names = prepared.model.system, {variable.name for variable in part.variables}
    filled = filler(prepared)
    originals = (whole.action(action.name, action.arguments) for action in part.actions)
    actions = tuple(written(original, names, filled) for original in originals if original is not None)
    composed = timing.composed(replace(part, actions=actions), bounds, differences, filled)
    return SystemText(composed.variables, composed.actions, [asked_of(prop, filled)])


def filler(prepared: Prepared) -> Callable[[z3.ExprRef], z3.ExprRef]:
    """Return the function that fills constants into a term, and leaves the rest as the model wrote it."""
    return lambda term: z3.substitute(term, *prepared.constants) if prepared.constants else term


def written(action: Action, kept: Collection[str], filled: Callable[[z3.ExprRef], z3.ExprRef]) -> Action:
    """Return an action with the updates of kept variables, in terms that ``filled`` makes."""
    updates = {variable: filled(value) for variable, value in action.updates.items() if variable.name in kept}
    return replace(action, guard=filled(action.guard), updates=updates)


def asked_of(prop: Property, filled: Callable[[z3.ExprRef], z3.ExprRef]) -> Asked:
    """Return a property as a certificate asks about it, in terms that ``filled`` makes."""
    term = prop.violated if prop.goal is None else prop.goal
    return Asked(prop.name, filled(term), filled(prop.witness), prop.goal is not None)
