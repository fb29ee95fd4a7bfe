"""Differences of other libraries' clients from Java's, as verdicts: a row for each difference."""

from __future__ import annotations

from itertools import pairwise

import pytest

from proofka.properties.verdict import Status, Verdict
from tests.checker.records import decide

PIPELINE = {
    "kafka": "4.0",
    "topic.replicas": 3,
    "topic.min.insync.replicas": 2,
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
}
LIBRDKAFKA = {**PIPELINE, "producer.client": "librdkafka"}
DRAINS = {**LIBRDKAFKA, "producer.enable.idempotence": True}
GAPLESS = {**DRAINS, "producer.enable.gapless.guarantee": True}
SARAMA = {**PIPELINE, "producer.client": "sarama", "producer.Producer.RequiredAcks": "WaitForAll"}
JAVA = {**PIPELINE, "producer.acks": "all"}
KAFKA_PYTHON = {**JAVA, "producer.client": "kafka-python", "producer.version": "2.3"}
AIOKAFKA = {**JAVA, "producer.client": "aiokafka"}
OF_PYTHON = {
    **{key: value for key, value in PIPELINE.items() if not key.startswith("consumer.")},
    "consumer.group_id": "orders",
    "consumer.on_processing_error": "close",
}

IN_FLIGHT = "producer.max.in.flight.requests.per.connection"
ALONE = {"topic.replicas": 1, "topic.min.insync.replicas": 1, "bounds.records": 1}

LONELY = {"topic.replicas": 1, "topic.min.insync.replicas": 1}
ONE_BY_ONE = {IN_FLIGHT: 1, "producer.enable.idempotence": False, "producer.acks": "1"}
UNHEARD = {"producer.Producer.Return.Errors": False, "producer.on_send_error": "ignore"}

REFUSED, MOVE, KILL = {"refused-record": 1}, {"leader-move": 1}, {"kill": 1}
LOST, ANSWER, SLOW = {"lost-request": 1}, {"lost-response": 1}, {"slow-follower": 2}


@pytest.mark.parametrize(
    ("base", "more", "faults", "prop", "status"),
    [
        # One request in flight is one for each broker: a newer record goes to the new leader while the last is out.
        pytest.param(LIBRDKAFKA, {IN_FLIGHT: 1}, MOVE, "log-order", Status.VIOLATED, marks=pytest.mark.slow),
        (JAVA, {IN_FLIGHT: 1, "producer.enable.idempotence": False}, MOVE, "log-order", Status.HOLDS),
        (LIBRDKAFKA, {IN_FLIGHT: 1}, LOST, "log-order", Status.HOLDS),
        # A refusal by a broker that does not lead is no attempt of retries; with Java it is.
        (LIBRDKAFKA, {"producer.retries": 0, "bounds.records": 1}, MOVE, "no-dropped-record", Status.HOLDS),
        (JAVA, {"producer.retries": 0, "bounds.records": 1}, MOVE, "no-dropped-record", Status.VIOLATED),
        (LIBRDKAFKA, {"producer.retries": 0, "bounds.records": 1}, LOST, "no-dropped-record", Status.VIOLATED),
        # It drains before it retries or changes the leader, so that nothing overtakes.
        pytest.param(DRAINS, {}, MOVE, "log-order", Status.HOLDS, marks=pytest.mark.slow),
        (DRAINS, {}, LOST, "log-order", Status.HOLDS),
        # A gap after an error that is not retried, unless that is fatal; and what a fatal error leaves in flight.
        pytest.param(DRAINS, {}, REFUSED, "no-gap", Status.VIOLATED, marks=pytest.mark.slow),
        pytest.param(GAPLESS, {}, REFUSED, "no-gap", Status.HOLDS, marks=pytest.mark.slow),
        (GAPLESS, {"producer.producer_id": "new"}, REFUSED, "no-gap", Status.VIOLATED),
        (JAVA, {}, REFUSED, "no-gap", Status.VIOLATED),
        (JAVA, {"producer.sends": "sync", "producer.on_send_error": "halt"}, REFUSED, "no-gap", Status.HOLDS),
        # Attempts that reach nobody are counted by sarama, and three pauses of 100 ms outlast no election.
        (SARAMA, {"bounds.records": 1}, KILL, "no-dropped-record", Status.VIOLATED),
        (SARAMA, {"bounds.records": 1}, ANSWER, "no-dropped-record", Status.HOLDS),
        # Whoever does not look is not told; the record is dropped all the same.
        (SARAMA, {"bounds.records": 1}, KILL, "no-silent-loss", Status.HOLDS),
        (SARAMA, {"bounds.records": 1, **UNHEARD}, KILL, "no-silent-loss", Status.VIOLATED),
        (SARAMA, {"bounds.records": 1, **UNHEARD}, KILL, "no-dropped-record", Status.VIOLATED),
        (JAVA, {"bounds.records": 1, "producer.on_send_error": "ignore"}, REFUSED, "no-silent-loss", Status.VIOLATED),
        (JAVA, {"bounds.records": 1}, REFUSED, "no-silent-loss", Status.VACUOUS),
        # A delivery without an end does not time out, however long a broker is away.
        (LIBRDKAFKA, {**ALONE, "producer.message.timeout.ms": 0}, KILL, "no-dropped-record", Status.HOLDS),
        (LIBRDKAFKA, {**ALONE}, KILL, "no-dropped-record", Status.VIOLATED),
        (
            SARAMA,
            {"topic.replicas": 1, "topic.min.insync.replicas": 1, "producer.version": "1.60"},
            {"delayed-request": 1},
            "log-order",
            Status.VIOLATED,
        ),
        # Record 2 runs out of time while record 1 is on its way, and record 1 is refused (test_unaware_leaders.py).
        (DRAINS, {**LONELY, "producer.version": "2.3"}, KILL, "log-order", Status.VIOLATED),
        # What waits runs out of time in the order of sending.
        (JAVA, {**LONELY, **ONE_BY_ONE}, KILL, "log-order", Status.HOLDS),
        (JAVA, {**LONELY, **ONE_BY_ONE}, {"delayed-request": 1}, "log-order", Status.VIOLATED),
        # One replica: once the controller has fenced it there is no leader, and the record fails at once.
        (
            SARAMA,
            {**ALONE, "producer.Producer.Retry.Max": 2, "producer.Producer.Retry.Backoff": "5s"},
            KILL,
            "no-dropped-record",
            Status.VIOLATED,
        ),
        # What ran out of retries leaves no gap that a new epoch has to close: the next is recognised by its number.
        (
            DRAINS,
            {"topic.replicas": 1, "topic.min.insync.replicas": 1, "producer.retries": 1},
            {"lost-response": 2},
            "no-log-duplicate",
            Status.HOLDS,
        ),
        # What was acknowledged and lost leaves a gap as well.
        (
            JAVA,
            {"producer.acks": "1", "topic.replicas": 2, "topic.min.insync.replicas": 1},
            KILL,
            "no-gap",
            Status.VIOLATED,
        ),
        # A consumer of sarama reads in the background: a week without a poll is not taken for ordinary.
        (
            {**PIPELINE, "consumer.client": "sarama", "consumer.enable.auto.commit": None, "consumer.group.id": None},
            ALONE,
            {"consumer-crash": 1},
            "no-skip",
            Status.HOLDS,
        ),
        pytest.param(SARAMA, {"producer.version": "1.60"}, KILL, "log-order", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(
            SARAMA,
            {"producer.version": "1.31", "producer.Net.MaxOpenRequests": 1},
            KILL,
            "log-order",
            Status.VIOLATED,
            marks=pytest.mark.slow,
        ),
        # kafka-python puts what failed first in its queue; with one request in flight nothing is ahead of it.
        (KAFKA_PYTHON, {}, LOST, "log-order", Status.VIOLATED),
        (KAFKA_PYTHON, {"producer.max_in_flight_requests_per_connection": 1}, LOST, "log-order", Status.HOLDS),
        pytest.param(
            KAFKA_PYTHON,
            {"producer.max_in_flight_requests_per_connection": 1},
            MOVE,
            "log-order",
            Status.HOLDS,
            marks=pytest.mark.slow,
        ),
        pytest.param(KAFKA_PYTHON, {}, ANSWER, "no-log-duplicate", Status.VIOLATED, marks=pytest.mark.slow),
        # Before 2.2 it does not retry by itself: what is lost is dropped, and nothing is stored twice.
        (KAFKA_PYTHON, {"bounds.records": 1}, LOST, "no-dropped-record", Status.HOLDS),
        (KAFKA_PYTHON, {"bounds.records": 1, "producer.version": "2.1"}, LOST, "no-dropped-record", Status.VIOLATED),
        pytest.param(
            KAFKA_PYTHON, {"producer.acks": 0}, LOST, "no-acked-loss", Status.VIOLATED, marks=pytest.mark.slow
        ),
        # aiokafka has one batch under way and retries it; one that got no answer for its whole time was its last try.
        pytest.param(AIOKAFKA, {}, LOST, "log-order", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(AIOKAFKA, {}, MOVE, "log-order", Status.HOLDS, marks=pytest.mark.slow),
        pytest.param(AIOKAFKA, {}, ANSWER, "no-log-duplicate", Status.VIOLATED, marks=pytest.mark.slow),
        (AIOKAFKA, {"bounds.records": 1}, LOST, "no-dropped-record", Status.VIOLATED),
        # It commits what it has handed over; kafka-python what polls before returned, and all when it is closed.
        ({**OF_PYTHON, "consumer.client": "aiokafka"}, ALONE, {"consumer-crash": 1}, "no-skip", Status.VIOLATED),
        ({**OF_PYTHON, "consumer.client": "kafka-python"}, ALONE, {"consumer-crash": 1}, "no-skip", Status.HOLDS),
        ({**OF_PYTHON, "consumer.client": "kafka-python"}, ALONE, {"failed-processing": 1}, "no-skip", Status.VIOLATED),
    ],
)
def test_verdicts(
    base: dict[str, object], more: dict[str, object], faults: dict[str, int], prop: str, status: Status
) -> None:
    verdict = decide(prop, faults, base, more)
    assert verdict.status is status


def sentences(verdict: Verdict) -> list[str]:
    return [step.text for step in verdict.traces[0].steps]


def test_a_success_ends_the_records_before_it() -> None:
    """The broker knows nothing of the producer id yet, and takes the second record whatever its number."""
    two = {**DRAINS, "topic.replicas": 2, "producer.producer_id": "new"}
    verdict = decide("no-acked-loss", KILL, two)
    assert verdict.status is Status.VIOLATED
    words = "acknowledges record 2, and the producer treats record 1, sent before it, as delivered as well"
    assert any(words in sentence for sentence in sentences(verdict))


@pytest.mark.slow
def test_a_record_that_is_stored_already_gets_another_number() -> None:
    verdict = decide("no-log-duplicate", SLOW, DRAINS)
    assert verdict.status is Status.VIOLATED
    steps = verdict.traces[0].steps
    given_up = next(step for step in steps if "gives up on record 2" in step.text)
    sent = next(step for step in steps if step.text == "the application sends record 2")
    assert given_up.at is not None and sent.at is not None
    assert given_up.at - sent.at >= 300_000, "message.timeout.ms counts from the record's own send"
    assert any("bumps its epoch, now that nothing is in flight" in sentence for sentence in sentences(verdict))


@pytest.mark.parametrize(("backoff", "status"), [("4400ms", Status.VIOLATED), ("14s", Status.HOLDS)])
def test_each_attempt_of_sarama_takes_its_pause(backoff: str, status: Status) -> None:
    more = {"bounds.records": 1, "producer.Producer.Retry.Backoff": backoff}
    verdict = decide("no-dropped-record", KILL, SARAMA, more)
    assert verdict.status is status
    if status is Status.VIOLATED:
        at = [s.at for s in verdict.traces[0].steps if "reaches no leader" in s.text]
        pauses = [later - earlier for earlier, later in pairwise(at)]
        assert len(pauses) == 3 and min(pauses) >= 4_400


def test_no_attempt_of_sarama_comes_before_its_pause() -> None:
    """One replica, so that no other broker's epoch says anything of the pause."""
    more = {**ALONE, "producer.Producer.Retry.Max": 2, "producer.Producer.Retry.Backoff": "5s"}
    steps = decide("no-dropped-record", KILL, SARAMA, more).traces[0].steps
    at = [step.at for step in steps if "which will be retried" in step.text]
    assert all(later - earlier >= 5_000 for earlier, later in pairwise(at))
