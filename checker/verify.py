"""Replay the traces of an earlier result: is each step allowed, and is the property violated at the end?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

from checker.budget import Budget, Meter
from checker.check import prepare_groups, question_ids
from checker.closure import with_epochs
from checker.conclusion import faults_in_words
from checker.embedded import EmbeddedExploration
from checker.questions import group, prepare
from checker.solver import Replayer
from checker.timing.constraints import Between, bounds_on
from checker.traces import ReplayMismatch, replay, shown_of, steps_of
from model.deployment import Deployment, from_document
from model.language import Action, State, TransitionSystem
from model.pipeline import Model, build
from properties.catalogue import properties_of
from properties.property import Property
from properties.sealing import SEAL, seal
from properties.verdict import Change, Shown


class TamperedDocument(Exception):
    """A result does not say what the model says; the message names the verdict and the step."""


@dataclass(frozen=True)
class Verification:
    """What was re-checked, a line each; ``steps`` are those of the traces, by the line that they follow."""

    lines: tuple[str, ...]
    steps: Mapping[int, tuple[str, ...]]
    ok: bool


def verify(document: Mapping[str, Any]) -> Verification:
    """Replay every trace of a result document against the model of its deployment.

    Raises :class:`TamperedDocument` for the first step or statement that the model does not bear out.
    """
    deployment = from_document(document["deployment"])
    prepared, groups = prepare_groups(deployment)
    model = _model_of_traces(deployment, prepared.model, document)
    properties = {prop.name: prop for prop in properties_of(model.pipeline)}
    cones = {name: cone for one in groups for name, cone in one.cones.items()}
    lines: list[str] = []
    steps: dict[int, tuple[str, ...]] = {}
    replayed = 0
    _verify_extent(deployment, [prop.name for one in groups for prop in one.properties], document)
    for verdict in document["verdicts"]:
        name = verdict["property"]
        if verdict["trace"] != (verdict["traces"][0] if verdict["traces"] else None):
            raise TamperedDocument(f"{name}: the first trace is not among its traces")
        if [trace["faults"] for trace in verdict["traces"]] != verdict["cut_sets"]:
            raise TamperedDocument(f"{name}: traces and fault sets do not match")
        if verdict["status"] in ("holds", "vacuous") and verdict["bounds"]["faults_complete_to"] < 0:
            raise TamperedDocument(
                f"{name}: {verdict['status']}, though not even the states without a fault were explored"
            )
        if (verdict["status"] == "violated") != bool(verdict["traces"]):
            raise TamperedDocument(f"{name}: {verdict['status']} with {len(verdict['traces'])} traces")
        for trace in verdict["traces"]:
            _verify_trace(model, properties[name], cones[name], trace)
            told = enumerate(trace["steps"], 1)
            steps[len(lines)] = tuple(
                f"  step {number} is allowed{_when(step)}: {step['text']}" for number, step in told
            )
            faults = faults_in_words(trace["faults"].items())
            lines.append(f"{name}, {faults}: {len(trace['steps'])} steps are allowed, and at the end it is violated")
            replayed += 1
        if not verdict["traces"]:
            lines.append(f"{name}: {verdict['status']}, no trace to replay; run the check again to confirm it")
    if document.get("thresholds"):
        lines.append("thresholds: not checked again; run the check again to confirm them")
    ids = question_ids(deployment, prepared, groups)
    for verdict in document["verdicts"]:
        if verdict["id"] != ids[verdict["property"]]:
            raise TamperedDocument(f"{verdict['property']}: its id is not that of this deployment's question")
    if document[SEAL] != seal(document):
        raise TamperedDocument("what it says besides the traces was changed: the checksum does not match")
    traces = f"{replayed} trace{'' if replayed == 1 else 's'} replayed"
    lines.append(f"as it was written: {traces}, every id and the checksum of all else agree")
    return Verification(tuple(lines), steps, True)


def _verify_extent(deployment: Deployment, names: Sequence[str], document: Mapping[str, Any]) -> None:
    """Every property has one verdict, and what was assumed and how large it was is what the deployment says."""
    told = [verdict["property"] for verdict in document["verdicts"]]
    for name in told:
        if name not in names:
            raise TamperedDocument(f"{name}: the model has no such property")
    for name in names:
        if told.count(name) != 1:
            raise TamperedDocument(f"{name}: has {told.count(name)} verdicts; the model has 1")
    if [one["value"] for one in document["assumptions"]] != [one.value for one in deployment.assumptions]:
        raise TamperedDocument("its assumptions are not those of its deployment")
    bounds = deployment.bounds
    sizes = {"records": bounds.records, "log": bounds.log, "sends": bounds.sends}
    for verdict in document["verdicts"]:
        said = verdict["bounds"]["sizes"]
        if any(said.get(name, size) != size for name, size in sizes.items()):
            raise TamperedDocument(f"{verdict['property']}: its sizes are not those of its deployment")


def _when(step: Mapping[str, Any]) -> str:
    return "" if step.get("at") is None else f" at {step['at']:,} ms"


def _model_of_traces(deployment: Deployment, model: Model, document: Mapping[str, Any]) -> Model:
    """The model in which the traces are runs: any number of faults may take more leader epochs than the bound."""
    if not deployment.faults.any_number:
        return model
    longest = max((len(trace["steps"]) for verdict in document["verdicts"] for trace in verdict["traces"]), default=0)
    return build(with_epochs(deployment, max(deployment.bounds.epochs, longest + 2)))


def _verify_trace(model: Model, prop: Property, cone: TransitionSystem, trace: Mapping[str, Any]) -> None:
    system, replayer = model.system, Replayer(model.system)
    actions: list[Action] = []
    for number, step in enumerate(trace["steps"], 1):
        action = system.action(step["action"], step["arguments"])
        if action is None:
            raise TamperedDocument(f"{prop.name}, step {number}: the model has no action {step['action']}")
        actions.append(action)
    try:
        states = replay(system, replayer, actions)
    except ReplayMismatch as mismatch:
        raise TamperedDocument(f"{prop.name}, {mismatch}") from None
    told = trace.get("start")
    if told is not None and told != [_as_told(shown) for shown in shown_of(system, states[0])]:
        raise TamperedDocument(f"{prop.name}: the initial state is not what the model says")
    for number, (said, is_so) in enumerate(zip(trace["steps"], steps_of(system, actions, states), strict=True), 1):
        # Earlier versions wrote neither the initial state nor the entries of logs.
        kept = is_so.changes if told is not None else [replace(change, entries=None) for change in is_so.changes]
        changes = [_as_told(change) for change in kept]
        facts = {
            "actor": is_so.actor,
            "lane": is_so.lane,
            "text": is_so.text,
            "fault": is_so.fault,
            "changes": changes,
        }
        for key, fact in facts.items():
            if said[key] != fact:
                raise TamperedDocument(f"{prop.name}, step {number}: {key} is not what the model says")
    _verify_times(prop, bounds_on(system, cone, actions, states), [step["at"] for step in trace["steps"]])
    faults = [action.fault.value for action in actions if action.fault is not None]
    if {kind: faults.count(kind) for kind in set(faults)} != trace["faults"]:
        raise TamperedDocument(f"{prop.name}: the steps do not have the faults it names")
    violated = (
        _is_stuck(model, prop, states[-1]) if prop.goal is not None else replayer.holds(states[-1], prop.violated)
    )
    if not violated:
        raise TamperedDocument(f"{prop.name}, step {len(actions)}: the property is not violated at the end")
    if trace["failure"] != prop.explain(states[-1]):
        raise TamperedDocument(f"{prop.name}: what failed is not what the model says")


def _as_told(words: Change | Shown) -> dict[str, Any]:
    """The words as they stand in a document."""
    told = {key: value for key, value in asdict(words).items() if value is not None}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in told.items()}


def _verify_times(prop: Property, bounds: Iterable[Between], times: Sequence[int | None]) -> None:
    """Every step has a time, none is before the one before it, and every bound between two steps is kept."""
    told = [time for time in times if time is not None]
    if len(told) != len(times):
        raise TamperedDocument(f"{prop.name}: {len(times) - len(told)} of {len(times)} steps have no time")
    at = [0, *told]
    for number, (before, after) in enumerate(pairwise(at), 1):
        if after < before:
            raise TamperedDocument(f"{prop.name}, step {number}: is earlier than the step before it")
    for bound in bounds:
        if not bound.allows(at):
            raise TamperedDocument(
                f"{prop.name}, step {bound.later}: comes {at[bound.later] - at[bound.earlier]:,} ms after "
                f"{bound.clock.since}, which no clock allows"
            )


def _is_stuck(model: Model, prop: Property, state: State) -> bool:
    """Explore what follows from the state without another fault: the goal is nowhere."""
    started = tuple(replace(variable, initial=state[variable.name]) for variable in model.system.variables)
    renamed = dict(zip(model.system.variables, started, strict=True))
    actions = tuple(
        replace(action, updates={renamed[variable]: value for variable, value in action.updates.items()})
        for action in model.system.actions
        if action.fault is None
    )
    system = replace(model.system, variables=started, actions=actions)
    (only,) = group(prepare(replace(model, system=system)), [prop])
    exploration = EmbeddedExploration(only.system, only.question, {}, Meter(Budget()))
    exploration.explore_layer()
    return any(violation.depth == 0 for violation in exploration.violations[prop.name])
