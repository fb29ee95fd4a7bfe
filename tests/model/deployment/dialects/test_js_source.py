"""JavaScript and TypeScript: objects for node-rdkafka, and programs that are broken."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.model.deployment.dialects import js_source
from proofka.model.deployment.dialects.component import Found, Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import read_text, values

NAME = "JavaScript source"
RDKAFKA = """const Kafka = require('node-rdkafka');
const base = { 'metadata.broker.list': process.env.BROKERS || 'localhost:9092' };
const producer = new Kafka.HighLevelProducer({
  ...base,
  'dr_cb': true,
  'retry.backoff.ms': 2 * 100,
  acks: process.env.ACKS,
  'message.send.max.retries': tries(),
  'debug': undefined,
}, { 'message.timeout.ms': 1_000 });
const conf = { 'group.id': 'g' };
if (process.env.X) { conf['enable.auto.commit'] = false; }
conf['session.timeout.ms'] = 6000;
const consumer = new Kafka.KafkaConsumer(conf, { 'auto.offset.reset': 'earliest' });
const stream = Kafka.KafkaConsumer.createReadStream({ 'group.id': 'x' }, {}, { topics: ['a', 'b'] });
const other = new Kafka.Producer(cfg.kafka);
"""
KAFKAJS = """import { Kafka } from 'kafkajs';
const kafka = new Kafka({ clientId: 'shop', brokers: ['a:1'], retry: { retries: 3 } });
const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
const consumer: Consumer = kafka.consumer({ groupId: 'g' });
await consumer.subscribe({ topic: 't', fromBeginning: true });
await producer.send({ topic: 't', acks: 1, messages: [] });
"""


def reasons(found: Found) -> dict[str, str]:
    """Return the reason for which each value is in no component."""
    return {one.given.key: one.reason for one in (*found.ignored, *found.rejected)}


def test_objects_for_node_rdkafka() -> None:
    found = read_text(RDKAFKA, "kafka.js", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "metadata.broker.list": "localhost:9092",
        "retry.backoff.ms": "200",
        "message.timeout.ms": "1000",
    }
    assert values(found, Role.CONSUMER) == {
        "group.id": "g",
        "session.timeout.ms": "6000",
        "auto.offset.reset": "earliest",
    }
    assert found.by_role[Role.CONSUMER][1].topics == ("a", "b")
    assert {one.given.key: one.reason for one in found.rejected} == {
        "acks": "its value is not in this file: process.env.ACKS",
        "message.send.max.retries": "its value is not in this file: tries()",
        "enable.auto.commit": "is set only if process.env.X",
        "settings": "its settings are not in this file: cfg.kafka",
    }
    assert {one.given.key for one in found.ignored} == {"dr_cb", "debug"}
    assert {one.client.value for one in found.components if one.client} == {"librdkafka"}


def test_environment_variable_with_a_given_value_is_filled_in() -> None:
    assert values(read_text(RDKAFKA, "kafka.js", {"ACKS": "1"}), Role.PRODUCER)["acks"] == "1"


def test_librdkafka_behind_the_interface_of_kafkajs() -> None:
    text = "const { Kafka } = require('@confluentinc/kafka-javascript').KafkaJS;\nconst k = new Kafka();\n"
    text += "const p = k.producer({ kafkaJS: { acks: 1 }, 'linger.ms': 5 });\n"
    found = read_text(text, "a.js", dialect=NAME)
    assert values(found, Role.PRODUCER) == {"linger.ms": "5"}
    assert "KafkaJS block" in reasons(found)["acks"]


def test_other_files_are_not_taken() -> None:
    assert not js_source.fits(Document("a.js", "const x = require('rdkafka');\n"))
    assert not js_source.fits(Document("a.md", RDKAFKA))


def test_broken_files_are_one_line() -> None:
    with pytest.raises(DeploymentError, match=r"a\.js:2: is not valid JavaScript"):
        read_text("const k = require('kafkajs');\nlet = = 3;\n", "a.js")
    with pytest.raises(DeploymentError, match=r"not valid TypeScript|nested deeper"):
        read_text("import 'kafkajs'; let x = " + "[" * 5000, "a.ts")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nothing_but_an_error_of_ours(data: st.DataObject) -> None:
    base = data.draw(st.sampled_from([RDKAFKA, KAFKAJS]))
    at, to = sorted(data.draw(st.tuples(*[st.integers(50, len(base))] * 2)))
    words = st.sampled_from(["conf", " = ", "(", ")", "{", "}", "\n", "...", "'", "`", "[", "]", ":", ",", "await "])
    text = base[:at] + "".join(data.draw(st.lists(words, max_size=6))) + base[to:]
    try:
        js_source.read(Document("a.js", text), {})
    except DeploymentError as error:
        assert "\n" not in str(error)


def test_repeatedly_doubled_numbers_are_rejected_quickly() -> None:
    doubled = "".join(f"const a{n} = a{n - 1} + a{n - 1};\n" for n in range(1, 40))
    text = f"const Kafka = require('node-rdkafka');\n{doubled}new Kafka.Producer({{'acks': a39}});\n"
    assert [one.reason for one in read_text(text, "a.js").rejected] == ["its value is not in this file: a39"]
