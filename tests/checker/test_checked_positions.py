"""Positions after a truncation: which clients compare leader epochs, and whether at a start too (semantics 8, 4.1)."""

from __future__ import annotations

import pytest

from proofka.model.pipeline import build
from proofka.properties.verdict import Status
from tests.checker.records import decide, recorded

ALONE = {
    "kafka": "4.0",
    "topic.replicas": 1,
    "topic.min.insync.replicas": 1,
    "producer.acks": "1",
    "producer.enable.idempotence": False,
}
"""One replica, whose acknowledged records a power loss can take."""

BY_HAND = {
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "consumer.auto.offset.reset": "earliest",
}
POWER_LOSS, AND_CRASH = {"power-loss": 1}, {"power-loss": 1, "consumer-crash": 1}


def client(library: str, version: str) -> dict[str, object]:
    return {**BY_HAND, "consumer.client": library, "consumer.version": version}


@pytest.mark.parametrize(
    ("consumer", "faults", "status"),
    [
        # Without a restart the case does not arise for a consumer that checks its position.
        # Other records can stand at the offsets of those that were lost (librdkafka-4122, KAFKA-7747, sarama-1181).
        (client("librdkafka", "2.0.2"), POWER_LOSS, Status.VIOLATED),
        (client("librdkafka", "2.1.0"), POWER_LOSS, Status.VACUOUS),
        (client("java", "2.2.2"), POWER_LOSS, Status.VIOLATED),
        (client("java", "2.3.0"), POWER_LOSS, Status.VACUOUS),
        ({"consumer.client": "sarama"}, POWER_LOSS, Status.VIOLATED),
        # librdkafka starts at a committed offset without a check (librdkafka-5158); Java's consumer checks it.
        (client("librdkafka", "2.1.0"), AND_CRASH, Status.VIOLATED),
        (client("librdkafka", "2.15.0"), AND_CRASH, Status.VIOLATED),
        (client("java", "4.0"), AND_CRASH, Status.HOLDS),
    ],
)
def test_no_skip(consumer: dict[str, object], faults: dict[str, int], status: Status) -> None:
    assert decide("no-skip", faults, ALONE, consumer).status is status


def test_a_start_beyond_the_end_resets_by_policy() -> None:
    """An unchecked offset is out of range beyond the end; a checked one goes back to where the logs diverge."""
    ways = {"seek_to_divergence", "reset_beyond_end"}
    for consumer, found in ((client("librdkafka", "2.15.0"), ways), (client("java", "4.0"), {"seek_to_divergence"})):
        actions = build(recorded("no-skip", AND_CRASH, ALONE, consumer)).system.actions
        assert {action.name for action in actions} & ways == found


@pytest.mark.parametrize(
    ("consumer", "status"), [({"consumer.client": "sarama"}, Status.VIOLATED), (client("java", "4.0"), Status.HOLDS)]
)
def test_sarama_reads_from_a_deposed_leader(consumer: dict[str, object], status: Status) -> None:
    """sarama knows no leader epochs in the model, which is too pessimistic from 1.38 on (sarama-2365)."""
    several = {"kafka": "4.0", "topic.replicas": 3, "topic.min.insync.replicas": 2, "producer.acks": "all"}
    verdict = decide("no-reprocessing", {"cut-off": 1}, several, consumer)
    assert verdict.status is status
