"""Producers of every library on a real cluster: what they send, what they report, and that they do nothing else."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from proofka.checker.cluster.client import ClientProcess, Event, event_is
from proofka.checker.cluster.errors import CommandFailed
from proofka.checker.cluster.launching import libraries
from proofka.checker.cluster.sends import Send
from proofka.checker.cluster.waiting import until
from tests.checker.cluster.programs.conftest import SECONDS, Kafka, Making
from tests.checker.cluster.programs.of_libraries import CAREFUL, TRANSACTIONAL, WITHOUT_OFFSETS

pytestmark = pytest.mark.cluster

ALL = list(libraries())
EXPIRES = 120.0


def wait_report(client: ClientProcess, record: int) -> Event:
    return client.wait_event(event_is("report", record=record), what=f"the report of record {record}", seconds=SECONDS)


@pytest.mark.parametrize("library", ALL)
def test_a_producer_prepares_without_a_record_and_reports_each_written_record(
    library: str, kafka: Kafka, make: Making
) -> None:
    topic = kafka.topic()
    producer = make(library, "producer", topic, CAREFUL[library])
    prepared = producer.ask("prepare", seconds=SECONDS)
    assert "warmed" not in prepared and kafka.values(topic) == []
    for record in (1, 2, 3):
        producer.send("send", record=record)
        report = wait_report(producer, record)
        assert (report["error"], report["code"], report["offset"]) == (None, None, record - 1)
    kafka.wait_values(topic, ["record-1", "record-2", "record-3"])
    producer.close(seconds=SECONDS)
    assert producer.process.exit_status == 0


@pytest.mark.parametrize("library", ALL)
def test_a_later_send_of_a_record_has_a_value_and_a_report_of_its_own(library: str, kafka: Kafka, make: Making) -> None:
    topic = kafka.topic()
    producer = make(library, "producer", topic, CAREFUL[library])
    producer.ask("prepare", seconds=SECONDS)
    sends = (Send(1), Send(1, 2))
    for offset, send in enumerate(sends):
        producer.send("send", **asdict(send))
        for event, fields in (("sent", {}), ("report", {"offset": offset, "error": None})):
            told = event_is(event, **asdict(send), **fields)
            producer.wait_event(told, what=f"{event} of {send}", seconds=SECONDS)
    kafka.wait_values(topic, [send.value for send in sends])


@pytest.mark.parametrize("library", ALL)
def test_several_sends_are_outstanding_and_reports_wait_for_the_answer(
    library: str, kafka: Kafka, make: Making
) -> None:
    topic = kafka.topic()
    producer = make(library, "producer", topic, CAREFUL[library])
    producer.ask("prepare", seconds=SECONDS)
    gate = kafka.proxy.gate("client->1", side="response", apis={"Produce"}, client=producer_id(producer))
    producer.send("send", record=1)
    gate.wait(what="the answer to record 1", seconds=SECONDS)
    kafka.wait_values(topic, ["record-1"])
    for record in (2, 3):
        producer.send("send", record=record)
    if library != "kafka-go":  # its call returns only with the answer
        producer.wait_event(event_is("sent", record=3), what="the return of the third send()", seconds=SECONDS)
    assert not any(event["event"] == "report" for event in producer.events)
    gate.remove()
    assert [wait_report(producer, record)["offset"] for record in (1, 2, 3)] == [0, 1, 2]
    kafka.wait_values(topic, ["record-1", "record-2", "record-3"])


@pytest.mark.parametrize("library", ALL)
def test_a_killed_producer_sends_nothing_more(library: str, kafka: Kafka, make: Making) -> None:
    topic = kafka.topic()
    producer = make(library, "producer", topic, CAREFUL[library])
    producer.ask("prepare", seconds=SECONDS)
    gate = kafka.proxy.gate("client->1", apis={"Produce"}, client=producer_id(producer))
    producer.send("send", record=1)
    held = gate.wait(what="the request with record 1", seconds=SECONDS)
    producer.kill()
    gate.drop(held)
    gate.remove()
    after = make(library, "producer", topic, CAREFUL[library])
    after.ask("prepare", seconds=SECONDS)
    after.send("send", record=2)
    assert wait_report(after, 2)["offset"] == 0
    kafka.wait_values(topic, ["record-2"])


@pytest.mark.parametrize("library", ALL)
@pytest.mark.parametrize("role", ["producer", "consumer"])
def test_a_setting_that_the_library_lacks_ends_the_program(library: str, role: str, kafka: Kafka) -> None:
    needed = {libraries()[library].group_id: "group"} if role == "consumer" else {}
    with pytest.raises(CommandFailed) as raised:
        kafka.client(library, role, "topic", {**needed, "no.such.setting": "1"})
    assert raised.value.event["do"] == "start"
    assert "no.such.setting" in raised.value.event["error"]


@pytest.mark.parametrize("library", TRANSACTIONAL)
def test_transactions_are_committed_and_aborted(library: str, kafka: Kafka, make: Making) -> None:
    topic, group = kafka.topic(), f"group-{next(kafka.numbers)}"
    named = {**CAREFUL[library], TRANSACTIONAL[library]: f"transactional-{next(kafka.numbers)}"}
    producer = make(library, "producer", topic, named)
    producer.ask("prepare", seconds=SECONDS)
    assert producer.ask("init", seconds=SECONDS)["error"] is None
    for record, end in ((1, "commit"), (2, "abort")):
        assert producer.ask("begin", seconds=SECONDS)["error"] is None
        producer.send("send", record=record)
        assert wait_report(producer, record)["error"] is None
        if library not in WITHOUT_OFFSETS:
            sent = producer.ask("send_offsets", offset=record, group=group, seconds=SECONDS)
            assert sent["error"] is None
        assert producer.ask(end, seconds=SECONDS)["error"] is None
    kafka.wait_values(topic, ["record-1", "record-2"])
    markers = "the marker of each transaction, which comes after the answer"
    until(lambda: control_batches(kafka, topic) == 2, what=markers, seconds=SECONDS)
    assert all(each.is_transactional for each in kafka.cluster.batches(1, topic))
    if library not in WITHOUT_OFFSETS:
        found = kafka.cluster.admin.committed_offset
        until(lambda: found(group, topic) == 1, what="the offset of the first transaction", seconds=SECONDS)


def test_a_record_that_expires_is_reported_with_the_librarys_own_error(kafka: Kafka, make: Making) -> None:
    topic = kafka.topic()
    settings = {
        "linger.ms": "0",
        "request.timeout.ms": "1000",
        "delivery.timeout.ms": "1500",
        "enable.idempotence": "false",
    }
    producer = make("java", "producer", topic, settings)
    producer.ask("prepare", seconds=SECONDS)
    gate = kafka.proxy.gate("client->1", apis={"Produce"}, client=producer_id(producer))
    producer.send("send", record=1)
    report = producer.wait_event(event_is("report"), what="the report", seconds=EXPIRES)
    gate.remove()
    assert (report["code"], report["offset"]) == ("TimeoutException", None)
    assert report["error"].startswith("org.apache.kafka.common.errors.TimeoutException: ")


def control_batches(kafka: Kafka, topic: str) -> int:
    return sum(each.is_control for each in kafka.cluster.batches(1, topic))


def producer_id(client: ClientProcess) -> str:
    """Return the client id of a client, which its name ends with."""
    return client.name.rpartition(" ")[2]
