"""Java clients' properties: whose a key is, old names, what Java makes of the text, librdkafka's in a flat file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects import java_client
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.document import Document, read_document
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, unaccounted, values
from tests.model.deployment.dialects.mutations import near

JAVA = java_client.NAME
BOTH = """\
# of an application
kafka.bootstrap.servers=a:9092
kafka.producer.acks=all
kafka.producer.lingger.ms=5
kafka.consumer.group.id=g
kafka.consumer.enable.auto.commit=false
kafka.topic=orders
db.url=jdbc:x
"""
OLD = """\
metadata.broker.list=a:9092
serializer.class=kafka.serializer.StringEncoder
producer.type=async
request.required.acks=-1
compression.codec=2
message.send.max.retries=7
queue.enqueue.timeout.ms=-1
"""


def test_name_of_the_file_decides_the_client() -> None:
    text = "bootstrap.servers=a:9092\nacks=all\nenable.auto.commit=false\nmin.insync.replicas=2\n"
    found = read_text(text, "x/orders-producer.properties", dialect=JAVA)
    assert [one.role for one in found.components] == [Role.PRODUCER]
    assert values(found, Role.PRODUCER) == {"bootstrap.servers": "a:9092", "acks": "all"}
    assert {one.given.key: one.reason.split(":")[0] for one in found.ignored} == {
        "enable.auto.commit": "a consumer's setting",
        "min.insync.replicas": "a broker's setting",
    }


def test_prefix_of_a_key_decides_the_client() -> None:
    found = read_text(BOTH, "app.properties", dialect=JAVA)
    assert values(found, Role.PRODUCER) == {"bootstrap.servers": "a:9092", "acks": "all", "lingger.ms": "5"}
    assert values(found, Role.CONSUMER) == {
        "bootstrap.servers": "a:9092",
        "group.id": "g",
        "enable.auto.commit": "false",
    }
    assert found.components[0].topics == ("orders",)
    assert {one.given.origin.line for one in found.ignored} == {7, 8}


def test_one_block_for_both_without_any_prefix() -> None:
    found = read_text("mine.acks=1\nmine.group.id=g\nmine.bootstrap.servers=a:1\n", "a.properties", dialect=JAVA)
    assert values(found, Role.PRODUCER) == {"acks": "1", "bootstrap.servers": "a:1"}
    assert values(found, Role.CONSUMER) == {"group.id": "g", "bootstrap.servers": "a:1"}


def test_addresses_alone_are_no_client() -> None:
    found = read_text("bootstrap.servers=a:9092\nsecurity.protocol=SSL\n", "admin.properties", dialect=JAVA)
    assert not found.components
    assert {one.reason for one in found.ignored} == {java_client.SHARED}


def test_a_file_for_all_clients() -> None:
    text = "bootstrap.servers=a:1\nsasl.mechanisms=PLAIN\nsession.timeout.ms=45000\n"
    assert not read_text(text, "client.properties", dialect=JAVA).components


def test_group_beside_zookeeper_is_a_consumer() -> None:
    found = read_text("zookeeper.connect=z:2181\ngroup.id=g\n", "kafka.properties", dialect=JAVA)
    assert values(found, Role.CONSUMER)["group.id"] == "g"


def test_old_names_have_their_old_meaning() -> None:
    found = read_text(OLD, "kafka.properties", dialect=JAVA)
    assert values(found, Role.PRODUCER) == {
        "bootstrap.servers": "a:9092",
        "value.serializer": "kafka.serializer.StringEncoder",
        "acks": "-1",
        "compression.type": "snappy",
        "retries": "7",
        "max.block.ms": "9223372036854775807",
        "request.timeout.ms": "10000",
        "max.in.flight.requests.per.connection": "1",
        "enable.idempotence": "false",
    }
    (producer,) = found.components
    assert {key: given.value for key, given in producer.application.items()} == {
        "sends": "async",
        "on_send_error": "ignore",
    }
    assert any("a Java client ignores them" in note for note in found.notes)


def test_an_old_consumer_commits_records_it_has_handed_over() -> None:
    found = read_text("zookeeper.connect=z:2181\nconsumer.timeout.ms=9\nauto.offset.reset=smallest\n", "c.properties")
    (consumer,) = found.by_role[Role.CONSUMER]
    assert consumer.settings["auto.offset.reset"].value == "earliest"
    assert consumer.application["commit"].value == "delivered"


def test_an_old_name_beside_a_new_one_decides_nothing() -> None:
    found = read_text("request.required.acks=0\nacks=all\nkey.serializer=x\n", "producer.properties")
    assert values(found, Role.PRODUCER)["acks"] == "all"
    assert any("which counts" in note for note in found.notes)


def test_no_kind_of_sending() -> None:
    found = read_text("metadata.broker.list=a:1\nproducer.type=later\n", "producer.properties")
    assert [one.given.key for one in found.rejected] == ["producer.type"]


def test_java_keeps_the_last_of_a_key() -> None:
    found = read_text("acks=0\nlinger.ms=1\nacks=\\\n  all\n", "producer.properties")
    assert values(found, Role.PRODUCER)["acks"] == "all"
    assert [(one.given.origin.line, "line 3" in one.reason) for one in found.rejected] == [(1, True)]


def test_a_byte_order_mark_takes_the_first_key_with_it(tmp_path: Path) -> None:
    path = tmp_path / "producer.properties"
    path.write_bytes(b"\xef\xbb\xbfacks=all\nlinger.ms=1\n")
    found = read_file(path, dialect=JAVA)
    assert "acks" not in values(found, Role.PRODUCER)
    assert [one.given.origin.line for one in found.rejected] == [1]
    path.write_bytes(b"\xef\xbb\xbf# a comment\nacks=all\n")
    assert values(read_file(path), Role.PRODUCER) == {"acks": "all"}


def test_templates() -> None:
    text = (
        "bootstrap.servers=a:1\nacks={{ acks }}\n{% if slow %}\nlinger.ms=5\nretries=1\nclient.id=x\n{% endif %}\n"
        "{more}\nbatch.size={% for x in y %}\n{{ x }}\n{% endfor %}\nretry.backoff.ms=1\n"
    )
    found = read_text(text, "producer.properties", {"acks": "1"})
    assert values(found, Role.PRODUCER) == {"bootstrap.servers": "a:1", "acks": "1", "retry.backoff.ms": "1"}
    assert [one.given.origin.line for one in found.rejected] == [4, 5, 8]  # linger.ms is a duration that is read
    assert sorted({one.given.origin.line for one in found.ignored} - {9}) == [3, 6, 7, 10, 11]


def test_dictionaries_of_python_are_librdkafkas() -> None:
    text = "bootstrap.servers=a:1\n'default.topic.config'={'acks': 'all', 'x': True}\nqueuing.strategy=fifo\n"
    found = read_text(text, "producer.config", dialect=JAVA)
    (producer,) = found.components
    assert producer.client is not None
    assert producer.client.value == "librdkafka"
    assert values(found, Role.PRODUCER) == {"bootstrap.servers": "a:1", "acks": "all", "queuing.strategy": "fifo"}
    text = "acks=1\n'default.topic.config'={'acks': open('x')}\n"
    assert [one.given.origin.line for one in read_text(text, "producer.config").rejected] == [2]


def test_secrets_are_in_no_component() -> None:
    found = read_text("acks=all\nsasl.jaas.config=x password='hunter2';\n", "producer.properties")
    assert "hunter2" not in repr(found)


def test_sections() -> None:
    text = (
        "[default]\nbootstrap.servers=a:1\nsasl.mechanisms=PLAIN\n[consumer]\ngroup.id=g\nauto.offset.reset=earliest\n"
    )
    found = read_text(text, "config.cfg", dialect=JAVA)
    assert values(found, Role.CONSUMER) == {
        "bootstrap.servers": "a:1",
        "sasl.mechanisms": "PLAIN",
        "group.id": "g",
        "auto.offset.reset": "earliest",
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.properties", "server.port=80\nproject.group.id=x\nzookeeper.session.timeout.ms=5\n"),
        ("a.conf", '{\n"acks": 1,\n"brokers": "x"\n}\n'),
        ("a.conf", "acks=1\nx=1\ny=2\nz=3\n"),
        ("a.yaml", "acks: all\n"),
        ("a.properties", "acks=\\u12\n"),
    ],
)
def test_files_of_other_programs_are_not_read_as_a_java_client(name: str, text: str) -> None:
    assert not java_client.fits(Document(name, text))


def test_a_malformed_escape_has_a_line() -> None:
    with pytest.raises(DeploymentError, match=r"a\.properties:2"):
        java_client.read(Document("a.properties", "acks=1\nx=\\u12\n"), {})


@needs_real_files
@pytest.mark.parametrize(
    "path",
    [*sorted(REAL.glob("java-client-properties/*")), *REAL.glob("spring/canal.properties")],
    ids=lambda path: path.name,
)
def test_every_value_of_real_files_goes_somewhere(path: Path) -> None:
    document = read_document(path)
    assert not unaccounted(document.properties, read_file(path))


@pytest.mark.parametrize("twice", ["acks=1\n.acks=all\n", "kafka.producer.acks=1\nkafka.producer..acks=all\n"])
def test_a_name_with_an_empty_part_is_no_setting(twice: str) -> None:
    (component,) = java_client.read(Document("a.properties", twice), {}).components
    assert component.settings["acks"].value == "1"


def test_a_setting_that_two_prefixes_set_is_rejected() -> None:
    text = "kafka.producer.acks=1\nkafka.producers.acks=all\nkafka.producer.linger.ms=3\n"
    document = Document("a.properties", text)
    found = java_client.read(document, {})
    (rejected,) = found.rejected
    assert (rejected.given.key, rejected.reason) == (
        "kafka.producers.acks",
        "sets acks, as kafka.producer.acks does: keep one of the two",
    )
    assert not unaccounted(document.properties, found)


@settings(max_examples=60, deadline=None)
@given(near(BOTH + OLD + "'default.topic.config'={'acks': 'all'}\n"))
def test_any_text_is_read_or_refused(text: str) -> None:
    document = Document("a.properties", text)
    java_client.fits(document)
    try:
        found = java_client.read(document, {})
    except DeploymentError:
        return
    assert not unaccounted(document.properties, found)


@pytest.mark.parametrize(
    ("text", "client"),
    [
        ("request.required.acks=1\nenable.idempotence=false\nmetadata.broker.list=a:1\n", "librdkafka"),
        ("request.required.acks=1\nmetadata.broker.list=a:1\n", None),
        ("acks=1\nenable.idempotence=false\ndelivery.timeout.ms=9000\n", None),
        ("request.required.acks=1\nenable.idempotence=false\nmax.block.ms=9\n", None),
    ],
)
def test_old_names_beside_new_names_reveal_librdkafka(text: str, client: str | None) -> None:
    (producer,) = read_text(text, "producer.properties", dialect=JAVA).components
    assert (None if producer.client is None else producer.client.value) == client


@pytest.mark.parametrize(
    ("lines", "topics", "told"),
    [
        ("kafka.topic=orders\n", {"orders": "1"}, False),
        ("kafka.topic=orders,returns\n", {}, True),
        ("", {}, True),
    ],
)
def test_the_replicas_of_a_topic_of_the_application(lines: str, topics: dict[str, str], *, told: bool) -> None:
    """Three replicas would be assumed for the topic of the file."""
    text = f"kafka.bootstrap.servers=b:9092\nkafka.enable.idempotence=true\nkafka.replication.factor=1\n{lines}"
    found = read_text(text, "application.properties")
    assert {one.name: one.settings["replication.factor"].value for one in found.by_role[Role.TOPIC]} == topics
    assert any("--assume replicas=1" in note for note in found.notes) is told
