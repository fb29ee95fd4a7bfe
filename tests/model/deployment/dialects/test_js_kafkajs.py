"""KafkaJS and NestJS in programs: options of clients, of what they make, and of calls."""

from __future__ import annotations

from proofka.model.deployment.dialects.component import Found, Role
from proofka.model.deployment.dialects.finding import Findings
from proofka.model.deployment.dialects.judging import judge
from proofka.model.deployment.dialects.pairing import pair
from tests.model.deployment.dialects.accounting import read_text, values

NAME = "JavaScript source"
SHOP = """import { Kafka, Partitioners } from 'kafkajs';
const retry = { retries: 8, initialRetryTime: 100 };
const kafka = new Kafka({ clientId: 'shop', brokers: process.env.BROKERS.split(','), retry,
  ssl: true, sasl: { mechanism: 'plain', username: 'shop', password: 'geheim' } });
const producer = kafka.producer({ allowAutoTopicCreation: false, maxInFlightRequests: 1,
  createPartitioner: Partitioners.LegacyPartitioner });
const consumer = kafka.consumer({ groupId: config.group, sessionTimeout: 45_000 });
await consumer.subscribe({ topics: ['orders'], fromBeginning: true });
await consumer.run({
  partitionsConsumedConcurrently: 3,
  eachMessage: async ({ message }) => { await bill(message); response.send({ ok: true }); },
});
await producer.send({ topic: 'bills', acks: 1, timeout: 5 * 1000, messages: [{ value: 'x' }] });
"""
SERVICE = """import type { Producer } from 'kafkajs';
import { Kafka } from 'kafkajs';
export class Bus {
  private readonly kafka = new Kafka({ brokers: ['a:1'], requestTimeout: 25000 });
  private producer: Producer;
  constructor(private cfg: Config) { this.producer = this.kafka.producer(); }
  async emit(x) { await this.producer.send({ topic: 't', acks: -1, messages: [x] }); }
}
"""
NEST = """import { Transport } from '@nestjs/microservices';
const app = await NestFactory.createMicroservice(AppModule, {
  transport: Transport.KAFKA,
  options: {
    client: { clientId: 'w', brokers: ['k:9092'], retry: { retries: 2 } },
    consumer: { groupId: process.env.GROUP, heartbeatInterval: 1000 },
    subscribe: { fromBeginning: true },
    run: { autoCommit: false },
    producer: { idempotent: false },
    send: { acks: 1 },
    postfixId: '',
  },
});
"""


def rejected(found: Found) -> dict[str, str]:
    return {one.given.key: one.reason for one in found.rejected}


def test_options_of_clients_and_of_calls() -> None:
    found = read_text(SHOP, "shop.js", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "clientId": "shop",
        "client.retry.retries": "8",
        "client.retry.initialRetryTime": "100",
        "allowAutoTopicCreation": "false",
        "maxInFlightRequests": "1",
        "acks": "1",
        "timeout": "5000",
    }
    assert values(found, Role.CONSUMER) == {
        "clientId": "shop",
        "client.retry.retries": "8",
        "client.retry.initialRetryTime": "100",
        "sessionTimeout": "45000",
        "fromBeginning": "true",
        "partitionsConsumedConcurrently": "3",
    }
    (producer, consumer) = found.components
    assert (producer.name, producer.topics, consumer.topics) == ("producer", ("bills",), ("orders",))
    assert {one.client.value for one in found.components if one.client is not None} == {"kafkajs"}
    assert consumer.application["on_processing_error"].value == "retry"
    assert any("is called again" in note for note in found.notes)
    assert not found.rejected
    assert "geheim" not in str(found)
    assert {"brokers", "ssl", "sasl.password", "createPartitioner", "groupId"} <= {o.given.key for o in found.ignored}


def test_topics_by_a_name() -> None:
    text = SHOP.replace("topic: 'bills'", "topic").replace("const retry", "const topic = 'notes';\nconst retry")
    assert read_text(text, "shop.js").by_role[Role.PRODUCER][0].topics == ("notes",)


def test_fields_of_a_class() -> None:
    found = read_text(SERVICE, "bus.ts", dialect=NAME)
    assert values(found, Role.PRODUCER) == {"requestTimeout": "25000", "acks": "-1"}
    assert not found.rejected


def test_values_that_differ_between_calls_are_rejected() -> None:
    other = "async function audit() { await producer.send({ topic: 'audit', messages: [] }); }\n"
    found = read_text(SHOP + other, "shop.js")
    assert "acks" not in values(found, Role.PRODUCER)
    assert rejected(found) == dict.fromkeys(("acks", "timeout"), "differs between the calls of send() and sendBatch()")
    same = read_text(SHOP + "await producer.sendBatch({ acks: 1, timeout: 5000, topicMessages: [] });\n", "shop.js")
    assert values(same, Role.PRODUCER)["acks"] == "1" or rejected(same)


def test_calls_of_other_things_are_not_taken() -> None:
    found = read_text(SHOP + "response.send({ code: 200 });\nprocess.run({ fast: true });\n", "shop.js")
    assert values(found, Role.PRODUCER)["acks"] == "1"
    assert not found.rejected


def test_clients_from_elsewhere_are_said_to_be() -> None:
    text = "import { Producer } from 'kafkajs';\nimport { kafka } from './kafka';\nconst p = kafka.producer({});\n"
    found = read_text(text, "p.ts", dialect=NAME)
    assert rejected(found) == {"client": "the options of its client are not in this file"}
    assert any("the options of send()" in note for note in found.notes)
    sends = (
        "import { Producer } from 'kafkajs';\nexport const f = (p) => p.send({ topic: 't', acks: 0, messages: [] });\n"
    )
    found = read_text(sends, "f.ts", dialect=NAME)
    assert (values(found, Role.PRODUCER), rejected(found)) == (
        {"acks": "0"},
        {"client": "the options of its client are not in this file"},
    )


def test_two_clients_of_a_file_do_not_mix() -> None:
    text = "const { Kafka } = require('kafkajs');\nconst a = new Kafka({ retry: { retries: 1 } });\n"
    text += "const b = new Kafka({ retry: { retries: 2 } });\nconst p = b.producer();\nconst q = make().producer();\n"
    found = read_text(text, "two.js")
    assert values(found, Role.PRODUCER, 0) == {"client.retry.retries": "2"}
    assert values(found, Role.PRODUCER, 1) == {}
    assert "client" in rejected(found) and rejected(found)["client.retry.retries"].startswith("this file does not show")


def test_kafkajs_is_recognised_by_its_calls_without_an_import() -> None:
    text = "const { Kafka } = require('../index')\nconst k = new Kafka({ brokers: [x] })\nconst p = k.producer()\n"
    (producer,) = read_text(text, "a.js", dialect=NAME).components
    assert producer.name == "p" and producer.client is not None and producer.client.value == "kafkajs"


def test_unknown_values_are_rejected_where_they_matter() -> None:
    text = SHOP.replace("acks: 1", "acks: level()").replace("'shop'", "name()").replace("retries: 8", "retries: tries")
    assert rejected(read_text(text, "shop.js")) == {
        "acks": "its value is not in this file: level()",
        "client.retry.retries": "its value is not in this file: tries",
    }


def test_nest() -> None:
    found = read_text(NEST, "main.ts", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "clientId": "w",
        "client.retry.retries": "2",
        "idempotent": "false",
        "acks": "1",
    }
    assert values(found, Role.CONSUMER) == {
        "clientId": "w",
        "client.retry.retries": "2",
        "heartbeatInterval": "1000",
        "fromBeginning": "true",
        "autoCommit": "false",
    }
    (consumer,) = found.by_role[Role.CONSUMER]
    assert consumer.application["on_processing_error"].value == "skip", "Nest answers for what a handler throws"
    assert not found.rejected


def test_nest_that_only_produces() -> None:
    text = NEST.replace("postfixId: ''", "producerOnlyMode: true")
    assert [one.role for one in read_text(text, "main.ts").components] == [Role.PRODUCER]
    elsewhere = read_text(NEST[: NEST.index("  options")] + "  options: kafkaOptions,\n});\n", "main.ts")
    assert rejected(elsewhere) == {"options": "its options are not in this file"}


def test_settings_of_kafkajs_become_a_deployment() -> None:
    (pipeline,) = pair(Findings("bus.ts", (read_text(SERVICE, "bus.ts"),), (), 0)).pipelines
    judged = judge(pipeline)
    assert judged.deployment is not None and judged.deployment.producer.sender.in_any_order
