"""The verdicts of a matrix: the same as those of each deployment alone, with equal questions explored once."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.policies.exploring import (
    NOT_ASKED,
    Limits,
    Outcome,
    Question,
    explore,
    identity,
    outcomes,
    question_of,
)
from proofka.checker.policies.members import Members
from proofka.checker.user_cache import VARIABLE
from proofka.model.deployment.document import from_document
from proofka.properties.verdict import Status
from tests.checker.policies.decided import PROPERTY, members_of

FEW = """\
base:
  name: few
  kafka: "4.0"
  consumer: {group.id: orders, auto.offset.reset: earliest}
  assume:
    faults: {total: 1, kill: 1}
  bounds: {records: 1}
values:
  topic.replicas: [1, 2]
  producer.acks: [1, all]
  producer.compression.type: [none, lz4]
"""
"""A matrix of 8 deployments, and 4 systems that no-acked-loss sees."""


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Members:
    return members_of(tmp_path_factory.mktemp("matrix"), FEW)


def test_equal_deployments_are_one_question(members: Members) -> None:
    questions = members.questions((PROPERTY,))
    assert len(questions) == 8
    assert len(set(questions.values())) == 4


def test_outcomes_are_those_of_each_deployment_alone(
    members: Members, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    questions = set(members.questions((PROPERTY,)).values())
    found = outcomes(questions, Limits())
    assert found.systems == len({identity(question) for question in questions}) == 4
    for question in questions:
        alone = explore(question, Limits())
        shown = found.outcomes[question]
        assert (shown.status, shown.cut_sets) == (alone.status, alone.cut_sets)
    assert {one.status for one in found.outcomes.values()} == {Status.HOLDS, Status.VIOLATED}
    assert outcomes(questions, Limits()) == found


def test_kept_outcome_is_used_again(members: Members, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from proofka.checker.policies import exploring

    monkeypatch.setenv(VARIABLE, str(tmp_path))
    kill = (("kill", 1),)
    for outcome in (Outcome(Status.VIOLATED, (kill,), kill, "lost", ("a", "b"), "0"), Outcome(Status.HOLDS)):
        exploring._keep("0123", outcome)
        assert exploring._kept("0123") == outcome
    exploring._keep("4567", Outcome(Status.UNKNOWN, reason="stopped: time"))
    assert exploring._kept("4567") is None


def test_property_that_is_not_asked_of_a_deployment_is_unknown(members: Members) -> None:
    question = replace(question_of(members.members[0].deployment, "atomicity"), asked="atomicity")
    assert identity(question) is None
    (found,) = outcomes([question], Limits()).outcomes.values()
    assert found == Outcome(Status.UNKNOWN, reason=NOT_ASKED)


def test_stopped_work_leaves_outcomes_unknown(members: Members) -> None:
    stop = threading.Event()
    stop.set()
    questions = members.questions((PROPERTY,)).values()
    assert {one.status for one in outcomes(questions, Limits(), stop=stop).outcomes.values()} == {Status.UNKNOWN}


def test_budget_without_a_total_covers_every_pair(members: Members) -> None:
    open_ended = replace(members.members[0].deployment, faults=members.members[0].deployment.faults.up_to(None))
    question: Question = question_of(open_ended, PROPERTY)
    assert from_document(json.loads(question.document)).faults.total == 2
