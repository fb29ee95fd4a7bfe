"""The idempotent producer of franz-go, which begins again with the record that failed (semantics 4.3)."""

from __future__ import annotations

import pytest
import z3

from proofka.model.language import Action
from proofka.model.pipeline import build
from proofka.model.recovery.franz_go import FranzGo
from proofka.model.state.pipeline import Fate, Pipeline
from proofka.properties.verdict import Status
from tests.checker.asking import ask
from tests.checker.records import decide, recorded
from tests.model.mutate import Mutation, assume, batch_of, leader_of, never
from tests.model.scripted import Scenario

FRANZ_GO = {
    "kafka": "4.0",
    "topic.replicas": 2,
    "topic.min.insync.replicas": 1,
    "topic.retention.ms": -1,
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "producer.client": "franz-go",
}
ALONE = {"topic.replicas": 1}
ROOM = {"bounds.log": 4}
"""Room in the log for the records that franz-go sends again after it has begun a new epoch."""
STOPS = {"producer.StopProducerOnDataLossDetected": True}
NEW = {"producer.producer_id": "new"}
ONE_BY_ONE = {"producer.sends": "sync", "producer.on_send_error": "halt"}

ANSWER, MOVE, REFUSED, POWER = {"lost-response": 1}, {"leader-move": 1}, {"refused-record": 1}, {"power-loss": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "faults", "prop", "status"),
    [
        ({}, ANSWER, "no-log-duplicate", Status.HOLDS),
        ({}, {"delayed-request": 2}, "no-log-duplicate", Status.HOLDS),
        (NEW, MOVE, "log-order", Status.HOLDS),
        # Nothing but an error that is not retried ends a send.
        ({}, {"kill": 1}, "no-dropped-record", Status.HOLDS),
        ({}, REFUSED, "no-gap", Status.VIOLATED),
        (ONE_BY_ONE, REFUSED, "no-gap", Status.HOLDS),
        # Lost data shows in the numbers: the producer goes on in a new epoch, or stops.
        (ALONE, POWER, "no-gap", Status.VIOLATED),
        ({**ALONE, **STOPS}, POWER, "no-gap", Status.HOLDS),
        # The number of a record that failed is used again, stored or not.
        ({}, {**ANSWER, **REFUSED}, "no-acked-loss", Status.VIOLATED),
        (ONE_BY_ONE, {**ANSWER, **REFUSED}, "no-acked-loss", Status.VACUOUS),
    ],
)
def test_verdicts(more: dict[str, object], faults: dict[str, int], prop: str, status: Status) -> None:
    assert decide(prop, faults, FRANZ_GO, more).status is status


@pytest.mark.slow
def test_a_record_is_taken_for_one_that_failed() -> None:
    steps = [step.text for step in decide("no-acked-loss", {**ANSWER, **REFUSED}, FRANZ_GO).traces[0].steps]
    assert (
        "broker 1 treats record 2 as the retry of a record with the same sequence number, and appends nothing" in steps
    )
    assert steps[-1] == "broker 1 acknowledges record 2"


def drained(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that no request in flight keeps the producer from sending."""
    assert isinstance(pipeline.recovery, FranzGo)
    return pipeline.recovery.has_drained(pipeline, batch_of(pipeline, action), leader_of(pipeline, action))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutation", "prop", "faults", "more"),
    [
        # A record would go to a leader while the one before it is out to another, or has not been answered.
        (assume("transmit", drained), "log-order", MOVE, NEW),
        # A producer whose numbers the broker refuses would never get on.
        (never("bump_when_drained"), "recoverability", POWER, {**ALONE, **ROOM}),
    ],
)
def test_mutations(mutation: Mutation, prop: str, faults: dict[str, int], more: dict[str, object]) -> None:
    asked = recorded(prop, faults, FRANZ_GO, more)
    assert ask(asked, prop)[prop].status is Status.HOLDS
    assert ask(mutation(build(asked)), prop)[prop].status is Status.VIOLATED


def scenario(**more: object) -> Scenario:
    """Return a run in which the first of three records is acknowledged, so that the leader gets the two others at
    once."""
    faults = {"refused-record": 1, "slow-follower": 1, "power-loss": 1}
    run = Scenario(recorded("no-gap", faults, FRANZ_GO, NEW, {"bounds.records": 3, **more}))
    run = run.do("send", batch=0).do("send", batch=1).do("send", batch=2).do("transmit", batch=0, leader=1)
    assert not run.can("transmit", batch=1, leader=1), "one at a time until a leader has answered"
    run = run.do("append", batch=0, leader=1).do("fetch", leader=1, follower=2).do("fetch", leader=1, follower=2)
    run = run.do("acknowledge", batch=0, leader=1)
    return run.do("transmit", batch=1, leader=1).do("transmit", batch=2, leader=1)


@pytest.mark.slow
def test_permanent_failure_fails_all_waiting_batches() -> None:
    run = scenario().do("refuse_for_good", batch=1, leader=1)
    assert [run.fate(batch) for batch in (1, 2)] == [Fate.FAILED, Fate.FAILED]


def test_no_answer_counts_behind_a_record_that_is_retried() -> None:
    run = scenario().do("append", batch=1, leader=1).do("become_slow", broker=2)
    run = run.do("time_out_at_broker", batch=1, leader=1)
    assert not run.can("transmit", batch=1, leader=1), "the other request is still out"
    run = run.do("append", batch=2, leader=1).do("shrink_isr", leader=1, follower=2)
    run = run.do("acknowledge", batch=2, leader=1)
    assert run.fate(2) is Fate.BUFFERED
    run = run.do("transmit", batch=1, leader=1).do("recognise_duplicate", batch=1, leader=1)
    assert not run.can("transmit", batch=2, leader=1), "one at a time until a success"
    run = run.do("acknowledge", batch=1, leader=1).do("transmit", batch=2, leader=1)
    assert run.do("recognise_duplicate", batch=2, leader=1).do("acknowledge", batch=2, leader=1).fate(2) is (
        Fate.ACKNOWLEDGED
    )
