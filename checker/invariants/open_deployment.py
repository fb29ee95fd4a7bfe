"""Deployments as open systems: any number of faults of the kinds that can happen, and leader epochs without a bound.

The actions are those of the model. The model has a bound on leader epochs, which only one condition reads: whether a
further epoch fits. This condition is true here, and the variables with a leader epoch have no highest value. So a run
of the model, whatever its bound on leader epochs, is a run of the open system. That no other term depends on the bound
is compared on the terms of models with different bounds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import z3

from proofka.checker.certificates.systems import filler, written
from proofka.checker.cone import FreeVariables
from proofka.checker.fixed_point import LEADER_EPOCH, RANKS, with_epochs
from proofka.checker.invariants.proof import Subject
from proofka.checker.questions import Group, Prepared, group, prepare, simplify
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.explored import MOST_OF_A_KIND, FaultBudget
from proofka.model.input.input_error import InputError
from proofka.model.language import Action, TransitionSystem
from proofka.model.language.lemmas import OpenSystem
from proofka.model.language.terms import BoolVal
from proofka.model.pipeline import Model, build
from proofka.model.replication import controller
from proofka.properties.catalogue import properties_of
from proofka.properties.property import Property


class NotOpen(InputError):
    """The deployment's system has no form without a bound on leader epochs."""


@dataclass(frozen=True)
class OpenDeployment:
    """The part of a deployment that some properties see.

    ``subject``: the part as an open system, without candidates for lemmas. ``group``: the same part as it is explored,
    with a bound on leader epochs.
    """

    subject: Subject
    prepared: Prepared
    group: Group


def with_any_number(deployment: Deployment, kinds: Sequence[str] | None) -> Deployment:
    """Return the deployment with any number of faults of these kinds, and with no others; None: of its own kinds.

    Raise :class:`NotOpen` for a kind that the deployment does not have.
    """
    own = tuple(kind for kind, _ in deployment.faults.at_most)
    asked = own if kinds is None else tuple(dict.fromkeys(kinds))
    strange = [kind for kind in asked if kind not in own]
    if strange:
        raise NotOpen(f"{deployment.name}: has no fault {strange[0]!r}; its kinds are {', '.join(own) or 'none'}")
    return replace(deployment, faults=FaultBudget(None, tuple((kind, MOST_OF_A_KIND) for kind in asked), asked))


def open_deployments(deployment: Deployment, properties: Sequence[str]) -> Iterator[OpenDeployment]:
    """Yield the parts of a deployment that these properties see; properties with a goal are no invariants, and belong
    to no part.

    Raise :class:`NotOpen`.
    """
    prepared = prepare(build(with_epochs(deployment, RANKS[0])))
    for epochs in {deployment.bounds.epochs, RANKS[0] + 1} - {RANKS[0]}:
        _compare(prepared.model, simplify(build(with_epochs(deployment, epochs))).model)
    known = properties_of(prepared.model.pipeline)
    strange = [name for name in properties if name not in {one.name for one in known}]
    if strange:
        names = ", ".join(one.name for one in known)
        raise NotOpen(f"{deployment.name}: unknown property {strange[0]!r}: choose from {names}")
    asked = [one for one in known if one.name in properties and one.goal is None]
    for part in group(prepared, asked):
        yield OpenDeployment(_subject(deployment, prepared, part), prepared, part)


def epochs_of(system: TransitionSystem) -> frozenset[str]:
    """Return the names of the variables with a leader epoch."""
    return frozenset(
        variable.name for family in system.ranked if family.name == LEADER_EPOCH for variable in family.variables
    )


def _subject(deployment: Deployment, prepared: Prepared, part: Group) -> Subject:
    kept = {variable.name for variable in part.system.variables}
    fill, fits = filler(prepared), controller.epoch_left(prepared.model.pipeline)

    def opened(term: z3.ExprRef) -> z3.ExprRef:
        return fill(z3.substitute(term, (fits, BoolVal(True))))

    actions = tuple(
        one
        for action in prepared.model.system.actions
        if (one := written(action, kept, opened)).updates and not z3.is_false(z3.simplify(one.guard))
    )
    _check_closed(actions, kept)
    endless = epochs_of(prepared.model.system) & kept
    system = OpenSystem(
        deployment.name,
        part.system.variables,
        actions,
        endless,
        ("steps", *(("leader epochs",) if endless else ()), *_faults(deployment)),
        _bounds(deployment),
    )
    return Subject(system, (), {prop.name: opened(prop.violated) for prop in part.properties})


def _check_closed(actions: Sequence[Action], kept: Collection[str]) -> None:
    """Raise :class:`NotOpen` if an action reads a variable outside of the part.

    The part leaves out what actions read that can never happen while leader epochs are below the bound.
    """
    free = FreeVariables()
    for action in actions:
        strange = free.of(action.guard).union(*map(free.of, action.updates.values())) - set(kept)
        if strange:
            raise NotOpen(f"{action}: reads {min(strange)}, which the part of the system does not have")


def _faults(deployment: Deployment) -> tuple[str, ...]:
    kinds = deployment.faults.any_number
    return (f"faults ({', '.join(kinds)})",) if kinds else ()


def _bounds(deployment: Deployment) -> tuple[str, ...]:
    """Return the bounds of the model that a proof keeps, in words."""
    bounds = deployment.bounds
    return (
        f"records: {bounds.records}",
        f"log slots: {bounds.log}",
        f"sends of a record: {bounds.sends}",
        f"producer epochs: {bounds.producer_epochs}",
    )


def _compare(one: Model, other: Model) -> None:
    """Raise :class:`NotOpen` if two models differ in more than the bound on leader epochs."""
    epochs, names = epochs_of(one.system), [variable.name for variable in one.system.variables]
    alike = names == [variable.name for variable in other.system.variables] and all(
        first == second or first.name in epochs
        for first, second in zip(one.system.variables, other.system.variables, strict=True)
    )
    terms, others = _terms(one), _terms(other)
    if not alike or len(terms) != len(others) or not all(map(z3.ExprRef.eq, terms, others)):
        raise NotOpen(f"{one.system.name}: terms of the model depend on the bound on leader epochs")


def _terms(model: Model) -> list[z3.ExprRef]:
    """Return every guard, update and property of a model, without the condition that a further epoch fits."""
    fits = controller.epoch_left(model.pipeline)
    found: list[z3.ExprRef] = []
    for action in model.system.actions:
        found += [action.guard, *(action.updates[one] for one in sorted(action.updates, key=lambda one: one.name))]
        found += [variable.term for variable in sorted(action.updates, key=lambda one: one.name)]
    found += [prop.violated for prop in _properties(model)]
    return [z3.substitute(term, (fits, BoolVal(True))) for term in found]


def _properties(model: Model) -> tuple[Property, ...]:
    return tuple(prop for prop in properties_of(model.pipeline) if prop.goal is None)
