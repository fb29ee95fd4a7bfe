"""Python programs with kafka-python and aiokafka: arguments, topics, and what becomes of a send."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.model.deployment.consumer_rules import NULL_GROUP
from proofka.model.deployment.dialects import python_source
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import read_text, values

NAME = "Python source"
SHOP = """import os
import ssl
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic

TOPIC = "orders"
common = {"bootstrap_servers": os.environ["BROKERS"], "security_protocol": "SASL_SSL", "sasl_plain_password": "hush"}

def producer():
    return KafkaProducer(
        **common,
        acks=-1,
        retries=float("inf"),
        enable_idempotence=False,
        max_in_flight_requests_per_connection=2 + 3,
        value_serializer=lambda value: value.encode(),
        ssl_context=ssl.create_default_context(),
        api_version=(2, 0),
        linger_ms=int(os.getenv("LINGER", "5")),
        key_serializer=None,
    )

out = producer()
out.send(TOPIC, b"1").add_errback(print)
consumer = KafkaConsumer(
    TOPIC,
    "bills",
    group_id="shop",
    enable_auto_commit=False,
    partition_assignment_strategy=[assignors.RangePartitionAssignor, RoundRobinPartitionAssignor],
    consumer_timeout_ms=float("inf"),
    max_poll_records=SIZE,
    **common,
)
KafkaAdminClient(**common).create_topics([
    NewTopic(TOPIC, 6, replication_factor=3, topic_configs={"min.insync.replicas": 2, "cleanup.policy": POLICY}),
    NewTopic(name=f"{TOPIC}-dead", num_partitions=1, replication_factor=1),
    NewTopic(name=other(), num_partitions=1, replication_factor=1),
])
"""


def py(body: str, first: str = "from kafka import KafkaConsumer, KafkaProducer") -> Found:
    """Return the content of a file."""
    return read_text(f"{first}\n{body}\n", "a.py", dialect=NAME)


def aio(body: str) -> Found:
    return py(body, "from aiokafka import AIOKafkaConsumer, AIOKafkaProducer")


def answers(found: Found) -> dict[str, str]:
    """Return the assumptions about the only component's application."""
    (component,) = found.components
    return {key: one.value for key, one in component.application.items()}


def library(component: Component) -> str:
    assert component.client is not None
    return component.client.value


def test_arguments_of_kafka_python() -> None:
    found = read_text(SHOP, "shop.py", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "security_protocol": "SASL_SSL",
        "sasl_plain_password": "hush",
        "acks": "-1",
        "retries": "2147483647",
        "enable_idempotence": "false",
        "max_in_flight_requests_per_connection": "5",
        "linger_ms": "5",
    }
    assert values(found, Role.CONSUMER) == {
        "group_id": "shop",
        "enable_auto_commit": "false",
        "partition_assignment_strategy": "RangePartitionAssignor,RoundRobinPartitionAssignor",
        "consumer_timeout_ms": "2147483647",
        "security_protocol": "SASL_SSL",
        "sasl_plain_password": "hush",
    }
    assert {one.given.key: one.reason for one in found.rejected} == {
        "max_poll_records": "its value is not in this file: SIZE",
        "cleanup.policy": "its value is not in this file: POLICY",
        "NewTopic": "the name of the topic is not in this file",
    }
    assert {one.given.key for one in found.ignored} == {
        "bootstrap_servers",
        "value_serializer",
        "ssl_context",
        "api_version",
        "key_serializer",
    }
    assert "hush" not in str(found.ignored + found.rejected)


def test_topics_that_are_written_read_and_created() -> None:
    found = read_text(SHOP, "shop.py", dialect=NAME)
    (producer,), (consumer,) = found.by_role[Role.PRODUCER], found.by_role[Role.CONSUMER]
    assert {library(producer), library(consumer)} == {"kafka-python"}
    assert (producer.topics, consumer.topics) == (("orders",), ("orders", "bills"))
    assert [one.name for one in found.by_role[Role.TOPIC]] == ["orders", "orders-dead"]
    assert values(found, Role.TOPIC) == {"partitions": "6", "replication.factor": "3", "min.insync.replicas": "2"}


def test_topics_that_confluents_client_creates() -> None:
    text = "NewTopic('t', num_partitions=2, replication_factor=3, config={'retention.ms': '1'})"
    found = py(text, "from confluent_kafka.admin import NewTopic")
    assert values(found, Role.TOPIC) == {"partitions": "2", "replication.factor": "3", "retention.ms": "1"}
    unknown = py("NewTopic('t', 2, 3, config=load())", "from confluent_kafka.admin import NewTopic")
    assert [one.given.key for one in unknown.rejected] == ["settings"]
    assert not py("NewTopic('t', 2, 3)", "import kafka\nfrom shop import NewTopic").components


@pytest.mark.parametrize(
    ("body", "topics"),
    [
        ("c = KafkaConsumer(group_id='g')\nc.subscribe(['a', 'b'])", ("a", "b")),
        ("c = KafkaConsumer(group_id='g')\nc.subscribe(topics=('a',))", ("a",)),
        ("c = KafkaConsumer(group_id='g')\nc.subscribe('a')", ("a",)),
        ("c = KafkaConsumer(group_id='g')\nc.assign([TopicPartition('a', 0)])", ("a",)),
        ("p = KafkaProducer()\np.send('a', b'')\np.send(topic='b')", ("a", "b")),
        ("p = KafkaProducer()\ndef f(q):\n    q.send('a', b'')", ("a",)),
        ("p = KafkaProducer()\nq = KafkaProducer()\nq.send('a', b'')", ()),
    ],
)
def test_topics_are_those_that_the_program_names(body: str, topics: tuple[str, ...]) -> None:
    assert py(body).components[0].topics == topics


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("p.send('t', b'')", {"on_send_error": "ignore"}),
        ("p.send('t', b'').add_callback(print)", {"on_send_error": "ignore"}),
        ("p.send('t', b'').add_callback(print).add_errback(print)", {}),
        ("p.send('t', b'').get(timeout=10)", {"sends": "sync"}),
        ("f = p.send('t', b'')\nf.get()", {"sends": "sync"}),
        ("f = p.send('t', b'')\ntry:\n    f.get()\nexcept KafkaError:\n    pass", {"sends": "sync"}),
        ("for x in y:\n    f = p.send('t', x)\nf.get()", {}),
        ("f = p.send('t', b'')\ng = p.send('t', b'')\nf.get()", {}),
        ("all.append(p.send('t', b''))", {}),
        ("p.send('t', b'').get()\np.send('t', b'')", {}),
        ("return_it = 1", {}),
    ],
)
def test_treatment_of_send_errors_in_kafka_python_is_read(body: str, said: dict[str, str]) -> None:
    assert answers(py(f"p = KafkaProducer(acks=1)\n{body}")) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("await p.send_and_wait('t', b'')", {"sends": "sync"}),
        ("await p.send('t', b'')", {"on_send_error": "ignore"}),
        ("await (await p.send('t', b''))", {"sends": "sync"}),
        ("f = await p.send('t', b'')", {}),
        ("create_task(p.send_and_wait('t', b''))", {}),
        ("await p.send_and_wait('t', b'')\n    await p.send('t', b'')", {}),
    ],
)
def test_treatment_of_send_errors_in_aiokafka_is_read(body: str, said: dict[str, str]) -> None:
    found = aio(f"async def f():\n    p = AIOKafkaProducer(acks='all')\n    {body}")
    assert answers(found) == said
    assert found.components[0].topics == ("t",) and library(found.components[0]) == "aiokafka"


@pytest.mark.parametrize(
    ("arguments", "group", "commit"),
    [
        ("'t'", NULL_GROUP, "never"),
        ("'t', group_id=None", NULL_GROUP, "never"),
        ("'t', group_id='g'", "g", None),
        ("'t', group_id=GROUP", None, None),
        ("'t', **conf", None, None),
    ],
)
@pytest.mark.parametrize("of", ["kafka.KafkaConsumer", "aiokafka.AIOKafkaConsumer"])
def test_consumer_without_a_group_commits_no_offsets(
    of: str, arguments: str, group: str | None, commit: str | None
) -> None:
    found = py(f"c = {of}({arguments})", f"import {of.partition('.')[0]}")
    (consumer,) = found.components
    assert consumer.topics == ("t",)
    assert values(found, Role.CONSUMER).get("group_id") == group
    assert answers(found).get("commit") == commit


def test_unknown_keys_of_a_dictionary_may_hold_a_group() -> None:
    found = py("conf = {}\nfor key in keys:\n    conf[key] = 1\nc = KafkaConsumer('t', **conf)")
    assert not found.components[0].application and found.rejected


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nothing_but_an_error_of_ours(data: st.DataObject) -> None:
    at, to = sorted(data.draw(st.tuples(*[st.integers(60, len(SHOP))] * 2)))
    words = st.sampled_from(
        ["send(", "NewTopic(", "name=", "*x", ")", "{", "}", "\n", "**", "[", "]", ",", "await ", "="]
    )
    text = SHOP[:at] + "".join(data.draw(st.lists(words, max_size=6))) + SHOP[to:]
    try:
        python_source.read(Document("a.py", text), {})
    except DeploymentError as error:
        assert "\n" not in str(error)
