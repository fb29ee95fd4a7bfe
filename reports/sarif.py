"""Results as SARIF 2.1.0, which code scanning shows on a pull request at the line of the blamed setting.

Reference: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", errata 01, 2023. One run for all
deployments: GitHub rejects a file with several runs of one tool.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from proofka.model.deployment.setting import Origin
from proofka.properties.accepted import accepted_notes, note_about
from proofka.properties.verdict import Status, Step, Trace, Verdict
from proofka.reports import known_defects, wording
from proofka.reports.blame import blame
from proofka.reports.formats import Answer

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION = "2.1.0"

Log = dict[str, Any]


def to_sarif(answers: Sequence[Answer]) -> str:
    """Return the log as text: a rule for each property, and a result for each property that is violated.

    A required property that is not shown to hold has a result as well, and so has a required property that a known
    defect could violate.
    """
    verdicts = [verdict for answer in answers for verdict in answer.result.verdicts]
    rules = {verdict.property: verdict for verdict in reversed(verdicts)}
    names = list(dict.fromkeys(verdict.property for verdict in verdicts))
    driver: Log = {"name": "Proofka", "rules": [_rule(rules[name]) for name in names]}
    if version := next((answer.result.versions.get("proofka") for answer in answers), None):
        driver["version"] = version
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(answer) for answer in answers],
        "results": [result for answer in answers for result in _results(answer, names)],
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(verdict: Verdict) -> Log:
    witness = f"A pass is evidence only if this was reached: {verdict.witness}."
    return {
        "id": verdict.property,
        "shortDescription": _message(verdict.statement),
        "fullDescription": _message(f"{verdict.statement} Guarantee: {verdict.guarantee}."),
        "help": _message(f"Guarantee: {verdict.guarantee}. {witness} proofka properties says more."),
        "defaultConfiguration": {"level": "error" if verdict.required else "warning"},
        "properties": {"tags": ["kafka", "reliability"], "precision": "very-high"},
    }


def _invocation(answer: Answer) -> Log:
    accepted = [wording.plain(note) for note in accepted_notes(answer.deployment)]
    return {
        "executionSuccessful": True,
        "commandLine": wording.plain(answer.command),
        "properties": {
            "deployment": wording.plain(answer.deployment.name),
            "versions": dict(sorted(answer.result.versions.items())),
            **({"accepted": accepted} if accepted else {}),
        },
    }


def _results(answer: Answer, names: Sequence[str]) -> Iterator[Log]:
    for verdict in answer.result.verdicts:
        doubtful = verdict.status is not Status.HOLDS or verdict.known_defects
        if verdict.status is Status.VIOLATED or (verdict.required and doubtful):
            yield _result(answer, verdict, names.index(verdict.property))


def _result(answer: Answer, verdict: Verdict, rule: int) -> Log:
    found = blame(answer.deployment, answer.result, verdict)
    told = f"{answer.deployment.name}: {_said(verdict)} {found.sentence}".rstrip()
    result: Log = {
        "ruleId": verdict.property,
        "ruleIndex": rule,
        "level": _level(verdict),
        "message": _message(told),
        "locations": [] if found.place is None else [_location(found.place)],
        "fingerprints": {"proofka/verdict/v1": verdict.id},
        "partialFingerprints": {"primaryLocationLineHash": _alert(answer, verdict, found.place)},
        "properties": {
            "status": verdict.status.value,
            "required": verdict.required,
            "faultSets": [wording.fault_set(one) for one in verdict.cut_sets],
            "bounds": wording.bounds(verdict),
        },
    }
    if answer.news:
        result["baselineState"] = _state(answer, verdict)
    if note := note_about(answer.deployment, verdict.property):
        result["suppressions"] = [{"kind": "external", "justification": wording.plain(note)}]
    if found.others:
        result["relatedLocations"] = [
            {"id": number, **_location(one.origin, f"{one.key}={one.value}")} for number, one in enumerate(found.others)
        ]
    if verdict.traces:
        result["codeFlows"] = [_code_flow(verdict.traces[0], found.place)]
    return result


def _state(answer: Answer, verdict: Verdict) -> str:
    """Return ``new`` for news, and ``unchanged`` for what was known."""
    is_news = any(one.is_news for one in answer.news if one.verdict.property == verdict.property)
    return "new" if is_news else "unchanged"


def _level(verdict: Verdict) -> str:
    if verdict.status is not Status.VIOLATED:
        return "note"
    return "error" if verdict.required else "warning"


def _said(verdict: Verdict) -> str:
    """Return the verdict as a sentence, with the part that failed."""
    match verdict.status:
        case Status.VIOLATED if verdict.traces:
            first = verdict.traces[0]
            return f"{verdict.property} can fail with {wording.faults_needed(first.faults)}: {first.failure}."
        case Status.VACUOUS:
            return f"{verdict.property} holds only because this never happened within the bounds: {verdict.witness}."
        case Status.UNKNOWN:
            why = wording.stopped(verdict.coverage)
            return f"{verdict.property} is undecided{f': {why}' if why else ''}."
        case Status.HOLDS if verdict.known_defects:
            beside = " ".join(map(known_defects.line, verdict.known_defects))
            return f"{verdict.property} holds, but known defects of these releases could violate the property: {beside}"
        case _:
            return f"{verdict.property} {wording.outcome(verdict.status, verdict.cut_sets)}."


def _code_flow(trace: Trace, place: Origin | None) -> Log:
    steps = [_step(number, step, place) for number, step in enumerate(trace.steps, 1)]
    if not steps:  # a thread flow must have a location
        steps = [{"location": _location(place, "the initial state")}]
    return {"message": _message(trace.failure), "threadFlows": [{"locations": steps}]}


def _step(number: int, step: Step, place: Origin | None) -> Log:
    words = wording.announced(step)
    time = "" if step.at is None else f" (at {wording.number(step.at)} ms)"
    return {
        "location": _location(place, words + time),
        "executionOrder": number,
        "importance": "essential" if step.fault else "important",
    }


def _location(place: Origin | None, words: str = "") -> Log:
    message = {"message": _message(words)} if words else {}
    if place is None:
        return message
    region = {} if place.line is None else {"region": {"startLine": max(1, place.line)}}
    return {"physicalLocation": {"artifactLocation": {"uri": uri(str(place.file))}, **region}, **message}


def uri(path: str) -> str:
    """Return a path as a URI reference: ``my%20files/orders.yaml``, ``file:///etc/kafka/server.properties``."""
    reference = quote(str(PurePosixPath(path)), errors="surrogateescape")
    return f"file://{reference}" if reference.startswith("/") else reference


def _alert(answer: Answer, verdict: Verdict, place: Origin | None) -> str:
    """Return the identity of an alert, which must stay the same from one commit to the next.

    Neither line nor value is part of the identity. Each pipeline of a file has its own alerts.
    """
    parts = [answer.deployment.name, verdict.property, str(place.file) if place else ""]
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:16] + ":1"


def _message(text: str) -> Log:
    """Return ``text`` as a message without links and placeholders."""
    words = wording.plain(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")
    return {"text": words or "-"}
