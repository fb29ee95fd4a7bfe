"""Properties of answers: what an acknowledgement or an error tells the application."""

from __future__ import annotations

import pytest

from proofka.checker.budget import Budget
from proofka.checker.check import verdict_on
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.record_reader import read_record
from proofka.model.pipeline import build
from proofka.model.state.pipeline import Fate
from proofka.properties.catalogue import properties_of
from proofka.properties.situations import value
from proofka.properties.verdict import Status, Verdict

PIPELINE = {
    "kafka": "4.0",
    "topic.replicas": 2,
    "topic.min.insync.replicas": 2,
    "producer.acks": "all",
    "consumer.group.id": "orders",
    "bounds.records": 1,
}


def asked(prop: str, faults: dict[str, int], **others: object) -> Verdict:
    given = {
        **PIPELINE,
        **{key.replace("__", "."): value for key, value in others.items()},
        "assume.faults": {"total": sum(faults.values()), **faults},
        "require": [prop],
    }
    return verdict_on(prop, read_record(given, name=prop, file="test", line=1), Budget(threads=1))


def test_the_lone_leader_acknowledges_with_one_copy_only_where_one_is_enough() -> None:
    down = {"kill": 1}
    assert asked("no-failed-send", down, topic__min__insync__replicas=1).status is Status.HOLDS
    refused = asked("no-failed-send", down)
    assert refused.cut_sets == ((("kill", 1),),)
    assert refused.traces[0].failure == "the send of record 1 failed, and nobody sends it again"


def test_acks_1_acknowledges_with_fewer_copies() -> None:
    assert asked("enough-copies", {"slow-follower": 1}).status is Status.HOLDS
    found = asked("enough-copies", {"slow-follower": 1}, producer__acks=1)
    assert found.cut_sets == ((),)
    assert "only broker 1 has the record" in found.traces[0].failure


def test_a_replica_that_forgets_counts_no_longer() -> None:
    assert asked("enough-copies", {"power-loss": 1}).cut_sets == ((("power-loss", 1),),)


def test_failed_record_can_be_stored() -> None:
    no_retry = {"producer__retries": 0, "producer__enable__idempotence": False}
    assert asked("no-stored-failure", {"lost-response": 1}, **no_retry).cut_sets == ((("lost-response", 1),),)
    assert asked("no-stored-failure", {"lost-request": 1}, **no_retry).status is Status.HOLDS


def steps(verdict: Verdict) -> list[str]:
    return [step.action for step in verdict.traces[0].steps]


def test_failed_record_can_be_read() -> None:
    """The record is read two fetches after it is stored: the second tells the leader that the first arrived."""
    no_retry = {"producer__retries": 0, "producer__enable__idempotence": False}
    read = asked("no-failed-read", {"lost-response": 1}, **no_retry)
    assert read.cut_sets == ((("lost-response", 1),),)
    assert read.traces[0].failure == "the send of record 1 failed, and the consumer can be given the record"
    stored = asked("no-stored-failure", {"lost-response": 1}, **no_retry)
    assert sorted(steps(read)) == sorted([*steps(stored), "fetch", "fetch"])
    assert asked("no-failed-read", {"lost-request": 1}, **no_retry).status is Status.HOLDS


def test_processed_record_counts_as_read_without_a_leader() -> None:
    """The only broker is down, so nobody serves the record that the consumer has processed."""
    alone = {"topic__replicas": 1, "topic__min__insync__replicas": 1, "producer__acks": 1, "producer__retries": 0}
    found = asked("no-failed-read", {"kill": 1}, producer__enable__idempotence=False, **alone)
    assert found.cut_sets == ((("kill", 1),),)
    assert found.traces[0].failure == "the send of record 1 failed, and the consumer was given the record"
    assert steps(found)[-2:] == ["poll", "kill"]


def test_deleted_record_cannot_be_read_again() -> None:
    pipeline = build(
        read_record({**PIPELINE, "topic.retention.ms": 1, "require": ["no-failed-read"]}, name="d", file="t", line=1)
    ).pipeline
    assert pipeline.log_start is not None
    (prop,) = [one for one in properties_of(pipeline) if one.name == "no-failed-read"]
    leader, batch = pipeline.replicas[0], pipeline.producer.batches[0]
    state = {variable.name: variable.initial for variable in pipeline.variables}
    state |= {batch.fate.name: Fate.FAILED, leader.log.end.name: 1, leader.high_watermark.name: 1}
    assert value(prop.violated, pipeline, state)
    assert not value(prop.violated, pipeline, state | {pipeline.log_start.name: 1})


def test_pass_without_a_small_isr_is_vacuous() -> None:
    assert asked("enough-copies", {}).status is Status.VACUOUS


def test_transactions_are_refused() -> None:
    with pytest.raises(DeploymentError, match="not modelled yet"):
        asked("no-failed-send", {}, producer__transactional__id="orders")
    with pytest.raises(DeploymentError, match="not modelled yet"):
        asked("no-failed-read", {}, producer__transactional__id="orders")
