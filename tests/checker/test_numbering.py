"""The idempotent producer of sarama, which numbers records before it sends them, and for good (semantics 4.2)."""

from __future__ import annotations

import pytest
import z3

from proofka.model.deployment.assumptions import with_assumption
from proofka.model.language import Action
from proofka.model.pipeline import build
from proofka.model.state.pipeline import Fate, Pipeline
from proofka.properties.verdict import Status
from tests.checker.asking import ask
from tests.checker.records import decide, recorded
from tests.model.mutate import Mutation, assume, batch_of, never
from tests.model.scripted import Scenario

PIPELINE = {
    "kafka": "4.0",
    "topic.replicas": 2,
    "topic.min.insync.replicas": 1,
    "topic.retention.ms": -1,
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "producer.client": "sarama",
    "producer.Producer.RequiredAcks": "WaitForAll",
    "producer.Net.MaxOpenRequests": 1,
}
IDEMPOTENT = {**PIPELINE, "producer.Producer.Idempotent": True}
RESENDS = {"producer.on_send_error": "resend"}
RETRIES = "producer.Producer.Retry.Max"

ANSWER, MOVE, LATE, REFUSED = {"lost-response": 1}, {"leader-move": 1}, {"delayed-request": 1}, {"refused-record": 1}


@pytest.mark.parametrize(
    ("base", "more", "faults", "prop", "status"),
    [
        (PIPELINE, {}, ANSWER, "no-log-duplicate", Status.VIOLATED),
        (IDEMPOTENT, {}, ANSWER, "no-log-duplicate", Status.HOLDS),
        (PIPELINE, {}, LATE, "no-log-duplicate", Status.VIOLATED),
        (IDEMPOTENT, {}, LATE, "no-log-duplicate", Status.HOLDS),
        pytest.param(IDEMPOTENT, {RETRIES: 10}, MOVE, "no-dropped-record", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(IDEMPOTENT, {}, MOVE, "log-order", Status.HOLDS, marks=pytest.mark.slow),
        (IDEMPOTENT, {}, {"kill": 1}, "no-acked-loss", Status.HOLDS),
        # What ran out of retries may be stored: the application that sends it again makes a second record of it.
        (IDEMPOTENT, {RETRIES: 1}, {"lost-response": 2}, "no-log-duplicate", Status.HOLDS),
        pytest.param(
            IDEMPOTENT,
            {RETRIES: 1, **RESENDS},
            {"lost-response": 2},
            "no-log-duplicate",
            Status.VIOLATED,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            IDEMPOTENT,
            {RETRIES: 2, **RESENDS},
            {"lost-response": 2},
            "no-log-duplicate",
            Status.HOLDS,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            IDEMPOTENT, {RETRIES: 1, **RESENDS}, {"kill": 1}, "no-acked-loss", Status.VIOLATED, marks=pytest.mark.slow
        ),
        # A record that fails takes those that wait to another epoch, where two of them may get the same number.
        pytest.param(IDEMPOTENT, RESENDS, REFUSED, "no-acked-loss", Status.VIOLATED, marks=pytest.mark.slow),
        pytest.param(
            IDEMPOTENT,
            {**RESENDS, "producer.sends": "sync"},
            REFUSED,
            "no-acked-loss",
            Status.VACUOUS,
            marks=pytest.mark.slow,
        ),
        (PIPELINE, RESENDS, REFUSED, "no-acked-loss", Status.VACUOUS),
    ],
)
def test_verdicts(
    base: dict[str, object], more: dict[str, object], faults: dict[str, int], prop: str, status: Status
) -> None:
    assert decide(prop, faults, base, more).status is status


@pytest.mark.slow
def test_a_record_that_is_taken_for_another_is_reported_as_stored() -> None:
    steps = [step.text for step in decide("no-acked-loss", REFUSED, IDEMPOTENT, RESENDS).traces[0].steps]
    assert any("into a batch of its epoch 2, with the number 0 of an earlier one" in step for step in steps)
    assert (
        "broker 1 treats record 2 (send 2) as the retry of a record with the same sequence number, and appends nothing"
        in steps
    )
    assert steps[-1] == "broker 1 acknowledges record 2 (send 2)"


def none_is_retried(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that no other record waits for its next attempt."""
    batch = batch_of(pipeline, action)
    others = [other for other in pipeline.producer.batches if other is not batch]
    tried = [z3.And(b.is_(Fate.BUFFERED), b.sent_sequence.term >= 0) for b in others if b.sent_sequence is not None]
    return z3.Not(z3.Or(*tried))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutation", "prop", "faults", "more", "before", "after"),
    [
        # Records would keep the epoch of their number.
        (never("put_into_later_epoch"), "no-acked-loss", REFUSED, RESENDS, Status.VIOLATED, Status.VACUOUS),
        # A record would pass one that is retried, and be refused for the number that is missing before it.
        (assume("transmit", none_is_retried), "no-dropped-record", MOVE, {RETRIES: 10}, Status.HOLDS, Status.VIOLATED),
    ],
)
def test_mutations(
    mutation: Mutation, prop: str, faults: dict[str, int], more: dict[str, object], before: Status, after: Status
) -> None:
    asked = recorded(prop, faults, IDEMPOTENT, more)
    assert ask(asked, prop)[prop].status is before
    assert ask(mutation(build(asked)), prop)[prop].status is after


def scenario(**more: object) -> Scenario:
    """Return a run with two records: the first is on its way, and the second has its sequence number."""
    run = Scenario(recorded("no-gap", {"lost-request": 2, "refused-record": 1}, IDEMPOTENT, more))
    return run.do("send", batch=0).do("send", batch=1).do("transmit", batch=0, leader=1).do("number_ahead", batch=1)


def retries(run: Scenario) -> list[int]:
    return [run.value(batch.retries) for batch in run.pipeline.producer.batches]


def test_waiting_batch_loses_the_attempts_of_the_first_batch() -> None:
    run = scenario(**{RETRIES: 1}).do("lose_request", batch=0).do("notice", broker=1)
    assert retries(run) == [1, 1]
    assert not run.can("transmit", batch=1, leader=1), "the partition keeps to the record that is retried"
    run = run.do("transmit", batch=0, leader=1).do("lose_request", batch=0).do("notice", broker=1)
    assert retries(run) == [2, 2]
    assert not run.can("transmit", batch=0, leader=1)
    run = run.do("run_out", batch=0)
    assert run.value(run.pipeline.producer.epoch) == 1
    run = run.do("run_out", batch=1)
    assert (run.fate(0), run.fate(1)) == (Fate.FAILED, Fate.FAILED)


def test_a_record_keeps_its_number_when_the_epoch_goes_on() -> None:
    run = scenario().do("refuse_for_good", batch=0, leader=1)
    assert run.value(run.pipeline.producer.epoch) == 1
    assert run.do("transmit", batch=1, leader=1).can("refuse_gap", batch=1, leader=1)
    assert (
        scenario(**{"producer.producer_id": "new"})
        .do("refuse_for_good", batch=0, leader=1)
        .do("put_into_later_epoch", batch=1)
        .do("transmit", batch=1, leader=1)
        .can("append", batch=1, leader=1)
    ), "any number of a producer that is not known"


def test_an_epoch_for_each_record_that_fails() -> None:
    assert recorded("no-gap", REFUSED, IDEMPOTENT).bounds.producer_epochs == 3
    assert recorded("no-gap", REFUSED, IDEMPOTENT, RESENDS).bounds.producer_epochs == 4
    assumed = with_assumption(recorded("no-gap", REFUSED, IDEMPOTENT), "on_send_error", "resend")
    assert (assumed.bounds.sends, assumed.bounds.producer_epochs) == (2, 4)
