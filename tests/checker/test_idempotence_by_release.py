"""The worth of idempotence with a client or brokers before 2.5, as verdicts: a row for each difference."""

from __future__ import annotations

import pytest

from proofka.properties.verdict import Status
from tests.checker.records import decide

IN_FLIGHT = "producer.max.in.flight.requests.per.connection"
PIPELINE = {
    "topic.replicas": 2,
    "topic.min.insync.replicas": 1,
    "broker.replica.lag.time.max.ms": 60_000,
    "producer.acks": "all",
    "producer.enable.idempotence": True,
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "bounds.records": 2,
    "bounds.log": 3,
    "bounds.epochs": 3,
}

MOVE, TWICE = {"leader-move": 1}, {"lost-response": 2}
ANSWER, REFUSED, GIVEN_UP = {"lost-response": 1}, {"refused-record": 1, "slow-follower": 1}, {"cut-off": 1}
ONCE = {"producer.retries": 1}
NEW = {"producer.producer_id": "new"}
SHORT = {"producer.delivery.timeout.ms": 30_000}


def of(client: str, brokers: str) -> dict[str, object]:
    return {**PIPELINE, "kafka": brokers, "producer.version": client}


@pytest.mark.parametrize(
    ("client", "brokers", "more", "faults", "prop", "status"),
    [
        # Up to 0.11 a record that fails leaves its number to the next one, which brokers take for its retry.
        ("0.11", "0.11", ONCE, TWICE, "no-acked-loss", Status.VIOLATED),
        ("0.11", "2.6", ONCE, TWICE, "no-acked-loss", Status.VIOLATED),
        ("1.1", "1.1", {**ONCE, IN_FLIGHT: 1}, TWICE, "no-silent-loss", Status.HOLDS),
        # Brokers of 0.11 remember one batch: a client with more in flight, and a new epoch, writes them again.
        ("3.6", "0.11", {}, ANSWER, "no-log-duplicate", Status.VIOLATED),
        ("3.6", "0.11", {IN_FLIGHT: 1}, ANSWER, "no-log-duplicate", Status.HOLDS),
        ("3.6", "1.0", {}, ANSWER, "no-log-duplicate", Status.HOLDS),
        # Of a producer that they do not know, brokers before 2.5 append no number but 0.
        pytest.param("2.6", "2.6", NEW, MOVE, "log-order", Status.VIOLATED, marks=pytest.mark.slow),
        pytest.param("2.6", "2.4", NEW, MOVE, "log-order", Status.HOLDS, marks=pytest.mark.slow),
        # A client before 2.5 gives a retry that it has still to make no other number (KAFKA-14034).
        pytest.param("2.8", "2.4", {}, REFUSED, "no-log-duplicate", Status.VIOLATED, marks=pytest.mark.slow),
        pytest.param("2.4", "2.4", {}, REFUSED, "no-log-duplicate", Status.HOLDS, marks=pytest.mark.slow),
        # But it takes the number of a send for free that fails in flight, when an error comes for it (KAFKA-14397).
        pytest.param("2.4", "2.4", SHORT, ANSWER, "no-acked-loss", Status.VIOLATED, marks=pytest.mark.slow),
        pytest.param(
            "2.2", "2.4", {**SHORT, IN_FLIGHT: 1}, ANSWER, "no-acked-loss", Status.VIOLATED, marks=pytest.mark.slow
        ),
        ("2.8", "2.4", SHORT, ANSWER, "no-silent-loss", Status.HOLDS),
        ("2.0", "2.4", {IN_FLIGHT: 1}, ANSWER, "no-silent-loss", Status.HOLDS),
    ],
)
def test_a_difference(
    client: str, brokers: str, more: dict[str, object], faults: dict[str, int], prop: str, status: Status
) -> None:
    assert decide(prop, faults, of(client, brokers), more).status is status


@pytest.mark.slow
def test_three_retries_are_as_good_as_none_if_the_fourth_is_answered_too_late() -> None:
    """With nothing but defaults: a leader that is cut off answers no attempt, and the last one ends after 120 s."""
    verdict = decide("no-acked-loss", GIVEN_UP, of("2.4", "2.4"))
    assert verdict.status is Status.VIOLATED
    words = [step.text for step in verdict.traces[0].steps]
    assert any("counts the sequence number as unused" in sentence for sentence in words)
    assert any("as the retry of a record with the same sequence number" in sentence for sentence in words)
    assert decide("no-acked-loss", GIVEN_UP, of("2.8", "2.4")).status is Status.HOLDS
