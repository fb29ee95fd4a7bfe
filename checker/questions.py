"""Which properties are explored together: those that see the same part of the system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import z3

from checker.cone import FreeVariables, Substitution, propagate_constants, slice_to, specialise
from checker.exploration import Question
from checker.identity import Fingerprint
from checker.solver import prove_domain_safety
from checker.terms import TermTable
from model.language import TransitionSystem
from model.pipeline import Model
from properties.property import Property

WITNESS = "witness of "
LIMIT = "limit "
VIOLATED = "also violated "
FEW_VARIABLES = 24
"""Cones of influence that differ in so many variables at most are explored together."""


@dataclass(frozen=True)
class Prepared:
    """A model made ready: constants filled in, domain safety proved, impossible actions dropped."""

    model: Model
    system: TransitionSystem
    constants: Substitution
    free: FreeVariables

    def specialise(self, term: z3.BoolRef) -> z3.BoolRef:
        """A term over the model's variables, over those that are left."""
        return specialise(term, self.constants)


@dataclass(frozen=True)
class Group:
    """Properties asked together, of the part of the system that they see; ``cones`` is what each sees by itself."""

    properties: tuple[Property, ...]
    system: TransitionSystem
    question: Question
    cones: Mapping[str, TransitionSystem]


def prepare(model: Model) -> Prepared:
    """Simplify a model and prove it safe to pack."""
    system, constants = propagate_constants(model.system)
    terms = TermTable()
    return Prepared(model, prove_domain_safety(system, terms), constants, FreeVariables(terms))


def group(prepared: Prepared, properties: Sequence[Property], *, cone: bool = True) -> tuple[Group, ...]:
    """Group properties by their cones of influence; cones that differ in a few variables are explored as one.

    Without ``cone`` all are asked of the whole system.
    """
    groups: list[tuple[list[Property], set[str]]] = []
    cones = {prop.name: sliced(prepared, [prop]) for prop in properties}
    if not cone:
        return (_group(prepared, properties, cones, prepared.system),)
    for prop in properties:
        names = {variable.name for variable in cones[prop.name].variables}
        home = next((g for g in groups if len(names ^ g[1]) <= FEW_VARIABLES), None)
        if home is None:
            groups.append(([prop], names))
        else:
            home[0].append(prop)
            home[1].update(names)
    return tuple(
        _group(prepared, members, {prop.name: cones[prop.name] for prop in members}, sliced(prepared, members))
        for members, _ in groups
    )


def _roots(prepared: Prepared, properties: Sequence[Property]) -> list[z3.BoolRef]:
    terms = [term for prop in properties for term in (prop.violated, prop.witness, prop.goal) if term is not None]
    return [prepared.specialise(term) for term in terms]


def with_history(prepared: Prepared, properties: Sequence[Property]) -> TransitionSystem:
    """The part of the system that properties see, with what clocks remember."""
    remembered = [variable.term for variable in prepared.system.history]
    return slice_to(prepared.system, [*_roots(prepared, properties), *remembered], prepared.free)


def alone(prepared: Prepared, prop: Property) -> Group:
    """A property asked by itself, of the part that it sees, with what clocks remember."""
    system = with_history(prepared, [prop])
    return _group(prepared, [prop], {prop.name: system}, system)


def each_alone(prepared: Prepared, properties: Sequence[Property]) -> dict[str, Group]:
    """Each property asked by itself, by name. Where others see the same part, it is observed what violates them."""
    asked = {prop.name: alone(prepared, prop) for prop in properties}
    found = {}
    for name, one in asked.items():
        observations = dict(one.question.observations)
        for other in properties:
            alike = asked[other.name].system.variables == one.system.variables
            if alike and other.name != name and other.goal is None:
                observations[VIOLATED + other.name] = prepared.specialise(other.violated)
        found[name] = replace(one, question=replace(one.question, observations=observations))
    return found


def sliced(prepared: Prepared, properties: Sequence[Property]) -> TransitionSystem:
    """The part of the system that properties see."""
    return slice_to(prepared.system, _roots(prepared, properties), prepared.free)


def _group(
    prepared: Prepared,
    properties: Sequence[Property],
    cones: Mapping[str, TransitionSystem],
    system: TransitionSystem,
) -> Group:
    """The question about these properties, with their witnesses and the bounds that could stop something."""
    seen = {variable.name for variable in system.variables}
    observations = {WITNESS + prop.name: prepared.specialise(prop.witness) for prop in properties}
    for name, limit in (prepared.model.system.limits or {}).items():
        term = prepared.specialise(limit)
        if prepared.free.of(term) <= seen:
            observations[LIMIT + name] = term
    limits = frozenset(name for name in observations if name.startswith(LIMIT))
    goals = [(prop.name, prepared.specialise(prop.goal)) for prop in properties if prop.goal is not None]
    invariants = {prop.name: prepared.specialise(prop.violated) for prop in properties if prop.goal is None}
    if len(goals) > 1:
        raise ValueError("at most one property of a group may speak of a goal")
    question = Question(invariants, goals[0] if goals else None, observations, limits)
    return Group(tuple(properties), system, question, cones)


def fingerprints(prepared: Prepared, groups: Sequence[Group]) -> dict[str, bytes]:
    """Property -> the hash of what it asks and of the part of the model that it sees.

    The terms are hashed as the model wrote them: what Z3 simplifies them to depends on what it simplified before.
    """
    prints = Fingerprint()
    whole = prepared.model.system
    hashes = {}
    for one in groups:
        for prop in one.properties:
            cone = one.cones[prop.name]
            kept = set(cone.variables)
            written = [
                replace(original, updates={v: u for v, u in original.updates.items() if v in kept})
                for action in cone.actions
                if (original := whole.action(action.name, action.arguments)) is not None
            ]
            asked = [term for term in (prop.violated, prop.witness, prop.goal) if term is not None]
            system = prints.of_system(replace(cone, actions=tuple(written)))
            hashes[prop.name] = b"".join([system, prints.of_clocks(cone), *(prints.of_term(term) for term in asked)])
    return hashes
