"""Groups of properties that are explored together, because they see the same part of the system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import z3

from proofka.checker.cone import FreeVariables, Substitution, propagate_constants, slice_to, specialise
from proofka.checker.exploration import Question
from proofka.checker.identity import Fingerprint
from proofka.checker.reductions.always import always_reduced
from proofka.checker.solver import prove_domain_safety
from proofka.checker.terms import TermTable
from proofka.model.language import TransitionSystem
from proofka.model.pipeline import Model
from proofka.properties.property import Property

WITNESS = "witness of "
LIMIT = "limit "
VIOLATED = "also violated "
FEW_VARIABLES = 24
"""Largest number of differing variables between cones of influence that are explored together."""


@dataclass(frozen=True)
class Prepared:
    """A model ready for exploring: constants filled in, domain safety proved, impossible actions dropped.

    ``model`` is as it was before constants were filled in, with the reductions of :func:`always_reduced`.
    """

    model: Model
    system: TransitionSystem
    constants: Substitution
    free: FreeVariables

    def specialise(self, term: z3.BoolRef) -> z3.BoolRef:
        """Return a term over the model's variables as a term over the remaining variables."""
        return specialise(term, self.constants)


@dataclass(frozen=True)
class Group:
    """Properties explored together, on the part of the system that they see.

    ``cones``: the part that each property sees.
    """

    properties: tuple[Property, ...]
    system: TransitionSystem
    question: Question
    cones: Mapping[str, TransitionSystem]


@dataclass(frozen=True)
class Simplified:
    """A reduced model, and its system with the constants filled in, before its actions are proved safe."""

    model: Model
    system: TransitionSystem
    constants: Substitution

    def proved(self) -> Prepared:
        """Prove that the variables stay in their domains, and drop the actions that never happen."""
        terms = TermTable()
        safe = prove_domain_safety(self.system, terms)
        return Prepared(self.model, safe, self.constants, FreeVariables(terms))


def simplify(model: Model) -> Simplified:
    """Reduce a model as every check does, and fill constants in."""
    reduced = always_reduced(model)
    return Simplified(reduced, *propagate_constants(reduced.system))


def prepare(model: Model) -> Prepared:
    """Simplify a model, and prove that its variables stay in their domains."""
    return simplify(model).proved()


def group(prepared: Prepared, properties: Sequence[Property], *, cone: bool = True) -> tuple[Group, ...]:
    """Group properties by their cones of influence; cones that differ in a few variables are explored together.

    Without ``cone``, all properties are explored on the whole system.
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
    """Return the part of the system that the properties see, with the variables that clocks remember."""
    remembered = [variable.term for variable in prepared.system.history]
    return slice_to(prepared.system, [*_roots(prepared, properties), *remembered], prepared.free)


def alone(prepared: Prepared, prop: Property) -> Group:
    """Return a group of one property, on the part that it sees, with the variables that clocks remember."""
    system = with_history(prepared, [prop])
    return _group(prepared, [prop], {prop.name: system}, system)


def each_alone(prepared: Prepared, properties: Sequence[Property]) -> dict[str, Group]:
    """Return a group for each property alone, by name.

    If other properties see the same part, their violations are observations of the group.
    """
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
    """Return the part of the system that the properties see."""
    return slice_to(prepared.system, _roots(prepared, properties), prepared.free)


def _group(
    prepared: Prepared,
    properties: Sequence[Property],
    cones: Mapping[str, TransitionSystem],
    system: TransitionSystem,
) -> Group:
    """Return the group with the question about these properties, their witnesses, and the bounds that could stop a
    run.
    """
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
        raise ValueError("at most one property of a group can have a goal")
    question = Question(invariants, goals[0] if goals else None, observations, limits)
    return Group(tuple(properties), system, question, cones)


def fingerprints(prepared: Prepared, groups: Sequence[Group]) -> dict[str, bytes]:
    """Return, for each property, the hash of its terms and of the part of the model that it sees.

    The terms are hashed as the model wrote them, because Z3's simplified terms depend on earlier simplifications.
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
