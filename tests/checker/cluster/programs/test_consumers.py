"""Consumers of every library on a real cluster: what they read and commit, and that they do nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from proofka.checker.cluster.client import ClientProcess
from proofka.checker.cluster.launching import libraries
from tests.checker.cluster.programs.conftest import SECONDS, Kafka, Making
from tests.checker.cluster.programs.of_libraries import CAREFUL, FROM_THE_START, SHORT_SESSION, TRANSACTIONAL

pytestmark = pytest.mark.cluster

ALL = list(libraries())


@pytest.fixture
def topic(kafka: Kafka, make: Making) -> str:
    """Return a topic with the records 1 to 4."""
    name = kafka.topic()
    producer = make("java", "producer", name, CAREFUL["java"])
    for record in (1, 2, 3, 4):
        producer.ask("send", record=record, seconds=SECONDS)
    producer.close(seconds=SECONDS)
    return name


def settings_of(library: str, group: str) -> dict[str, str]:
    return {**FROM_THE_START[library], **SHORT_SESSION[library], libraries()[library].group_id: group}


def poll(consumer: ClientProcess, count: int) -> list[dict[str, Any]]:
    """Return the records of one poll, of which there is at least one."""
    polled = consumer.ask("poll", count=count, milliseconds=60_000, seconds=SECONDS)
    assert 1 <= len(polled["records"]) <= count
    return list(polled["records"])


def poll_until(consumer: ClientProcess, offset: int) -> list[str]:
    """Poll until the record at this offset is there; return the values."""
    values: list[str] = []
    last = -1
    while last < offset:
        for record in poll(consumer, 2):
            values.append(record["value"])
            last = record["offset"]
    return values


@pytest.mark.parametrize("library", ALL)
def test_a_consumer_reads_in_order_and_commits_by_command_alone(
    library: str, kafka: Kafka, make: Making, topic: str
) -> None:
    group = f"group-{next(kafka.numbers)}"
    first = make(library, "consumer", topic, settings_of(library, group))
    assert first.ask("join", seconds=SECONDS)["partitions"] == [0]
    assert poll_until(first, 1) == ["record-1", "record-2"]
    assert kafka.cluster.admin.committed_offset(group, topic) is None
    committed = first.ask("commit", offset=1, seconds=SECONDS)
    assert (committed["offset"], committed["error"]) == (1, None)
    assert kafka.cluster.admin.committed_offset(group, topic) == 1
    poll(first, 1)
    first.kill()
    second = make(library, "consumer", topic, settings_of(library, group))
    assert second.ask("join", seconds=SECONDS)["position"] in (1, None)
    assert poll_until(second, 3) == ["record-2", "record-3", "record-4"]
    second.close(seconds=SECONDS)
    assert second.process.exit_status == 0
    assert kafka.cluster.admin.committed_offset(group, topic) == 1


@pytest.mark.parametrize("library", ALL)
def test_a_poll_without_records_ends_with_its_time(library: str, kafka: Kafka, make: Making) -> None:
    consumer = make(library, "consumer", kafka.topic(), settings_of(library, f"group-{next(kafka.numbers)}"))
    consumer.ask("join", seconds=SECONDS)
    assert consumer.ask("poll", count=5, milliseconds=100, seconds=SECONDS)["records"] == []


STORING = {
    "librdkafka": {"enable.auto.commit": "true", "auto.commit.interval.ms": "100", "enable.auto.offset.store": "false"},
    "sarama": {"Consumer.Offsets.AutoCommit.Enable": "true", "Consumer.Offsets.AutoCommit.Interval": "100ms"},
    "franz-go": {"AutoCommitMarks": "true", "AutoCommitInterval": "100ms", "DisableAutoCommit": "false"},
}
"""Settings with which the library commits by itself what the application stored."""


@pytest.mark.parametrize("library", STORING)
def test_the_library_commits_stored_offsets_by_itself(library: str, kafka: Kafka, make: Making, topic: str) -> None:
    group = f"group-{next(kafka.numbers)}"
    consumer = make(library, "consumer", topic, {**settings_of(library, group), **STORING[library]})
    consumer.ask("join", seconds=SECONDS)
    poll_until(consumer, 3)
    assert consumer.ask("stored", offset=2, seconds=SECONDS)["error"] is None
    consumer.close(seconds=SECONDS)
    assert kafka.cluster.admin.committed_offset(group, topic) == 2


@pytest.mark.parametrize("library", ["java", "librdkafka", "kafka-python"])
def test_a_transaction_takes_offsets_of_a_member_and_refuses_those_of_a_former_one(
    library: str, kafka: Kafka, make: Making, topic: str
) -> None:
    group = f"group-{next(kafka.numbers)}"
    named = {**CAREFUL[library], TRANSACTIONAL[library]: f"transactional-{next(kafka.numbers)}"}
    producer = make(library, "producer", topic, named)
    assert producer.ask("init", seconds=SECONDS)["error"] is None
    first = make(library, "consumer", topic, settings_of(library, group))
    former = first.ask("join", seconds=SECONDS)["membership"]
    assert producer.ask("begin", seconds=SECONDS)["error"] is None
    given = producer.ask("send_offsets", offset=2, group=group, membership=former, seconds=SECONDS)
    assert given["error"] is None
    assert producer.ask("commit", seconds=SECONDS)["error"] is None
    first.close(seconds=SECONDS)
    second = make(library, "consumer", topic, settings_of(library, group))
    assert second.ask("join", seconds=SECONDS)["position"] == 2
    assert producer.ask("begin", seconds=SECONDS)["error"] is None
    refused = producer.ask("send_offsets", offset=3, group=group, membership=former, seconds=SECONDS)
    assert refused["error"] is not None


@pytest.mark.parametrize("library", ALL)
def test_a_poll_for_no_record_gives_none_and_loses_none(library: str, kafka: Kafka, make: Making, topic: str) -> None:
    consumer = make(library, "consumer", topic, settings_of(library, f"group-{next(kafka.numbers)}"))
    consumer.ask("join", seconds=SECONDS)
    for _ in range(2):
        assert consumer.ask("poll", count=0, milliseconds=1000, seconds=SECONDS)["records"] == []
    assert poll_until(consumer, 3) == ["record-1", "record-2", "record-3", "record-4"]
