"""The JSON object satisfies its schema, survives a round trip, and has a fixed order of keys."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from proofka.model.deployment.profiles import NAMED, PROFILES
from proofka.properties.reproduced import KINDS, ChangedSetting, Fact, Outcome
from proofka.properties.verdict import Result, Status, Verdict
from proofka.reports.document import FORMAT, result_from_document, to_document
from proofka.reports.schema import problem, schema
from tests.reports import samples

EACH = [samples.VIOLATED, samples.FAULTLESS, samples.HOLDS, samples.VACUOUS, samples.UNKNOWN]


def as_json(result: Result) -> Any:
    return json.loads(json.dumps(to_document(samples.DEPLOYMENT, result, command=samples.COMMAND)))


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())
    assert schema()["properties"]["format"] == {"const": FORMAT, "description": "Version of this layout."}


@pytest.mark.parametrize("verdict", EACH, ids=lambda v: f"{v.property}-{v.status}")
def test_every_status_satisfies_the_schema(verdict: Verdict) -> None:
    assert problem(as_json(replace(samples.RESULT, verdicts=(verdict,)))) is None


def test_round_trip() -> None:
    assert result_from_document(as_json(samples.RESULT)) == samples.RESULT


def test_outcomes_of_replays_survive_a_round_trip_and_satisfy_the_schema() -> None:
    document = as_json(samples.REPLAYED)
    assert problem(document) is None
    assert result_from_document(document) == samples.REPLAYED
    assert document == json.loads(json.dumps(document))


def test_a_result_without_replays_has_no_member_for_them() -> None:
    assert "reproductions" not in as_json(samples.RESULT)


def test_the_schema_has_every_member_of_an_outcome_and_its_kinds() -> None:
    told = schema()["$defs"]["outcome"]
    assert set(told["properties"]) == set(told["required"]) == {field.name for field in fields(Outcome)}
    assert tuple(told["properties"]["kind"]["enum"]) == KINDS
    for name, one in (("facts", Fact), ("changed", ChangedSetting)):
        assert set(told["properties"][name]["items"]["properties"]) == {field.name for field in fields(one)}


def test_order_does_not_depend_on_the_run() -> None:
    shuffled = replace(samples.RESULT, versions=dict(reversed(samples.VERSIONS.items())))
    assert json.dumps(as_json(shuffled)) == json.dumps(as_json(samples.RESULT))
    assert list(as_json(samples.RESULT)["versions"]) == ["model", "proofka", "z3"]


def test_document_has_the_main_fields() -> None:
    document = as_json(samples.RESULT)
    verdict = document["verdicts"][0]
    assert verdict["status"] == "violated"
    assert verdict["cut_sets"] == [{"kill": 1}, {"leader-move": 1}, {"power-loss": 1, "slow-follower": 2}]
    assert verdict["trace"] == verdict["traces"][0]
    assert verdict["trace"]["faults"] == {"kill": 1}
    assert [step["action"] for step in verdict["trace"]["steps"]] == ["transmit", "append", "kill", "elect"]
    assert verdict["bounds"]["faults_complete_to"] == 2
    assert document["engine"]["layers"] == [120, 98_003, 1_136_444]
    assert [each["key"] for each in document["assumptions"]] == ["on_send_error", "processing"]
    assert document["sensitivities"][0]["cut_sets"] == [{"consumer-crash": 1}]
    holds = next(v for v in document["verdicts"] if v["status"] == Status.HOLDS)
    assert holds["trace"] is None
    assert holds["traces"] == []


def broken_status(document: Any) -> None:
    document["verdicts"][0]["status"] = "fine"


def broken_step(document: Any) -> None:
    document["verdicts"][0]["traces"][0]["steps"][2]["arguments"]["broker"] = "one"


def missing_engine(document: Any) -> None:
    del document["engine"]


def added_key(document: Any) -> None:
    document["verdicts"][0]["remark"] = "trust me"


def passing_with_a_trace(document: Any) -> None:
    document["verdicts"][0]["status"] = "holds"


@pytest.mark.parametrize(
    ("breaks", "place"),
    [
        (broken_status, "verdicts[0].status"),
        (broken_step, "verdicts[0].traces[0].steps[2].arguments.broker"),
        (missing_engine, "document"),
        (added_key, "verdicts[0]"),
        (passing_with_a_trace, "verdicts[0]"),
    ],
)
def test_departures_from_the_schema_are_named(breaks: Callable[[Any], None], place: str) -> None:
    document = copy.deepcopy(as_json(samples.RESULT))
    breaks(document)
    reason = problem(document)
    assert reason is not None
    assert reason.startswith(place)
    assert "\n" not in reason


@pytest.mark.parametrize("document", [None, 3, [], "text", {}])
def test_a_document_that_is_no_result_is_refused(document: object) -> None:
    assert problem(document) is not None


def test_the_schema_lists_every_profile() -> None:
    assert schema()["properties"]["deployment"]["properties"]["profile"]["enum"] == [*PROFILES, NAMED]
