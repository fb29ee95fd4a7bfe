"""A result as one JSON object, and back: ``--json`` writes the object and ``proofka verify`` reads it.

``schema.json`` beside this file describes the object. The order of keys is fixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.document import to_document as deployment_to_document
from proofka.model.deployment.setting import Setting
from proofka.properties import certified, reproduced
from proofka.properties.modelling_assumption import AssumptionKind, ModellingAssumption
from proofka.properties.sealing import SEAL, seal
from proofka.properties.stability import AtSize
from proofka.properties.verdict import (
    Change,
    Coverage,
    CutSet,
    EngineRun,
    KnownDefect,
    Prevention,
    Result,
    Sensitivity,
    Shown,
    Status,
    Step,
    Threshold,
    TimingLemma,
    Trace,
    Verdict,
)

FORMAT = 1
"""Version of the layout; raised if a reader of the earlier layout would misread the object."""

Document = dict[str, Any]


def to_document(deployment: Deployment, result: Result, *, command: str | None = None) -> Document:
    """Return the JSON object of a result. ``command`` reproduces the result."""
    document: Document = {
        "format": FORMAT,
        "versions": dict(sorted(result.versions.items())),
        "command": command,
        "deployment": deployment_to_document(deployment),
        "engine": _engine(result.engine),
        "verdicts": [_verdict(v) for v in result.verdicts],
        "assumptions": [_assumption(s) for s in deployment.assumptions],
        "sensitivities": [_sensitivity(s) for s in result.sensitivities],
        "thresholds": [asdict(threshold) for threshold in result.thresholds],
    }
    if result.preventions is not None:
        document["preventions"] = [_prevention(one) for one in result.preventions]
    if result.others_tried is not None:
        document["others_tried"] = result.others_tried
    if result.stability is not None:
        document["stability"] = [_at_size(row) for row in result.stability]
    if result.reproductions:
        document["reproductions"] = [reproduced.to_document(outcome) for outcome in result.reproductions]
    if result.certificate is not None:
        document["certificate"] = certified.to_document(result.certificate)
    return {**document, SEAL: seal(document)}


def result_from_document(document: Mapping[str, Any]) -> Result:
    """Return the result of a document, which must satisfy the schema (:mod:`reports.schema`)."""
    engine = document["engine"]
    return Result(
        verdicts=tuple(_read_verdict(v) for v in document["verdicts"]),
        engine=EngineRun(
            engine=engine["name"],
            states=engine["states"],
            transitions=engine["transitions"],
            depth=engine["depth"],
            layers=tuple(engine["layers"]),
            seconds=engine["seconds"],
            compile_seconds=engine["compile_seconds"],
            bytes_per_state=engine["bytes_per_state"],
            looks_again=engine["looks_again"],
            states_again=engine["states_again"],
        ),
        sensitivities=tuple(_read_sensitivity(s) for s in document["sensitivities"]),
        thresholds=tuple(Threshold(**one) for one in document["thresholds"]),
        versions=dict(document["versions"]),
        preventions=_read_preventions(document.get("preventions")),
        others_tried=document.get("others_tried"),
        stability=_read_stability(document.get("stability")),
        reproductions=tuple(reproduced.from_document(one) for one in document.get("reproductions", ())),
        certificate=certified.from_document(document["certificate"]) if "certificate" in document else None,
    )


def trace_from_document(document: Mapping[str, Any]) -> Trace:
    """Return one trace of a document as a value."""
    return Trace(
        faults=_read_cut_set(document["faults"]),
        steps=tuple(_read_step(s) for s in document["steps"]),
        failure=document["failure"],
        start=tuple(
            Shown(one["what"], one["owner"], one["value"], _read_entries(one)) for one in document.get("start", ())
        ),
    )


def _engine(run: EngineRun) -> Document:
    return {
        "name": run.engine,
        "states": run.states,
        "transitions": run.transitions,
        "depth": run.depth,
        "layers": list(run.layers),
        "seconds": run.seconds,
        "compile_seconds": run.compile_seconds,
        "bytes_per_state": run.bytes_per_state,
        "looks_again": run.looks_again,
        "states_again": run.states_again,
    }


def _verdict(verdict: Verdict) -> Document:
    traces = [_trace(t) for t in verdict.traces]
    return {
        "property": verdict.property,
        "statement": verdict.statement,
        "guarantee": verdict.guarantee,
        "status": str(verdict.status),
        "required": verdict.required,
        "cut_sets": [dict(cut_set) for cut_set in verdict.cut_sets],
        "bounds": _coverage(verdict.coverage),
        "states": verdict.states,
        "witness": verdict.witness,
        "witness_reached": verdict.witness_reached,
        "id": verdict.id,
        "trace": traces[0] if traces else None,
        "traces": traces,
        "notes": list(verdict.notes),
        "lemmas": [_lemma(lemma) for lemma in verdict.lemmas],
        "known_defects": [asdict(defect) for defect in verdict.known_defects],
        "assumptions": [{"kind": str(one.kind), "text": one.text} for one in verdict.assumptions],
    }


def _lemma(lemma: TimingLemma) -> Document:
    return {"needed": list(lemma.needed), "allowed": list(lemma.allowed), "inequality": lemma.inequality}


def _coverage(coverage: Coverage) -> Document:
    return {
        "sizes": dict(coverage.bounds),
        "sizes_reached": list(coverage.bounds_reached),
        "faults_complete_to": coverage.complete_to,
        "faults_total": coverage.total,
        "combinations_of_next_explored": coverage.combinations,
        "combinations_of_next": coverage.combinations_of_next,
        "fault_kinds": dict(coverage.kinds),
        "any_number": list(coverage.any_number),
        "stopped": coverage.stopped,
    }


def _trace(trace: Trace) -> Document:
    return {
        "faults": dict(trace.faults),
        "failure": trace.failure,
        "start": [
            {"what": one.what, "owner": one.owner, "value": one.value, **_entries(one.entries)} for one in trace.start
        ],
        "steps": [_step(s) for s in trace.steps],
    }


def _step(step: Step) -> Document:
    return {
        "actor": step.actor,
        "lane": step.lane,
        "action": step.action,
        "arguments": dict(step.arguments),
        "text": step.text,
        "fault": step.fault,
        "changes": [
            {"what": c.what, "before": c.before, "after": c.after, **_entries(c.entries)} for c in step.changes
        ],
        "at": step.at,
    }


def _entries(entries: tuple[str, ...] | None) -> Document:
    return {} if entries is None else {"entries": list(entries)}


def _assumption(setting: Setting) -> Document:
    return {
        "scope": setting.scope,
        "key": setting.key,
        "value": setting.value,
        "detail": setting.origin.detail,
    }


def _sensitivity(item: Sensitivity) -> Document:
    return {
        "assumption": item.assumption,
        "value": item.value,
        "property": item.property,
        "status": str(item.status),
        "cut_sets": [dict(cut_set) for cut_set in item.cut_sets],
    }


def _read_verdict(document: Mapping[str, Any]) -> Verdict:
    return Verdict(
        property=document["property"],
        statement=document["statement"],
        guarantee=document["guarantee"],
        status=Status(document["status"]),
        required=document["required"],
        cut_sets=tuple(_read_cut_set(c) for c in document["cut_sets"]),
        traces=tuple(trace_from_document(t) for t in document["traces"]),
        witness=document["witness"],
        witness_reached=document["witness_reached"],
        states=document["states"],
        coverage=_read_coverage(document["bounds"]),
        id=document["id"],
        notes=tuple(document["notes"]),
        lemmas=tuple(
            TimingLemma(tuple(one["needed"]), tuple(one["allowed"]), one["inequality"]) for one in document["lemmas"]
        ),
        known_defects=tuple(KnownDefect(**one) for one in document.get("known_defects", ())),
        assumptions=tuple(
            ModellingAssumption(one["text"], AssumptionKind(one["kind"])) for one in document.get("assumptions", ())
        ),
    )


def _read_coverage(document: Mapping[str, Any]) -> Coverage:
    return Coverage(
        complete_to=document["faults_complete_to"],
        total=document["faults_total"],
        combinations=document["combinations_of_next_explored"],
        combinations_of_next=document["combinations_of_next"],
        kinds=tuple(document["fault_kinds"].items()),
        bounds=dict(document["sizes"]),
        bounds_reached=tuple(document["sizes_reached"]),
        stopped=document["stopped"],
        any_number=tuple(document["any_number"]),
    )


def _read_step(document: Mapping[str, Any]) -> Step:
    return Step(
        actor=document["actor"],
        lane=document["lane"],
        action=document["action"],
        arguments=dict(document["arguments"]),
        text=document["text"],
        fault=document["fault"],
        changes=tuple(Change(c["what"], c["before"], c["after"], _read_entries(c)) for c in document["changes"]),
        at=document["at"],
    )


def _read_entries(document: Mapping[str, Any]) -> tuple[str, ...] | None:
    return tuple(document["entries"]) if "entries" in document else None


def _read_sensitivity(document: Mapping[str, Any]) -> Sensitivity:
    return Sensitivity(
        assumption=document["assumption"],
        value=document["value"],
        property=document["property"],
        status=Status(document["status"]),
        cut_sets=tuple(_read_cut_set(c) for c in document["cut_sets"]),
    )


def _prevention(one: Prevention) -> Document:
    told = {
        "property": one.property,
        "cut_set": dict(one.cut_set),
        "change": one.change,
        "settings": list(one.settings),
        "brings": list(one.brings),
    }
    return told if one.decided else {**told, "decided": False}


def _read_preventions(documents: Sequence[Mapping[str, Any]] | None) -> tuple[Prevention, ...] | None:
    if documents is None:
        return None
    return tuple(
        Prevention(
            one["property"],
            _read_cut_set(one["cut_set"]),
            one["change"],
            one.get("decided", True),
            tuple(one["settings"]),
            tuple(one["brings"]),
        )
        for one in documents
    )


def _read_cut_set(document: Mapping[str, int]) -> CutSet:
    return tuple(sorted(document.items()))


def _at_size(row: AtSize) -> Document:
    written = {**asdict(row), "cut_sets": [dict(cut_set) for cut_set in row.cut_sets]}
    return {**written, "status": None if row.status is None else str(row.status)}


def _read_stability(rows: Sequence[Mapping[str, Any]] | None) -> tuple[AtSize, ...] | None:
    if rows is None:
        return None
    return tuple(
        AtSize(
            **{
                **row,
                "cut_sets": tuple(_read_cut_set(one) for one in row["cut_sets"]),
                "status": None if row["status"] is None else Status(row["status"]),
            }
        )
        for row in rows
    )
