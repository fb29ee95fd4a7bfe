"""Behaviour of agents: which settings they add, when they mark a record as read, and what happens to a failed
record."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.component import Component, Role
from tests.model.deployment.dialects.accounting import read_text, values

BENTHOS = """input:
  kafka: {addresses: [a], topics: [t], consumer_group: g}
output:
  kafka: {addresses: [a], topic: u, idempotent_write: true, ack_replicas: true}
"""
VECTOR = """sources:
  in: {type: kafka, bootstrap_servers: a, group_id: g, topics: [t]}
sinks:
  out: {type: kafka, bootstrap_servers: a, topic: u, batch: {timeout_secs: 2}}
"""
FLUENT = """[INPUT]
    Name kafka
    brokers a:9092
    topics t
    rdkafka.enable.auto.commit true
[OUTPUT]
    Name kafka
    brokers a:9092
    rdkafka.acks 1
    rdkafka.no.such.thing 1
"""
FLUENTD = """<match a>
  @type rdkafka2
  brokers "#{ENV['SERVERS']}"
  default_topic "logs"
  required_acks "1"
  idempotent true
  rdkafka_options {
    "message.timeout.ms": 9,
    "debug": "{}"
  }
</match>
"""
FLUME = """a.sources.r.channels = c
a.channels.c.type = {}
a.sinks.k.type = org.apache.flume.sink.kafka.KafkaSink
a.sinks.k.channel = c
a.sources.s.type = org.apache.flume.source.kafka.KafkaSource
a.sources.s.channels = c
"""
DAPR = """apiVersion: dapr.io/v1alpha1
kind: Component
metadata: {name: k}
spec:
  type: pubsub.kafka
  metadata:
    - {name: brokers, value: a}
"""


def answers(component: Component) -> dict[str, str]:
    """Return the known assumptions about the application by name."""
    return {key: given.value for key, given in component.application.items()}


def one(text: str, name: str, role: Role) -> Component:
    """Return the only component of this role."""
    (found,) = read_text(text, name).by_role[role]
    return found


def test_benthos_reads_from_the_oldest_and_leaves_five_requests_open() -> None:
    consumer = one(BENTHOS, "b.yaml", Role.CONSUMER)
    assert consumer.settings["Consumer.Offsets.Initial"].value == "OffsetOldest"
    assert answers(consumer) == {"commit": "after", "processing": "handed-off", "on_processing_error": "retry"}
    buffered = one(BENTHOS + "buffer:\n  memory: {limit: 10}\n", "b.yaml", Role.CONSUMER)
    assert answers(buffered)["commit"] == "before"
    dropping = BENTHOS.replace("consumer_group: g", "consumer_group: g, auto_replay_nacks: false")
    assert answers(one(dropping, "b.yaml", Role.CONSUMER))["on_processing_error"] == "skip"
    producer = values(read_text(BENTHOS, "b.yaml"), Role.PRODUCER)
    # sarama refuses that, as it does when Benthos starts.
    assert producer["Producer.Idempotent"] == "true" and "Net.MaxOpenRequests" not in producer
    assert producer["Producer.Timeout"] == "5s" and producer["Producer.MaxMessageBytes"] == "1000000"


@pytest.mark.parametrize(
    "said",
    [
        "topics: [t], acknowledgements: true}",
        "topics: [t], acknowledgements: {enabled: true}}",
    ],
)
def test_vector_acknowledges_delivered_events_only_where_a_setting_says_so(said: str) -> None:
    assert answers(one(VECTOR, "vector.yaml", Role.CONSUMER)) == {"commit": "before", "processing": "handed-off"}
    told = one(VECTOR.replace("topics: [t]}", said), "vector.yaml", Role.CONSUMER)
    assert answers(told)["commit"] == "after"
    by_sink = one(VECTOR.replace("topic: u", "topic: u, acknowledgements: {enabled: true}"), "v.yaml", Role.CONSUMER)
    assert answers(by_sink)["commit"] == "after"


def test_vector_drops_events_that_cannot_be_sent_and_has_names_for_batches() -> None:
    producer = one(VECTOR, "vector.yaml", Role.PRODUCER)
    assert answers(producer) == {"on_send_error": "drop"}
    assert producer.settings["queue.buffering.max.ms"].value == "2000"


def test_fluent_bit_commits_records_in_its_memory_and_ignores_keys_unknown_to_librdkafka() -> None:
    found = read_text(FLUENT, "fluent-bit.conf")
    assert not found.rejected
    assert values(found, Role.PRODUCER) == {"bootstrap.servers": "a:9092", "acks": "1"}
    consumer = found.by_role[Role.CONSUMER][0]
    assert consumer.settings["enable.auto.commit"].value == "false" and answers(consumer) == {"commit": "before"}
    reasons = {left.given.key: left.reason for left in found.ignored}
    assert "continues" in reasons["rdkafka.no.such.thing"]
    assert "enable_auto_commit takes precedence" in reasons["rdkafka.enable.auto.commit"]
    by_itself = one(FLUENT.replace("topics t", "topics t\n    enable_auto_commit on"), "f.conf", Role.CONSUMER)
    assert by_itself.settings["enable.auto.commit"].value == "true" and not answers(by_itself)
    kept = one(FLUENT.replace("topics t", "topics t\n    storage.type filesystem"), "f.conf", Role.CONSUMER)
    assert answers(kept) == {"commit": "after"}


def test_fluent_bit_has_its_whole_name_in_yaml() -> None:
    found = read_text("pipeline:\n  inputs:\n    - {name: kafka, brokers: a, topics: t}\n", "f.yaml")
    assert found.dialect.endswith("(fluent-bit)") and found.components[0].name.startswith("fluent-bit: ")


def test_fluentd_options_over_lines_quotes_and_ruby() -> None:
    found = read_text(FLUENTD, "fluent.conf")
    assert values(found, Role.PRODUCER) == {
        "request.required.acks": "1",
        "enable.idempotence": "true",
        "message.timeout.ms": "9",
        "debug": "{}",
        "message.send.max.retries": "2",
    }
    assert found.components[0].topics == ("logs",) and not found.rejected
    pairs = FLUENTD[: FLUENTD.index("{\n")] + "acks:0,linger.ms:5\n</match>\n"
    assert values(read_text(pairs, "fluent.conf"), Role.PRODUCER)["acks"] == "0"
    assert "request.required.acks" not in values(read_text(pairs, "fluent.conf"), Role.PRODUCER)
    ruby = read_text(FLUENTD.replace('required_acks "1"', "required_acks \"#{ENV['A']}\""), "fluent.conf")
    assert [left.given.key for left in ruby.rejected] == ["required_acks"]


def test_fluentd_that_does_not_wait_hears_of_no_failure() -> None:
    assert answers(one(FLUENTD, "fluent.conf", Role.PRODUCER)) == {"on_send_error": "resend"}
    hasty = FLUENTD.replace("idempotent true", "rdkafka_delivery_handle_poll_timeout 0")
    assert answers(one(hasty, "fluent.conf", Role.PRODUCER)) == {"on_send_error": "ignore"}
    giving_up = FLUENTD.replace("idempotent true", "discard_kafka_delivery_failed true")
    assert answers(one(giving_up, "fluent.conf", Role.PRODUCER)) == {"on_send_error": "drop"}


@pytest.mark.parametrize(
    ("channel", "restart", "commit"), [("memory", "forget", "before"), ("file", "from-acknowledged", "after")]
)
def test_flume_answers_follow_its_channel(channel: str, restart: str, commit: str) -> None:
    text = FLUME.format(channel)
    assert answers(one(text, "flume.conf", Role.PRODUCER)) == {"on_send_error": "resend", "on_restart": restart}
    assert answers(one(text, "flume.conf", Role.CONSUMER)) == {"commit": commit}


def test_a_channel_of_flume_in_kafka_has_the_clients_of_its_sources_and_sinks() -> None:
    channel = "a.channels.c.type = org.apache.flume.channel.kafka.KafkaChannel\na.channels.c.kafka.topic = t\n"
    sources = "a.sources.r.type = TAILDIR\na.sources.r.channels = c\n"
    sinks = "a.sinks.k.type = hdfs\na.sinks.k.channel = c\n"
    found = read_text(channel + sources, "flume.conf")
    assert values(found, Role.PRODUCER) == {"acks": "all"} and not found.by_role[Role.CONSUMER]
    assert found.components[0].topics == ("t",)
    found = read_text(channel + sinks, "flume.conf")
    assert not found.by_role[Role.PRODUCER]
    assert values(found, Role.CONSUMER) == {"enable.auto.commit": "false", "auto.offset.reset": "earliest"}
    assert len(read_text(channel + sources + sinks, "flume.conf").components) == 2
    assert len(read_text(channel, "flume.conf").components) == 2


def test_old_names_of_canal_are_read() -> None:
    text = "canal.serverMode = kafka\ncanal.mq.servers = a:9092\ncanal.mq.acks = all\ncanal.mq.lingerMs = 5\n"
    found = read_text(text + "canal.mq.transaction = true\n", "canal.properties")
    assert values(found, Role.PRODUCER) == {
        "bootstrap.servers": "a:9092",
        "acks": "all",
        "linger.ms": "5",
        "max.in.flight.requests.per.connection": "1",
    }
    assert [left.given.key for left in found.rejected] == ["canal.mq.transaction"]
    said = text + "kafka.max.in.flight.requests.per.connection = 5\n"
    assert values(read_text(said, "canal.properties"), Role.PRODUCER)["max.in.flight.requests.per.connection"] == "1"


def test_nothing_said_by_a_zero_in_telegraf() -> None:
    text = """[[outputs.kafka]]
  brokers = ["a"]
  max_message_bytes = 0
  metadata_retry_backoff = "0s"
  metadata_retry_type = "{}"
"""
    found = read_text(text.format("constant"), "telegraf.conf")
    assert not found.rejected and "Producer.MaxMessageBytes" not in values(found, Role.PRODUCER)
    assert "Metadata.Retry.Backoff" not in values(found, Role.PRODUCER)
    assert len(read_text(text.format("exponential"), "telegraf.conf").rejected) == 1


def test_retries_of_logstash_are_its_own() -> None:
    text = 'output {\n  kafka {\n    topic_id => "t"\n    retries => %s\n  }\n}\n'
    assert [left.given.key for left in read_text(text % "3", "pipeline.conf").rejected] == ["retries"]
    assert not read_text(text % "0", "pipeline.conf").rejected


def test_dapr_has_acks_and_limited_retries() -> None:
    found = read_text(
        DAPR + "    - {name: producerRequiredAcks, value: local}\n    - {name: producerRetryMax, value: '2'}\n",
        "d.yaml",
    )
    assert values(found, Role.PRODUCER)["Producer.RequiredAcks"] == "WaitForLocal"
    assert values(found, Role.PRODUCER)["Producer.Retry.Max"] == "2"
    assert answers(found.by_role[Role.CONSUMER][0]) == {"on_processing_error": "retry"}
    ends = read_text(DAPR + "    - {name: backOffMaxRetries, value: '3'}\n", "d.yaml")
    assert answers(ends.by_role[Role.CONSUMER][0]) == {"on_processing_error": "skip"}
    endless = read_text(DAPR + "    - {name: backOffMaxRetries, value: '-1'}\n", "d.yaml")
    assert answers(endless.by_role[Role.CONSUMER][0]) == {"on_processing_error": "retry"}
    odd = read_text(DAPR + "    - {name: producerRequiredAcks, value: most}\n", "d.yaml")
    assert len(odd.rejected) == 1
    times = read_text(DAPR + "    - {name: readTimeout, value: '7'}\n", "d.yaml")
    assert values(times, Role.CONSUMER)["Net.ReadTimeout"] == "7s" == values(times, Role.PRODUCER)["Net.ReadTimeout"]


def test_redpanda_connect_has_the_clients_of_franz_go() -> None:
    text = """input:
  kafka_franz: {seed_brokers: [a], topics: [t], consumer_group: g, start_from_oldest: false}
output:
  switch:
    cases:
      - output:
          redpanda: {seed_brokers: [a], topic: u, idempotent_write: false, acks: leader, record_retries: 0}
"""
    found = read_text(text, "connect.yaml")
    producer, consumer = found.by_role[Role.PRODUCER][0], found.by_role[Role.CONSUMER][0]
    assert producer.client is not None and producer.client.value == "franz-go"
    assert values(found, Role.PRODUCER) == {
        "DisableIdempotentWrite": "true",
        "RequiredAcks": "LeaderAck",
        "ProduceRequestTimeout": "10s",
    }
    assert values(found, Role.CONSUMER)["ConsumeResetOffset"] == "AtEnd"
    assert values(found, Role.CONSUMER)["AutoCommitMarks"] == "true"
    assert consumer.topics == ("t",) and answers(consumer)["commit"] == "after"
    odd = read_text(text.replace("acks: leader", "acks: most"), "connect.yaml")
    assert len(odd.rejected) == 1
