"""Differences of kafka-go from Java's client, as verdicts: its order, its acks, and its commits."""

from __future__ import annotations

import pytest

from proofka.model.pipeline import build
from proofka.properties.verdict import Status
from tests.checker.records import decide, recorded
from tests.checker.test_clients import PIPELINE

WRITES = {**PIPELINE, "producer.client": "kafka-go", "producer.RequiredAcks": "RequireAll"}
READS = {key: value for key, value in PIPELINE.items() if not key.startswith("consumer.")} | {
    "consumer.client": "kafka-go",
    "producer.acks": "all",
}
ONE = {"bounds.records": 1}
AT_ONCE, FETCHES = {"consumer.Reads": "ReadMessage"}, {"consumer.Reads": "FetchMessage"}
LOST, KILL, CRASH = {"lost-request": 1}, {"kill": 1}, {"consumer-crash": 1}


@pytest.mark.parametrize(
    ("more", "faults", "prop", "status"),
    [
        # One batch of a partition after the other, whatever becomes of it.
        ({}, LOST, "log-order", Status.HOLDS),
        # A request without an answer is one of ten attempts; where a broker is away, errors may be final.
        (ONE, LOST, "no-dropped-record", Status.HOLDS),
        ({**ONE, "producer.MaxAttempts": 1}, LOST, "no-dropped-record", Status.VIOLATED),
        (ONE, KILL, "no-dropped-record", Status.VIOLATED),
        # A Writer without RequiredAcks asks for none.
        ({**ONE, "producer.RequiredAcks": None}, LOST, "no-silent-loss", Status.VIOLATED),
        (
            {**ONE, "producer.Async": True, "producer.on_send_error": "ignore", "producer.MaxAttempts": 1},
            LOST,
            "no-silent-loss",
            Status.VIOLATED,
        ),
    ],
)
def test_writes(more: dict[str, object], faults: dict[str, int], prop: str, status: Status) -> None:
    assert decide(prop, faults, WRITES, more).status is status


@pytest.mark.parametrize(
    ("more", "prop", "status"),
    [
        # ReadMessage commits before the record is processed, at once or at the end of an interval.
        (AT_ONCE, "no-skip", Status.VIOLATED),
        ({**AT_ONCE, "consumer.CommitInterval": "1s"}, "no-skip", Status.VIOLATED),
        (AT_ONCE, "exactly-once-effect", Status.VIOLATED),
        (FETCHES, "no-skip", Status.HOLDS),
    ],
)
def test_commits(more: dict[str, object], prop: str, status: Status) -> None:
    assert decide(prop, CRASH, READS, ONE, more).status is status


@pytest.mark.parametrize(("client", "goes_back"), [("kafka-go", False), ("sarama", True)])
def test_beyond_the_end_of_a_log(client: str, goes_back: bool) -> None:
    """A log that lost its end gets other records at offsets that the group has read: who waits there misses them."""
    reads = {**READS, "consumer.client": client, **ONE}
    asked = recorded("no-skip", {"power-loss": 1}, reads)
    assert ("reset_beyond_end" in {action.name for action in build(asked).system.actions}) is goes_back


def test_reader_beyond_the_end_misses_records() -> None:
    lossy = {"topic.replicas": 1, "topic.min.insync.replicas": 1, "producer.acks": "1", **FETCHES}
    verdict = decide("no-skip", {"power-loss": 1}, READS, lossy)
    assert verdict.status is Status.VIOLATED
    assert not any("beyond the end" in step.text for step in verdict.traces[0].steps)


@pytest.mark.parametrize(("start", "status"), [("LastOffset", Status.VIOLATED), ("FirstOffset", Status.HOLDS)])
def test_a_partition_of_which_nothing_was_committed(start: str, status: Status) -> None:
    """Records that come before the first commit are passed over at a restart (kafka-go-904)."""
    more = {"producer.acks": "all", "consumer.group": "new", "consumer.StartOffset": start, **FETCHES}
    assert decide("no-loss", CRASH, READS, more).status is status
