"""Replay the traces of an earlier result: each step must be allowed, and the property violated at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise, zip_longest
from typing import Any

from proofka.checker.budget import Budget, Meter
from proofka.checker.certificates.agreement import verify_named
from proofka.checker.check import prepare_groups
from proofka.checker.conclusion import faults_in_words
from proofka.checker.continuing import continued
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.fixed_point import with_epochs
from proofka.checker.named_defects import verify_known_defects
from proofka.checker.outcomes_check import verify_outcomes
from proofka.checker.questions import group, prepare
from proofka.checker.rebuilt import verify_settings
from proofka.checker.reductions.always import always_reduced
from proofka.checker.reductions.choice import Reduction
from proofka.checker.solver import Replayer
from proofka.checker.statements import PASSES, one_verdict_each, reductions_of, verify_claims
from proofka.checker.tampered import TamperedDocument
from proofka.checker.timing.constraints import Between, bounds_on
from proofka.checker.traces import ReplayMismatch, replay, shown_of, steps_of
from proofka.model.deployment import Deployment, from_document
from proofka.model.language import Action, State, TransitionSystem
from proofka.model.pipeline import Model, build
from proofka.properties.catalogue import properties_of
from proofka.properties.property import Property
from proofka.properties.sealing import SEAL, seal
from proofka.properties.verdict import Change, Shown

Document = Mapping[str, Any]

NOT_COMPUTED = "names, notes, the command, and the source files of settings"
"""The parts of every result that no computation gives."""


@dataclass(frozen=True)
class Verification:
    """The outcome of a verification; ``lines``: one for each kind of check.

    ``replayed``: for each trace, a line that names the trace, and its steps. ``passes``: the passed properties, which
    have no trace to replay. ``open``: parts that this version could not verify although it wrote them, a line each.
    """

    lines: tuple[str, ...]
    replayed: tuple[tuple[str, tuple[str, ...]], ...]
    passes: tuple[str, ...]
    open: tuple[str, ...] = ()


def verify(document: Document) -> Verification:
    """Compute again everything that follows from the deployment of a result, and replay every trace against its model.

    Raise :class:`TamperedDocument` for the first step or statement that the model contradicts.
    """
    deployment = from_document(document["deployment"])
    prepared, groups = prepare_groups(deployment, cone=Reduction.CONE in reductions_of(document))
    model = _model_of_traces(deployment, prepared.model, document)
    properties = {prop.name: prop for prop in properties_of(model.pipeline)}
    cones = {name: cone for one in groups for name, cone in one.cones.items()}
    one_verdict_each([prop.name for one in groups for prop in one.properties], document)
    replayed = []
    for verdict in document["verdicts"]:
        name = verdict["property"]
        if verdict["trace"] != (verdict["traces"][0] if verdict["traces"] else None):
            raise TamperedDocument(f"{name}: {_differing_copies(verdict)}")
        if [trace["faults"] for trace in verdict["traces"]] != verdict["cut_sets"]:
            raise TamperedDocument(f"{name}: traces and fault sets do not match")
        if (verdict["status"] == "violated") != bool(verdict["traces"]):
            raise TamperedDocument(f"{name}: {verdict['status']} with {len(verdict['traces'])} traces")
        for trace in verdict["traces"]:
            _verify_trace(model, properties[name], cones[name], trace)
            replayed.append(_told(name, trace))
    verify_claims(deployment, prepared, groups, document)
    settings, left_open = verify_settings(deployment)
    known, unequal = verify_known_defects(deployment, document)
    outcomes, certificate = verify_outcomes(document), verify_named(document)
    if document[SEAL] != seal(document):
        raise TamperedDocument(
            "was changed after it was written: the checksum does not match. What is computed again agrees, so the "
            "change is in times of steps, to others that the clocks allow, or in what the checksum alone covers: "
            f"{', '.join([*_only_sealed(document), 'counts, versions', NOT_COMPUTED])}"
        )
    passes = tuple(verdict["property"] for verdict in document["verdicts"] if verdict["status"] in PASSES)
    lines = (*settings, *known, *_lines(document), *(line for line in (outcomes, certificate) if line))
    return Verification(lines, tuple(replayed), passes, (*left_open, *unequal))


def _told(name: str, trace: Document) -> tuple[str, tuple[str, ...]]:
    faults = faults_in_words(trace["faults"].items())
    steps = tuple(
        f"  step {number} is allowed{_when(step)}: {step['text']}" for number, step in enumerate(trace["steps"], 1)
    )
    return f"{name}, {faults}: {len(steps)} steps are allowed, and the end violates the property", steps


def _lines(document: Document) -> Iterator[str]:
    """Yield the checks that were done, and the parts that only a checksum covers."""
    verdicts = document["verdicts"]
    ids = counted(len(verdicts), "id")
    yield f"ids: {ids} computed again, with bounds, assumptions and modelling assumptions; the checksum agrees"
    violated = [verdict for verdict in verdicts if verdict["traces"]]
    traces = sum(len(verdict["traces"]) for verdict in violated)
    if traces:
        of = counted(len(violated), "property", "properties")
        replayed = f"traces: {counted(traces, 'trace')} of {of} replayed on the model"
        yield f"{replayed}: steps are allowed, ends violate the property"
    if those := _only_sealed(document):
        said = "not computed again, covered by the checksum only; the command of the result computes them again"
        yield f"{', '.join(those)}: {said}"
    yield f"{NOT_COMPUTED}: covered by the checksum only"


def _only_sealed(document: Document) -> list[str]:
    """Return the names of the computed parts of a result that are not computed again."""
    told = {
        "sensitivities": document["sensitivities"] or document.get("others_tried"),
        "thresholds": document["thresholds"] or document.get("others_tried"),
        "preventions": document.get("preventions") is not None,
        "stability": document.get("stability") is not None,
    }
    return [name for name, is_told in told.items() if is_told]


def _differing_copies(verdict: Mapping[str, Any]) -> str:
    """Return the sentence on a first trace that differs from its copy, with the first differing step."""
    one, other = verdict["trace"], verdict["traces"][0] if verdict["traces"] else None
    said = "the first trace stands in the result twice, as trace and as traces[0], and the two differ"
    if one is None or other is None:
        return f"{said}: one of them is missing"
    for number, (step, copy) in enumerate(zip_longest(one["steps"], other["steps"]), start=1):
        if step is None or copy is None:
            return f"{said}: step {number} is missing in one of them"
        keys = [key for key in {**step, **copy} if step.get(key) != copy.get(key)]
        if keys:
            return f"{said} in step {number} ({', '.join(keys)})"
    keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    return f"{said} in {', '.join(keys)}"


def counted(number: int, one: str, more: str = "") -> str:
    """Return text such as ``1 trace`` or ``2 traces``."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def _when(step: Mapping[str, Any]) -> str:
    return "" if step.get("at") is None else f" at {step['at']:,} ms"


def _model_of_traces(deployment: Deployment, model: Model, document: Mapping[str, Any]) -> Model:
    """Return the model of the traces: for any number of faults, traces can need more leader epochs than the bound."""
    if not deployment.faults.any_number:
        return model
    longest = max((len(trace["steps"]) for verdict in document["verdicts"] for trace in verdict["traces"]), default=0)
    return always_reduced(build(with_epochs(deployment, max(deployment.bounds.epochs, longest + 2))))


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
        raise TamperedDocument(f"{prop.name}: the initial state differs from the model")
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
                raise TamperedDocument(f"{prop.name}, step {number}: {key} differs from the model")
    _verify_times(prop, bounds_on(system, cone, actions, states), [step["at"] for step in trace["steps"]])
    faults = [action.fault.value for action in actions if action.fault is not None]
    if {kind: faults.count(kind) for kind in set(faults)} != trace["faults"]:
        raise TamperedDocument(f"{prop.name}: the steps do not have the faults of the trace")
    violated = (
        _is_stuck(model, prop, states[-1]) if prop.goal is not None else replayer.holds(states[-1], prop.violated)
    )
    if not violated:
        raise TamperedDocument(f"{prop.name}, step {len(actions)}: the property is not violated at the end")
    if trace["failure"] != prop.explain(states[-1]):
        raise TamperedDocument(f"{prop.name}: the failure differs from the model")


def _as_told(words: Change | Shown) -> dict[str, Any]:
    """Return the words in the form of a document."""
    told = {key: value for key, value in asdict(words).items() if value is not None}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in told.items()}


def _verify_times(prop: Property, bounds: Iterable[Between], times: Sequence[int | None]) -> None:
    """Raise TamperedDocument unless every step has a time, times never decrease, and every bound between steps is
    kept.
    """
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
    """Explore the states that follow from a state without further faults; return whether the goal is unreachable."""
    (only,) = group(prepare(replace(model, system=continued(model.system, state))), [prop])
    exploration = EmbeddedExploration(only.system, only.question, {}, Meter(Budget()))
    exploration.explore_layer()
    return any(violation.depth == 0 for violation in exploration.violations[prop.name])
