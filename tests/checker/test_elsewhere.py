"""Another partition of the same idempotent producer fails: what each client then does here (semantics 3.4, 4).

The steps are those of the clients' sources: ``bumpIdempotentProducerEpoch``, ``handleCompletedBatch`` and
``maybeUpdateProducerIdAndEpoch`` of Kafka's ``TransactionManager`` (KAFKA-12152), ``rd_kafka_idemp_drain_epoch_bump``
and ``rd_kafka_toppar_pid_change`` of librdkafka, ``bumpEpoch`` of sarama, ``resetAllProducerSequences`` of franz-go.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import z3

from proofka.model.deployment import NotModelledError
from proofka.model.language import Action
from proofka.model.pipeline import build
from proofka.model.recovery.java_elsewhere import follow_due
from proofka.model.state.pipeline import Fate, Pipeline
from proofka.properties.verdict import Status
from tests.checker.asking import ask
from tests.checker.records import decide, recorded
from tests.model.mutate import Mutation, assume, rewrite
from tests.model.scripted import Scenario

PIPELINE = {
    "kafka": "4.0",
    "topic.replicas": 1,
    "topic.retention.ms": -1,
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "bounds.epochs": 2,
}
IDEMPOTENT = {"producer.enable.idempotence": True}
JAVA_2_7_0 = {"kafka": "2.7.0", **IDEMPOTENT}
JAVA_2_7_1 = {"kafka": "2.7.1", **IDEMPOTENT}
JAVA_2_4 = {"kafka": "2.4", **IDEMPOTENT}
LIBRDKAFKA = {"producer.client": "librdkafka", **IDEMPOTENT}
SARAMA = {
    "producer.client": "sarama",
    "producer.Producer.Idempotent": True,
    "producer.Producer.RequiredAcks": "WaitForAll",
    "producer.Net.MaxOpenRequests": 1,
}
FRANZ_GO = {"producer.client": "franz-go"}
ONE_RETRY = {"producer.retries": 1, "bounds.records": 1}
NEW = {"producer.producer_id": "new"}

ELSEWHERE = {"failure-elsewhere": 1}
REQUEST, RESPONSE = {**ELSEWHERE, "lost-request": 1}, {**ELSEWHERE, "lost-response": 1}


@pytest.mark.parametrize(
    ("more", "faults", "prop", "status"),
    [
        # The first record goes out under an old number in the new epoch: that costs an attempt, here the last one.
        ({**JAVA_2_7_0, **ONE_RETRY}, REQUEST, "no-dropped-record", Status.VIOLATED),
        ({**JAVA_2_7_1, **ONE_RETRY}, REQUEST, "no-dropped-record", Status.HOLDS),
        pytest.param({**JAVA_2_7_0, **ONE_RETRY, **NEW}, REQUEST, "no-dropped-record", Status.HOLDS, id="from 0 on"),
        # librdkafka and franz-go give another number to what is stored and waits to be retried.
        (LIBRDKAFKA, RESPONSE, "no-log-duplicate", Status.VIOLATED),
        (FRANZ_GO, RESPONSE, "no-log-duplicate", Status.VIOLATED),
        pytest.param(FRANZ_GO, {"lost-response": 2}, "no-log-duplicate", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(FRANZ_GO, REQUEST, "no-dropped-record", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(FRANZ_GO, REQUEST, "log-order", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param({}, RESPONSE, "no-log-duplicate", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(JAVA_2_7_0, RESPONSE, "no-log-duplicate", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(JAVA_2_4, RESPONSE, "no-log-duplicate", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(SARAMA, RESPONSE, "no-log-duplicate", Status.HOLDS, marks=pytest.mark.slow),
        # What is refused as out of order elsewhere ends all of librdkafka's sending; Java's goes on.
        pytest.param(LIBRDKAFKA, ELSEWHERE, "no-dropped-record", Status.VIOLATED, marks=pytest.mark.slow),
        pytest.param({}, REQUEST, "no-dropped-record", Status.HOLDS, marks=pytest.mark.slow),
    ],
)
def test_verdicts(more: dict[str, object], faults: dict[str, int], prop: str, status: Status) -> None:
    assert decide(prop, faults, PIPELINE, more).status is status


def run(**more: object) -> Scenario:
    return Scenario(recorded("no-gap", {**ELSEWHERE, "refused-record": 1, "lost-response": 1}, PIPELINE, more))


def numbers(run: Scenario, batch: int) -> tuple[int, int]:
    """Return the epoch and the sequence number in the batch's request."""
    of = run.pipeline.producer.batches[batch]
    assert of.sent_epoch is not None and of.sent_sequence is not None
    return run.value(of.sent_epoch), run.value(of.sent_sequence)


def sent(**more: object) -> Scenario:
    """Return a run in which both records are sent; the first is on its way when another partition fails."""
    return run(**more).do("send", batch=0).do("send", batch=1).do("transmit", batch=0, leader=1).do("fail_elsewhere")


@pytest.mark.parametrize("release", [JAVA_2_7_0, JAVA_2_7_1])
def test_requests_in_flight_keep_their_numbers_and_new_requests_wait(release: dict[str, object]) -> None:
    one = sent(**release)
    assert numbers(one, 0) == (0, 0) and not one.can("transmit", batch=1, leader=1)
    one = one.do("append", batch=0, leader=1)
    assert not one.can("follow_epoch")
    one = one.do("acknowledge", batch=0, leader=1).do("follow_epoch").do("transmit", batch=1, leader=1)
    assert numbers(one, 1) == (1, 0)
    assert one.can("append", batch=1, leader=1)


@pytest.mark.parametrize(("release", "number"), [(JAVA_2_7_0, 1), (JAVA_2_7_1, 0)])
def test_an_idle_partition_goes_on_with_the_old_numbers_up_to_2_7_0(release: dict[str, object], number: int) -> None:
    """Acknowledgements before the run count: the first number of the partition is not one of an epoch's first."""
    one = run(**release).do("fail_elsewhere").do("follow_epoch").do("send", batch=0).do("transmit", batch=0, leader=1)
    assert numbers(one, 0) == (1, number)
    assert one.can("append", batch=0, leader=1) is (number == 0)
    if number:
        # It is the next one due, so that the client bumps its epoch once more, and begins at 0.
        one = one.do("reject_out_of_order", batch=0, leader=1).do("transmit", batch=0, leader=1)
        assert numbers(one, 0) == (2, 0) and one.can("append", batch=0, leader=1)


def test_a_record_that_fails_last_takes_its_number_with_it_up_to_2_7_0() -> None:
    """In 2.7.0 the failure of a record of the old epoch is ignored (``producerIdOrEpochNotMatch``)."""
    one = run(**JAVA_2_7_0).do("send", batch=0).do("send", batch=1)
    one = one.do("transmit", batch=0, leader=1).do("transmit", batch=1, leader=1).do("fail_elsewhere")
    one = one.do("refuse_for_good", batch=0, leader=1)
    assert one.fate(0) is Fate.FAILED and numbers(one, 1) == (0, 1)
    one = one.do("reject_out_of_order", batch=1, leader=1).do("transmit", batch=1, leader=1)
    assert numbers(one, 1) == (0, 1) and not one.can("append", batch=1, leader=1), "its gap never closes"

    one = run(**JAVA_2_7_1).do("send", batch=0).do("send", batch=1)
    one = one.do("transmit", batch=0, leader=1).do("transmit", batch=1, leader=1).do("fail_elsewhere")
    one = one.do("refuse_for_good", batch=0, leader=1).do("reject_out_of_order", batch=1, leader=1)
    one = one.do("transmit", batch=1, leader=1)
    assert numbers(one, 1) == (1, 0) and one.can("append", batch=1, leader=1)


def test_sarama_numbers_from_0_at_once_and_keeps_given_numbers() -> None:
    one = sent(**SARAMA).do("append", batch=0, leader=1).do("acknowledge", batch=0, leader=1)
    assert one.do("transmit", batch=1, leader=1) and numbers(one, 1) == (1, 0)
    one = run(**SARAMA).do("send", batch=0).do("send", batch=1).do("transmit", batch=0, leader=1)
    one = one.do("number_ahead", batch=1).do("fail_elsewhere").do("append", batch=0, leader=1)
    one = one.do("acknowledge", batch=0, leader=1).do("transmit", batch=1, leader=1)
    assert numbers(one, 1) == (0, 1)


def test_before_2_5_batches_in_flight_keep_their_producer_id() -> None:
    one = sent(**JAVA_2_4).do("transmit", batch=1, leader=1)
    assert numbers(one, 0) == (0, 0) and numbers(one, 1) == (1, 0)


def test_librdkafka_waits_and_then_numbers_anew() -> None:
    one = sent(**LIBRDKAFKA)
    assert not one.can("bump_when_drained") and not one.can("transmit", batch=1, leader=1)
    one = one.do("append", batch=0, leader=1).do("lose_response", batch=0).do("notice", broker=1)
    one = one.do("bump_when_drained").do("transmit", batch=0, leader=1)
    assert numbers(one, 0) == (1, 0) and one.can("append", batch=0, leader=1), "it is stored already"


def without_reset(pipeline: Pipeline, action: Action) -> Action:
    producer = pipeline.producer
    first = {producer.next_sequence: z3.IntVal(1), producer.last_acknowledged: z3.IntVal(0)}
    return replace(action, updates={**action.updates, **first})


def nothing_numbered(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that no request in flight has a sequence number of the epoch before."""
    return follow_due(pipeline).arg(1)


@pytest.mark.parametrize(
    ("mutation", "release"),
    [
        # What is in flight under the old epoch would be fenced by what comes after it.
        pytest.param(assume("follow_epoch", nothing_numbered), JAVA_2_7_1, marks=pytest.mark.slow),
        # Old numbers would go on in the new epoch, as up to 2.7.0.
        (rewrite("follow_epoch", without_reset), JAVA_2_7_1),
    ],
)
def test_mutations(mutation: Mutation, release: dict[str, object]) -> None:
    asked = recorded("no-dropped-record", REQUEST, PIPELINE, release, {"producer.retries": 1})
    prop = "no-dropped-record"
    assert ask(mutation(build(asked)), prop)[prop].status is Status.VIOLATED


def test_franz_go_begins_again_at_0_with_stored_records_and_waits() -> None:
    one = run(**FRANZ_GO).do("send", batch=0).do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    one = one.do("fail_elsewhere").do("lose_response", batch=0).do("notice", broker=1).do("transmit", batch=0, leader=1)
    assert numbers(one, 0) == (1, 0) and one.can("append", batch=0, leader=1)


def test_franz_go_sends_the_record_behind_one_in_flight_under_the_number_that_follows() -> None:
    """``tryAddBatch`` resets the sequence for the first record of the row only."""
    one = run(**FRANZ_GO, **{"bounds.records": 3}).do("send", batch=0).do("send", batch=1).do("send", batch=2)
    one = one.do("transmit", batch=0, leader=1).do("append", batch=0, leader=1).do("acknowledge", batch=0, leader=1)
    one = one.do("transmit", batch=1, leader=1).do("fail_elsewhere").do("transmit", batch=2, leader=1)
    assert numbers(one, 1) == (0, 1) and numbers(one, 2) == (1, 2)
    one = one.do("append", batch=1, leader=1).do("acknowledge", batch=1, leader=1)
    one = one.do("refuse_and_reset", batch=2, leader=1).do("bump_when_drained").do("transmit", batch=2, leader=1)
    assert numbers(one, 2) == (2, 0) and one.can("append", batch=2, leader=1)


def test_franz_go_begins_at_0_where_nothing_is_in_flight() -> None:
    one = run(**FRANZ_GO, **NEW).do("send", batch=0).do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    one = one.do("acknowledge", batch=0, leader=1).do("send", batch=1).do("fail_elsewhere")
    one = one.do("transmit", batch=1, leader=1)
    assert numbers(one, 1) == (1, 0) and one.can("append", batch=1, leader=1)


def test_franz_go_stops_for_lost_data_of_another_partition_if_it_is_told_to() -> None:
    one = run(**FRANZ_GO, **{"producer.StopProducerOnDataLossDetected": True}).do("send", batch=0)
    assert one.model.system.action("fail_elsewhere", {}) is None
    assert one.do("stop_elsewhere").fate(0) is Fate.FAILED


def test_failure_elsewhere_is_not_modelled_with_transactions() -> None:
    with pytest.raises(NotModelledError, match="not modelled yet: failure-elsewhere with transactions"):
        recorded("no-gap", ELSEWHERE, PIPELINE, {"producer.transactional.id": "t"})


def test_failure_elsewhere_has_no_effect_without_idempotence() -> None:
    asked = recorded("no-gap", ELSEWHERE, PIPELINE, {"producer.enable.idempotence": False})
    assert any("failure-elsewhere has no effect" in note for note in asked.notes)
    assert not [action for action in build(asked).system.actions if action.fault == "failure-elsewhere"]
