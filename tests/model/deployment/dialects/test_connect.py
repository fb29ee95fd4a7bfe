"""Kafka Connect, MirrorMaker 2 and Kafka Streams: what they set by themselves, and whose a setting is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects import connect, mirror_maker, streams
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.document import Document, read_document
from proofka.model.deployment.dialects.recognising import dialect_of
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import (
    REAL,
    lines_of,
    needs_real_files,
    read_file,
    read_text,
    unaccounted,
    values,
)
from tests.model.deployment.dialects.mutations import near

WORKER = """\
bootstrap.servers=a:9092
group.id=workers
key.converter=x
offset.storage.topic=offsets
producer.acks=1
producer.max.in.flight.requests.per.connection=5
consumer.max.poll.records=7
consumer.acks=0
max.poll.records=9
sasl.jaas.config=password
"""
SINK = {
    "name": "orders-sink",
    "config": {
        "connector.class": "io.example.JdbcSinkConnector",
        "topics": "orders, payments",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "dead",
        "consumer.override.auto.offset.reset": "latest",
        "producer.override.acks": "1",
        "connection.password": "hunter2",
    },
}
MIRROR = """\
clusters = a, b
a.bootstrap.servers = a:1
b.bootstrap.servers = b:1
b.producer.acks = 1
b.producer.enable.auto.commit = true
a.consumer.enable.auto.commit = true
a.consumer.max.poll.records = 5
a->b.enabled = true
a->b.topics = orders, .*
a->b.consumer.max.poll.records = 6
b->a.enabled = false
b->a.topics = x
c->a.enabled = true
producer.linger.ms = 5
replication.factor = 2
"""
STREAMS = """\
application.id=shop
bootstrap.servers=a:1
processing.guarantee=exactly_once_v2
commit.interval.ms=50
linger.ms=5
producer.linger.ms=6
producer.transactional.id=mine
consumer.enable.auto.commit=true
consumer.isolation.level=read_uncommitted
consumer.max.poll.records=1
main.consumer.max.poll.records=2
restore.consumer.max.poll.records=3
request.timeout.ms=4
input.topic.name=orders
my.own=1
"""


def answers(component: Component) -> dict[str, str]:
    """Return the application's assumptions in the file."""
    return {key: one.value for key, one in component.application.items()}


def test_a_worker_gives_its_producers_the_settings_that_keep_records() -> None:
    found = read_text(WORKER, "connect-distributed.properties", dialect=connect.NAME)
    producer = values(found, Role.PRODUCER)
    assert producer["acks"] == "1"
    assert producer["max.in.flight.requests.per.connection"] == "5"
    assert producer["enable.idempotence"] == "false"
    assert producer["delivery.timeout.ms"] == "2147483647"
    assert "transactional.id" not in producer
    assert values(found, Role.CONSUMER) == {
        "enable.auto.commit": "false",
        "auto.offset.reset": "earliest",
        "bootstrap.servers": "a:9092",
        "max.poll.records": "7",
    }
    assert answers(found.by_role[Role.PRODUCER][0]) == {"on_send_error": "halt", "on_restart": "from-acknowledged"}
    assert answers(found.by_role[Role.CONSUMER][0]) == {"commit": "async"}
    assert {one.given.key: one.reason for one in found.ignored}["max.poll.records"] == connect.NOT_PASSED_ON


def test_exactly_once_sources() -> None:
    for said, transactional in (("enabled", True), ("preparing", False), ("ENABLED", True)):
        found = read_text(f"{WORKER}exactly.once.source.support={said}\n", "connect.properties")
        producer = values(found, Role.PRODUCER)
        assert ("transactional.id" in producer) is transactional
        assert producer["enable.idempotence"] == str(transactional).lower()
    assert read_text(f"{WORKER}exactly.once.source.support=yes\n", "connect.properties").rejected


def test_a_sink_in_json() -> None:
    found = read_text(json.dumps(SINK, indent="\t"), "sink.json", dialect=connect.NAME)
    (consumer,) = found.components
    assert consumer.name == "orders-sink"
    assert consumer.topics == ("orders", "payments")
    assert values(found, Role.CONSUMER) == {
        "enable.auto.commit": "false",
        "auto.offset.reset": "latest",
        "group.id": "connect-orders-sink",
    }
    assert answers(consumer) == {"commit": "async", "on_processing_error": "forward-unconfirmed"}
    assert "hunter2" not in repr(found)
    assert lines_of(found) >= set(range(4, 11))


def test_a_sink_that_skips_and_one_that_fails() -> None:
    text = "name=s\nconnector.class=x.FileStreamSink\ntopics=a\nerrors.tolerance={}\n"
    skips = read_text(text.format("all"), "s.properties").components[0]
    assert answers(skips)["on_processing_error"] == "skip"
    assert "on_processing_error" not in answers(read_text(text.format("none"), "s.properties").components[0])
    assert read_text(text.format("some"), "s.properties").rejected


def test_a_source_in_properties() -> None:
    text = "name=s\nconnector.class=io.debezium.connector.mysql.MySqlConnector\nproducer.override.acks=1\n"
    text += "errors.tolerance=all\ntopic.creation.default.replication.factor=2\n"
    found = read_text(text, "s.properties", dialect=connect.NAME)
    (producer,) = found.components
    assert producer.role is Role.PRODUCER
    assert values(found, Role.PRODUCER)["acks"] == "1"
    assert answers(producer)["on_send_error"] == "drop"
    assert [one.given.origin.line for one in found.rejected] == [5]


def test_mirror_maker() -> None:
    found = read_text(MIRROR, "mm2.properties", dialect=mirror_maker.NAME)
    consumer, producer = found.components
    assert values(found, Role.CONSUMER) == {
        "auto.offset.reset": "earliest",
        "enable.auto.commit": "false",
        "bootstrap.servers": "a:1",
        "max.poll.records": "6",
    }
    assert consumer.topics == ("orders",)
    assert producer.topics == ("a.orders",)
    assert producer.settings["acks"].value == "1"
    assert producer.settings["bootstrap.servers"].value == "b:1"
    assert answers(producer) == {"on_send_error": "halt", "on_restart": "from-acknowledged"}
    reasons = {one.given.origin.line: one.reason for one in found.ignored}
    assert reasons[6].startswith("is always false")
    assert reasons[7].startswith("another value")
    assert reasons[14].startswith("reaches no client")
    assert [one.given.origin.line for one in found.rejected] == [15]


def test_mirror_maker_exactly_once_and_nothing() -> None:
    found = read_text(MIRROR + "b.exactly.once.source.support=enabled\n", "mm2.properties")
    assert values(found, Role.PRODUCER)["transactional.id"].startswith("a-mm2")
    found = read_text("clusters=a,b\na.bootstrap.servers=a:1\n", "mm2.properties", dialect=mirror_maker.NAME)
    assert not found.components
    assert found.notes


def test_streams_with_exactly_once() -> None:
    found = read_text(STREAMS, "streams.properties", dialect=streams.NAME)
    consumer, producer = found.components
    assert values(found, Role.CONSUMER) == {
        "auto.offset.reset": "earliest",
        "enable.auto.commit": "false",
        "isolation.level": "read_committed",
        "bootstrap.servers": "a:1",
        "request.timeout.ms": "4",
        "max.poll.records": "2",
        "group.id": "shop",
    }
    assert answers(consumer) == {"processing": "poll-thread", "sink": "kafka", "group_metadata": "passed"}
    assert consumer.topics == ("orders",)
    assert values(found, Role.PRODUCER) == {
        "delivery.timeout.ms": "2147483647",
        "retries": "2147483647",
        "enable.idempotence": "true",
        "transaction.timeout.ms": "10000",
        "bootstrap.servers": "a:1",
        "request.timeout.ms": "4",
        "linger.ms": "6",
        "transactional.id": "shop-TASK",
    }
    assert producer.settings["transactional.id"].origin.line == 3


def test_streams_at_least_once() -> None:
    text = "application.id=a\nbootstrap.servers=a:1\nproducer.enable.idempotence=false\n"
    text += "default.deserialization.exception.handler=org.x.LogAndContinueExceptionHandler\n"
    found = read_text(text, "streams.properties", dialect=streams.NAME)
    consumer, producer = found.components
    assert values(found, Role.PRODUCER)["enable.idempotence"] == "false"
    assert "transactional.id" not in producer.settings
    assert answers(consumer) == {"processing": "poll-thread", "commit": "after", "on_processing_error": "skip"}
    assert answers(producer) == {"on_send_error": "halt", "on_restart": "from-acknowledged"}
    assert read_text("processing.guarantee=twice\n", "s.properties").rejected


def test_embedded_file_keeps_its_own_name_and_lines() -> None:
    document = Document("map.yml", STREAMS, inside="application.properties", first=10)
    found = streams.read(document, {})
    assert found.components[0].settings["max.poll.records"].origin.line == 21
    assert found.components[0].settings["max.poll.records"].origin.file == "map.yml"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("producer.properties", "bootstrap.servers=a\nacks=1\n"),
        ("package.json", '{"name": "x", "scripts": {"a": "b"}}'),
        ("x.json", '"text"'),
        ("app.properties", "clusters=a\nx=1\n"),
    ],
)
def test_files_of_other_programs_are_not_read_as_connect_mirrormaker_or_streams(name: str, text: str) -> None:
    for module in (connect, mirror_maker, streams):
        assert not module.fits(Document(name, text))


@needs_real_files
@pytest.mark.parametrize("path", sorted(REAL.glob("connect-streams/*")), ids=lambda path: path.name)
def test_every_value_of_real_files_goes_somewhere(path: Path) -> None:
    assert not unaccounted(read_document(path).properties, read_file(path))


@pytest.mark.parametrize("text", [WORKER, MIRROR, STREAMS, "connector.class=a.Sink\ntopics=x\nconsumer.override.x=1\n"])
def test_any_text_is_read_or_refused(text: str) -> None:
    @settings(max_examples=30, deadline=None)
    @given(near(text))
    def try_out(changed: str) -> None:
        document = Document("a.properties", changed)
        dialect_of(document)
        for module in (connect, mirror_maker, streams):
            try:
                found = module.read(document, {})
            except DeploymentError:
                return
            assert not unaccounted(document.properties, found)

    try_out()


@settings(max_examples=60, deadline=None)
@given(near(json.dumps(SINK, indent=1)))
def test_any_json_is_read_or_refused(text: str) -> None:
    document = Document("a.json", text)
    if connect.fits(document):
        connect.read(document, {})


def test_a_connector_in_a_file_that_is_not_named_json() -> None:
    text = '{"name": "s", "config": {"connector.class": "x.Source", "producer.override.acks": "0"}}'
    found = read_text(text, "source.config", dialect=connect.NAME)
    assert values(found, Role.PRODUCER)["acks"] == "0"


def test_topics_created_with_the_assumed_replicas_are_accepted() -> None:
    text = "name=s\nconnector.class=io.Source\ntopic.creation.default.replication.factor={}\n"
    text += "topic.creation.default.partitions=4\nproducer.override.acks=1\n"
    for replicas, rejected in (("3", []), ("1", ["topic.creation.default.replication.factor"])):
        found = read_text(text.format(replicas), "s.properties", dialect=connect.NAME)
        assert [one.given.key for one in found.rejected] == rejected


def test_a_program_with_converters_of_connect_is_no_worker() -> None:
    """Debezium's process for Cassandra has its own producer, whose settings begin with kafka.producer."""
    text = "key.converter=x\nvalue.converter=y\nkafka.producer.bootstrap.servers=a:1\nkafka.producer.retries=3\n"
    document = Document("config.properties", text)
    dialect = dialect_of(document)
    assert dialect is not None and dialect is not connect.DIALECT
    (producer,) = dialect.read(document, {}).components
    assert producer.role is Role.PRODUCER
    assert producer.settings["retries"].value == "3"
    worker = Document("worker.properties", "bootstrap.servers=a:1\nkey.converter=x\nvalue.converter=y\n")
    assert dialect_of(worker) is connect.DIALECT
