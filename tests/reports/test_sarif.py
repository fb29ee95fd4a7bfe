"""SARIF has everything for code scanning, and no input is interpreted as a link, a placeholder or a path."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from proofka.model.deployment.setting import Origin
from proofka.properties.verdict import Result, Status
from proofka.reports.blame import NOBODY_TO_BLAME
from proofka.reports.formats import Answer
from proofka.reports.sarif import to_sarif, uri
from tests.reports import samples
from tests.reports.golden_files import matches

ANSWER = Answer(samples.DEPLOYMENT, samples.RESULT, samples.COMMAND)
HOSTILE = Answer(samples.HOSTILE_DEPLOYMENT, samples.HOSTILE_RESULT, samples.HOSTILE)


def run_of(*answers: Answer) -> dict[str, Any]:
    (run,) = json.loads(to_sarif(answers))["runs"]
    return dict(run)


def closed(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the schema of an object with these members and no other."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


TEXT = {"type": "string", "minLength": 1}
MESSAGE = closed({"text": TEXT})
PHYSICAL = closed(
    {"artifactLocation": closed({"uri": {"type": "string", "pattern": "^[A-Za-z0-9._~/%:-]+$"}})},
    {"region": closed({"startLine": {"type": "integer", "minimum": 1}})},
)
LOCATION = closed({}, {"id": {"type": "integer", "minimum": 0}, "physicalLocation": PHYSICAL, "message": MESSAGE})
FLOW = closed({"locations": {"type": "array", "minItems": 1, "items": closed(
    {"location": LOCATION},
    {"executionOrder": {"type": "integer", "minimum": 0}, "importance": {"enum": ["important", "essential"]}},
)}})  # fmt: skip
LEVEL = {"enum": ["error", "warning", "note"]}
RESULT = closed(
    {
        "ruleId": TEXT,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": MESSAGE,
        "locations": {"type": "array", "items": LOCATION},
        "fingerprints": {"type": "object", "additionalProperties": TEXT},
        "partialFingerprints": {"type": "object", "additionalProperties": TEXT},
        "properties": {"type": "object"},
    },
    {
        "relatedLocations": {"type": "array", "items": LOCATION, "uniqueItems": True},
        "codeFlows": {
            "type": "array",
            "items": closed({"message": MESSAGE, "threadFlows": {"type": "array", "minItems": 1, "items": FLOW}}),
        },
    },
)
RULE = closed(
    {
        "id": TEXT,
        "shortDescription": MESSAGE,
        "fullDescription": MESSAGE,
        "help": MESSAGE,
        "defaultConfiguration": closed({"level": LEVEL}),
        "properties": {"type": "object"},
    }
)
DRIVER = closed({"name": TEXT, "rules": {"type": "array", "items": RULE, "uniqueItems": True}}, {"version": TEXT})
RUN = closed(
    {
        "tool": closed({"driver": DRIVER}),
        "invocations": {
            "type": "array",
            "items": closed(
                {"executionSuccessful": {"const": True}, "commandLine": TEXT, "properties": {"type": "object"}}
            ),
        },
        "results": {"type": "array", "items": RESULT},
    }
)
LOG = closed(
    {
        "$schema": TEXT,
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": RUN, "minItems": 1, "maxItems": 1},
    }
)
"""The used members of the standard's objects, with the constraints of the standard."""


@pytest.mark.parametrize(
    "answers",
    [[ANSWER], [HOSTILE], [ANSWER, HOSTILE], [replace(ANSWER, result=Result((), samples.ENGINE, (), {}))]],
    ids=["plain", "hostile", "several", "nothing"],
)
def test_the_document_conforms_to_sarif(answers: list[Answer]) -> None:
    log = json.loads(to_sarif(answers))
    assert not list(Draft202012Validator(LOG).iter_errors(log))
    (run,) = log["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_golden() -> None:
    matches("result.sarif", to_sarif([ANSWER]))


def test_results_have_levels_by_verdict() -> None:
    required = replace(samples.UNKNOWN, required=True), replace(samples.VACUOUS, required=True)
    result = replace(samples.RESULT, verdicts=(*samples.RESULT.verdicts[:4], *required))
    told = {one["ruleId"]: one["level"] for one in run_of(replace(ANSWER, result=result))["results"]}
    assert told == {
        "no-acked-loss": "error",
        "no-loss": "warning",
        "exactly-once-effect": "warning",
        "recoverability": "note",
        "read-stability": "note",
    }
    plain = {one["ruleId"] for one in run_of(ANSWER)["results"]}
    assert plain == {"no-acked-loss", "no-loss", "exactly-once-effect"}


def test_an_alert_stays_the_same_when_its_line_moves_and_is_one_for_each_pipeline() -> None:
    def alert(answer: Answer) -> tuple[str, str]:
        first = run_of(answer)["results"][0]
        return first["partialFingerprints"]["primaryLocationLineHash"], first["fingerprints"]["proofka/verdict/v1"]

    moved = tuple(
        replace(one, origin=replace(one.origin, line=40)) if one.key == "acks" else one for one in samples.SETTINGS
    )
    there = replace(ANSWER, deployment=replace(samples.DEPLOYMENT, settings=moved))
    other = replace(ANSWER, deployment=replace(samples.DEPLOYMENT, name="payments"))
    assert alert(there) == alert(ANSWER)
    assert alert(other)[0] != alert(ANSWER)[0]
    assert alert(ANSWER)[1] == samples.VIOLATED.id


def test_steps_are_a_flow_and_faults_stand_out() -> None:
    (flow,) = run_of(ANSWER)["results"][0]["codeFlows"]
    (thread,) = flow["threadFlows"]
    assert [step["importance"] for step in thread["locations"]] == ["important", "important", "essential", "important"]
    assert thread["locations"][2]["location"]["message"]["text"] == "FAULT kill: broker 1 is killed"
    assert {step["location"]["physicalLocation"]["region"]["startLine"] for step in thread["locations"]} == {12}


def test_times_of_steps_are_told() -> None:
    timed = replace(samples.KILL_TRACE, steps=(replace(samples.SEND, at=1200),))
    result = replace(samples.RESULT, verdicts=(replace(samples.VIOLATED, traces=(timed,)),))
    (flow,) = run_of(replace(ANSWER, result=result))["results"][0]["codeFlows"]
    text = flow["threadFlows"][0]["locations"][0]["location"]["message"]["text"]
    assert text == "the application sends record 1 to broker 1 (at 1,200 ms)"


def test_nothing_of_the_input_is_a_link_or_a_placeholder() -> None:
    name = "[here](http://example.org) {0}"
    answer = replace(ANSWER, deployment=replace(samples.DEPLOYMENT, name=name))
    text = run_of(answer)["results"][0]["message"]["text"]
    assert text.startswith("[here] (http://example.org) {{0}}: no-acked-loss can fail")
    assert "\x1b" not in to_sarif([HOSTILE])
    assert "\\u001b" not in to_sarif([HOSTILE])


@pytest.mark.parametrize(
    ("path", "reference"),
    [
        ("examples/orders.yaml", "examples/orders.yaml"),
        ("./my files/ü.yaml", "my%20files/%C3%BC.yaml"),
        ("http://x/y", "http%3A/x/y"),
        ("/etc/kafka/server.properties", "file:///etc/kafka/server.properties"),
        ("a\nb#c?d", "a%0Ab%23c%3Fd"),
        ("\udce9.yaml", "%E9.yaml"),
    ],
)
def test_paths_are_references(path: str, reference: str) -> None:
    assert uri(path) == reference


def test_result_without_files_has_no_place() -> None:
    bare = replace(samples.DEPLOYMENT, settings=(), ignored=())
    first = run_of(replace(ANSWER, deployment=bare))["results"][0]
    assert first["locations"] == []
    assert "relatedLocations" not in first
    lineless = replace(samples.SETTINGS[2], origin=Origin("file", file="orders.yaml"))
    first = run_of(replace(ANSWER, deployment=replace(bare, settings=(lineless,))))["results"][0]
    assert first["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "orders.yaml"}}}]


def test_the_message_names_the_evidence_for_the_blame() -> None:
    """Without a computation the message looks a setting up in the table, and says "may"."""
    first = run_of(ANSWER)["results"][0]["message"]["text"]
    assert first.endswith("which leads. The violation may depend on acks=1; --explain computes which settings matter.")
    assert "Look at" not in to_sarif([ANSWER])
    nobody = replace(ANSWER, result=replace(samples.RESULT, preventions=()))
    told = run_of(nobody)["results"][0]
    assert told["message"]["text"].endswith(f"which leads. {NOBODY_TO_BLAME}")
    assert told["locations"][0]["physicalLocation"]["region"] == {"startLine": 12}, "the producer's first line"


def test_a_violation_without_a_trace_is_still_told() -> None:
    bare = samples.verdict("no-skip", Status.VIOLATED, cut_sets=((("kill", 1),),))
    (only,) = run_of(replace(ANSWER, result=replace(samples.RESULT, verdicts=(bare,))))["results"]
    assert only["message"]["text"] == "orders: no-skip is violated by {{kill}}."
