"""Differences of KafkaJS from Java's client, as verdicts: the order of sends and their failures."""

from __future__ import annotations

import pytest

from proofka.properties.verdict import Status
from tests.checker.records import decide
from tests.checker.test_clients import PIPELINE

SENDS = {**PIPELINE, "producer.client": "kafkajs"}
READS = {key: value for key, value in PIPELINE.items() if not key.startswith("consumer.")} | {
    "consumer.client": "kafkajs",
    "producer.acks": "all",
}
ONE = {"bounds.records": 1}
LOST, KILL, CRASH = {"lost-request": 1}, {"kill": 1}, {"consumer-crash": 1}


@pytest.mark.parametrize(
    ("more", "faults", "prop", "status"),
    [
        # What failed waits for its pause, and the next send does not wait for it, with one request in flight either.
        ({}, LOST, "log-order", Status.VIOLATED),
        ({"producer.maxInFlightRequests": 1}, LOST, "log-order", Status.VIOLATED),
        # Nothing but waiting for each send keeps an order; where nothing fails, encoding may overtake.
        ({"producer.sends": "sync"}, LOST, "log-order", Status.HOLDS),
        ({}, {}, "log-order", Status.VIOLATED),
        # A send without an answer is retried; without retries it fails.
        (ONE, LOST, "no-dropped-record", Status.HOLDS),
        ({**ONE, "producer.retry.retries": 0}, LOST, "no-dropped-record", Status.VIOLATED),
        # Five retries may be over in 3.8 s, and a broker that died is fenced after nine.
        (ONE, KILL, "no-dropped-record", Status.VIOLATED),
        # What fails is told; with acks=0 nothing does.
        ({}, KILL, "no-silent-loss", Status.HOLDS),
        ({"producer.acks": 0}, LOST, "no-silent-loss", Status.VIOLATED),
    ],
)
def test_sends(more: dict[str, object], faults: dict[str, int], prop: str, status: Status) -> None:
    assert decide(prop, faults, SENDS, more).status is status


@pytest.mark.parametrize(
    ("more", "prop", "status"),
    [
        # What its handler has returned for is committed, and nothing else.
        ({}, "no-skip", Status.HOLDS),
        ({}, "exactly-once-effect", Status.VIOLATED),
        ({"consumer.processing": "handed-off"}, "no-skip", Status.VIOLATED),
        ({"consumer.autoCommit": False, "consumer.commit": "before"}, "no-skip", Status.VIOLATED),
    ],
)
def test_commits(more: dict[str, object], prop: str, status: Status) -> None:
    assert decide(prop, CRASH, READS, more, ONE).status is status


def test_a_send_fails_only_after_the_pauses_of_its_retries() -> None:
    steps = decide("no-dropped-record", KILL, SENDS, ONE).traces[0].steps
    sent = next(step for step in steps if step.text == "the application sends record 1")
    failed = next(step for step in steps if "the send fails" in step.text)
    assert sent.at is not None and failed.at is not None
    assert failed.at - sent.at >= 3_794
