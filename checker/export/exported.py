"""Exported systems: a system without faults as a concept, the properties of its states, and texts about both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import z3

from proofka.checker.budget import ALWAYS_COVERED
from proofka.checker.cone import slice_to
from proofka.checker.export.vocabulary import Definition, definitions, purpose, words
from proofka.checker.fault_counters import count_faults
from proofka.checker.questions import Prepared, prepare
from proofka.checker.solver import prove_domain_safety
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import DESCRIPTION, Fault
from proofka.model.input.input_error import InputError
from proofka.model.language import Action, Display, State, TransitionSystem, Variable
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from proofka.properties.property import Property


class UnknownProperty(InputError, ValueError):
    """No property has this name."""


@dataclass(frozen=True)
class Exported:
    """A transition system with everything that is written about it.

    ``violated`` maps each invariant to the term that holds in violating states. ``goals`` maps each property that
    demands a state reachable from everywhere to the term for this state. ``comment`` heads every file. The other fields
    are for readers only. ``statements`` give the meaning of properties, ``remarks`` (by action, as printed) the meaning
    of actions. ``definitions`` name terms that occur in the system, ``words`` the values of variables.
    """

    name: str
    system: TransitionSystem
    violated: Mapping[str, z3.BoolRef]
    comment: tuple[str, ...] = ()
    goals: Mapping[str, z3.BoolRef] = field(default_factory=dict)
    statements: Mapping[str, str] = field(default_factory=dict)
    remarks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    definitions: tuple[Definition, ...] = ()
    words: Mapping[str, Mapping[int, str]] = field(default_factory=dict)


class Published(Protocol):
    """The parts of a published protocol that an export needs."""

    @property
    def name(self) -> str: ...
    @property
    def system(self) -> TransitionSystem: ...
    @property
    def violated(self) -> Mapping[str, z3.BoolRef]: ...


def export_protocol(protocol: Published, comment: tuple[str, ...] = ()) -> Exported:
    """Return a published protocol, proved to stay within its domains, without actions that can never happen."""
    system = prove_domain_safety(protocol.system)
    remarks = {str(action): tuple(filter(None, (purpose(action), action.actor))) for action in system.actions}
    head = (f"The published replication protocol {protocol.name}.", *comment)
    return Exported(protocol.name, system, protocol.violated, head, remarks=remarks)


def export_deployment(
    deployment: Deployment, *, properties: Collection[str] = (), total: int | None = None
) -> Exported:
    """Return the system of a deployment: constants filled in, proved safe, with an explicit budget of faults.

    ``properties`` limits the system to the part that these properties see (default: all). ``total`` is the number of
    faults over all kinds: by default the deployment's total, or two if the deployment names none. Raise
    :class:`UnknownProperty`.
    """
    model = build(deployment)
    prepared = prepare(model)
    chosen = _chosen(properties_of(model.pipeline), properties)
    invariants = {p.name: _filled_in(prepared, p.violated) for p in chosen if p.goal is None}
    goals = {p.name: _filled_in(prepared, p.goal) for p in chosen if p.goal is not None}
    system = _as_written(prepared, slice_to(prepared.system, [*invariants.values(), *goals.values()], prepared.free))
    asked = deployment.faults.total if total is None else total
    most = ALWAYS_COVERED if asked is None else asked
    at_most = {Fault(kind): count for kind, count in deployment.faults.at_most}
    counted = count_faults(system, at_most, most)
    filled_in = (replace(d, term=_filled_in(prepared, d.term)) for d in definitions(model.pipeline))
    return Exported(
        deployment.name,
        counted,
        invariants,
        _comment(deployment, chosen, system, at_most, most),
        goals,
        {p.name: p.statement for p in chosen},
        {str(action): _remarks(action) for action in system.actions},
        (*filled_in, *_faults_so_far(counted.variables[len(system.variables) :])),
        words(model.pipeline),
    )


def _chosen(known: tuple[Property, ...], names: Collection[str]) -> list[Property]:
    unknown = sorted(set(names) - {prop.name for prop in known})
    if unknown:
        choices = ", ".join(prop.name for prop in known)
        raise UnknownProperty(f"unknown property {', '.join(unknown)}: choose from {choices}")
    return [prop for prop in known if not names or prop.name in names]


def _filled_in(prepared: Prepared, term: z3.ExprRef) -> z3.ExprRef:
    """Return the term over the remaining variables, in the form in which the model wrote it."""
    return z3.substitute(term, *prepared.constants)


def _as_written(prepared: Prepared, system: TransitionSystem) -> TransitionSystem:
    """Return the same system with its terms in the form in which the model wrote them.

    Z3's simplified terms depend on its earlier work, and are harder to read.
    """
    whole = prepared.model.system
    actions = []
    for action in system.actions:
        original = whole.action(action.name, action.arguments)
        assert original is not None
        updates = {variable: _filled_in(prepared, original.updates[variable]) for variable in action.updates}
        actions.append(replace(original, guard=_filled_in(prepared, original.guard), updates=updates))
    kept = {variable.name for variable in system.variables}
    constant = {str(variable): value.as_long() for variable, value in prepared.constants}
    displays = (_completed(display, constant) for display in system.displays if _is_seen(display, kept, constant))
    return TransitionSystem(system.name, system.variables, tuple(actions), tuple(displays))


def _faults_so_far(counters: Sequence[Variable]) -> Iterator[Definition]:
    if len(counters) > 1:
        yield Definition("faults_so_far", z3.Sum(*(counter.term for counter in counters)), "Faults of any kind.")


def _is_seen(display: Display, kept: Collection[str], constant: Mapping[str, int]) -> bool:
    """Tell whether some displayed variables are in the system, and the others are constant."""
    names = {variable.name for variable in display.variables}
    return not names.isdisjoint(kept) and names <= {*kept, *constant}


def _completed(display: Display, constant: Mapping[str, int]) -> Display:
    def render(state: State) -> str:
        return display.render({**constant, **state})

    return replace(display, render=render, entries=None)


def _remarks(action: Action) -> tuple[str, ...]:
    """Return the purpose of the action, and its actor."""
    semantics = f", semantics {action.semantics}" if action.semantics else ""
    lines = [purpose(action), f"{action.actor}{semantics}"]
    if action.fault is not None:
        lines.append(f"fault: {action.fault.value} ({DESCRIPTION[action.fault]})")
    return tuple(line for line in lines if line)


def _comment(
    deployment: Deployment,
    chosen: Collection[Property],
    system: TransitionSystem,
    at_most: Mapping[Fault, int],
    total: int,
) -> tuple[str, ...]:
    bounds = deployment.bounds
    present = {action.fault for action in system.actions}
    kinds = ", ".join(f"{kind.value}: {most}" for kind, most in at_most.items() if most > 0 and kind in present)
    return (
        f"The pipeline {deployment.name}, as Proofka models it: producer, brokers, controller and consumer.",
        f"Bounds: {deployment.cluster.replicas} replicas, {bounds.records} records, log {bounds.log}, "
        f"sends {bounds.sends}, leader epochs {bounds.epochs}.",
        f"Faults: {total} in total at most" + (f" ({kinds})" if kinds and total else "") + ".",
        f"Properties: {', '.join(prop.name for prop in chosen)}.",
    )
