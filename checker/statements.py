"""Verify the statements of a result that follow from the deployment alone, without exploring."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise, permutations
from typing import Any

from proofka.checker.budget import ANSWERED_TO
from proofka.checker.check import question_ids
from proofka.checker.modelling_assumptions import assumptions_behind
from proofka.checker.questions import Group, Prepared
from proofka.checker.reductions.choice import Reduction, UnknownReduction, chosen
from proofka.checker.tampered import TamperedDocument, compare
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault
from proofka.model.language import TransitionSystem
from proofka.properties.modelling_assumption import ModellingAssumption, by_kind
from proofka.properties.property import Property

Document = Mapping[str, Any]

OF_DEPLOYMENT = "its deployment"
PASSES = ("holds", "vacuous")


def verify_claims(deployment: Deployment, prepared: Prepared, groups: Sequence[Group], document: Document) -> None:
    """Raise TamperedDocument for the first statement that the deployment contradicts, or that contradicts another.

    ``groups`` are the explored groups; without reductions a single group is possible.
    """
    told = [
        {"scope": one.scope, "key": one.key, "value": one.value, "detail": one.origin.detail}
        for one in deployment.assumptions
    ]
    if document["assumptions"] != told:
        raise TamperedDocument("its assumptions are not those of its deployment")
    ids = question_ids(deployment, prepared, groups)
    verdicts = {verdict["property"]: verdict for verdict in document["verdicts"]}
    for one in groups:
        if not (deployment.faults.any_number or deployment.faults.is_open_ended):
            _explored_together(one, verdicts)
        for prop in one.properties:
            said = verdicts[prop.name]
            if said["id"] != ids[prop.name]:
                raise TamperedDocument(f"{prop.name}: its id does not belong to this deployment's question")
            _follows(deployment, one, prop, said)
            if problem := contradiction(deployment, said):
                raise TamperedDocument(f"{prop.name}: {problem}")
            _grants(deployment, prepared, one, prop, said)


def one_verdict_each(names: Sequence[str], document: Document) -> None:
    """Raise TamperedDocument if a property has no verdict or several."""
    told = [verdict["property"] for verdict in document["verdicts"]]
    for name in told:
        if name not in names:
            raise TamperedDocument(f"{name}: the model has no such property")
    for name in names:
        if told.count(name) != 1:
            raise TamperedDocument(f"{name}: has {told.count(name)} verdicts; the model has 1")


def _explored_together(one: Group, verdicts: Mapping[str, Document]) -> None:
    """Raise TamperedDocument if properties of a group were not explored with the same faults."""
    names = ("faults_complete_to", "combinations_of_next_explored", "combinations_of_next")
    first, *others = (verdicts[prop.name] for prop in one.properties)
    for other in others:
        for name in names:
            if other["bounds"][name] != first["bounds"][name]:
                raise TamperedDocument(
                    f"{other['property']}: {name} differs from {first['property']}, which was explored with it"
                )


def _sees(cone: TransitionSystem, kind: str) -> bool:
    return any(action.fault is not None and action.fault.value == kind for action in cone.actions)


def _is_unexplored(said: Document) -> bool:
    """Tell whether a verdict claims nothing, because no state was explored for the property."""
    bounds = said["bounds"]
    return said["status"] == "unknown" and bounds["faults_complete_to"] < 0 and not bounds["fault_kinds"]


def _follows(deployment: Deployment, one: Group, prop: Property, said: Document) -> None:
    """Compare the question and its bounds with the deployment."""
    present = {action.fault for action in one.system.actions}
    at_most = dict(deployment.faults.at_most)
    kinds = {kind.value: at_most[kind.value] for kind in Fault if kind in present and at_most.get(kind.value, 0) > 0}
    if deployment.faults.is_open_ended:
        # The explored kinds depend on the named properties; kinds that a property does not see cannot affect it.
        allowed = {kind: most for kind, most in at_most.items() if kind in said["bounds"]["fault_kinds"]}
        kinds = {**{kind: most for kind, most in kinds.items() if _sees(one.cones[prop.name], kind)}, **allowed}
    if _is_unexplored(said):
        kinds = {}
    sizes = deployment.sizes
    any_number: list[str] = []
    if deployment.faults.any_number and said["status"] in PASSES:
        # The search reached a fixed point, so the verdict holds for any number of faults and of leader epochs.
        del sizes["epochs"]
        any_number = [kind for kind in deployment.faults.any_number if kind in kinds]
    told = said["bounds"]
    facts: dict[str, tuple[Any, Any]] = {
        "statement": (said["statement"], prop.statement),
        "guarantee": (said["guarantee"], prop.guarantee),
        "witness": (said["witness"], prop.witness_words),
        "required": (said["required"], prop.name in deployment.require),
        "sizes": (told["sizes"], sizes),
        "kinds of fault": (told["fault_kinds"], kinds),
        "kinds of which any number is covered": (told["any_number"], any_number),
        "number of faults asked for": (told["faults_total"], deployment.faults.total),
    }
    compare(facts, prop.name, OF_DEPLOYMENT)


def contradiction(deployment: Deployment, said: Document) -> str | None:
    """Return a sentence on how a verdict contradicts itself or the question; None if it does not."""
    status, bounds = said["status"], said["bounds"]
    complete, stopped = bounds["faults_complete_to"], bounds["stopped"]
    total, at_most = deployment.faults.total, dict(deployment.faults.at_most)
    if total is not None and complete > total:
        return f"every combination of {complete} faults is said to be explored, but the requested total is {total}"
    if status in PASSES:
        if complete < 0:
            return f"{status}, but the states without a fault were not explored"
        wanted = ANSWERED_TO if total is None else total
        if stopped is not None and (deployment.faults.any_number or complete < wanted):
            return f"{status}, but the exploration was stopped ({stopped}) before its end"
        if said["witness_reached"] != (status == "holds"):
            return f"{status}, but its witness was {'reached' if said['witness_reached'] else 'not reached'}"
    if said["lemmas"] and status not in PASSES:
        return f"{status}, but rests on timing lemmas"
    for cut_set in said["cut_sets"]:
        if total is not None and sum(cut_set.values()) > total:
            return f"violated by {sum(cut_set.values())} faults, but the requested total is {total}"
        for kind, count in cut_set.items():
            if kind not in deployment.faults.any_number and count > at_most.get(kind, 0):
                return f"violated by {count} {kind}, but at most {at_most.get(kind, 0)} were requested"
    for part, whole in permutations(said["cut_sets"], 2):
        if all(count <= whole.get(kind, 0) for kind, count in part.items()):
            return "one of its smallest fault sets contains another"
    return None


def _grants(deployment: Deployment, prepared: Prepared, one: Group, prop: Property, said: Document) -> None:
    """Raise TamperedDocument if the notes of a pass do not end with its modelling assumptions.

    Results of earlier versions have the assumptions in the notes only.
    """
    assumed = assumptions_of_pass(deployment, prepared, one, prop.name, said)
    texts = [granted.text for granted in assumed]
    if texts and said["notes"][-len(texts) :] != texts:
        raise TamperedDocument(f"{prop.name}: its notes do not list the modelling assumptions for this deployment")
    sorted_by_kind = [{"kind": str(granted.kind), "text": granted.text} for granted in by_kind(assumed)]
    if said.get("assumptions", sorted_by_kind) != sorted_by_kind:
        raise TamperedDocument(f"{prop.name}: its modelling assumptions are not those for this deployment")


def assumptions_of_pass(
    deployment: Deployment, prepared: Prepared, one: Group, name: str, said: Document
) -> list[ModellingAssumption]:
    """Return the modelling assumptions behind a verdict, in the order of notes; an empty list if it is no pass."""
    if said["status"] not in PASSES:
        return []
    seen = {variable.name for variable in one.cones[name].variables}
    reads = prepared.model.pipeline.consumer.position.name in seen
    return list(assumptions_behind(deployment, name, reads=reads, in_time=bool(said["lemmas"])))


def reductions_of(document: Document) -> frozenset[Reduction]:
    """Return the reductions named in the command of a result. Raise TamperedDocument for an unknown reduction."""
    said: dict[str, list[str]] = {"--with": [], "--without": []}
    try:
        words = shlex.split(document["command"] or "")
        for option, value in pairwise(words):
            if option in said:
                said[option].append(value)
        return chosen(said["--with"], said["--without"])
    except (ValueError, UnknownReduction):
        raise TamperedDocument("its command cannot be read, so its reductions are unknown") from None
