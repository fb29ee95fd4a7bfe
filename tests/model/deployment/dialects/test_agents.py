"""Agents' own names for Kafka's settings, and what each of them sets by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.model.deployment.dialects import agents_fluentd, agents_in_blocks, agents_in_lines, agents_in_trees
from proofka.model.deployment.dialects.component import Found, Role
from proofka.model.deployment.dialects.document import Document, read_document
from proofka.model.deployment.dialects.formats.json import json_of
from proofka.model.deployment.dialects.formats.toml import said_in_toml
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.recognising import dialect_of
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, unaccounted, values

NAME = "settings of an agent"
REAL_ONES = [one for one in sorted(REAL.glob("librdkafka-agents/*")) if not one.name.startswith("houseplants")]
FILEBEAT = """filebeat.inputs: []
output.kafka:
  hosts: ["a:9092"]
  topic: logs
  required_acks: -1
  max_retries: -1
  timeout: 15
  broker_timeout: 5s
  backoff.init: 2s
  password: hush
"""
TELEGRAF = """[agent]
interval = "10s"
[[outputs.kafka]]
  brokers = ["a:9092", "b:9092"]
  topic = 'metrics'
  # required_acks = 1
  idempotent_writes = true
[outputs.kafka.topic_suffix]
  method = "tags"
[[outputs.kafka]]
  brokers = ["c:9092"]
  required_acks = 1
[[inputs.kafka_consumer]]
  topics = ["x", "y"]
  offset = "newest"
"""
FLUENT = """[SERVICE]
    Flush 1
[OUTPUT]
    Name        kafka
    Match       *
    Brokers     a:9092
    Topics      logs,audit
    rdkafka.request.required.acks  1
    rdkafka.message.timeout.ms ${WAIT}
"""


def reasons(found: Found) -> dict[str, str]:
    """Return the reason for which each value is in no component."""
    return {one.given.key: one.reason for one in (*found.ignored, *found.rejected)}


def test_filebeat() -> None:
    found = read_text(FILEBEAT, "filebeat.yml", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "Producer.RequiredAcks": "-1",
        "Producer.Retry.Max": "1000",
        "Net.DialTimeout": "15s",
        "Net.ReadTimeout": "15s",
        "Net.WriteTimeout": "15s",
        "Producer.Timeout": "5s",
        "Producer.Return.Successes": "true",
        "Metadata.Full": "false",
    }
    (producer,) = found.components
    assert producer.topics == ("logs",) and producer.application["on_send_error"].value == "resend"
    assert producer.application["on_restart"].value == "from-acknowledged"
    assert producer.client is not None and producer.client.value == "sarama"
    assert producer.settings["Producer.Return.Successes"].origin.kind == "rule"
    assert [one.given.key for one in found.rejected] == ["output.kafka.backoff.init"] and found.notes
    assert not read_text(FILEBEAT.replace("init: 2s", "init: 1s"), "filebeat.yml").rejected
    assert "hush" not in str(found)


def test_another_beat_gives_up_and_an_output_may_be_off() -> None:
    text = FILEBEAT.replace("filebeat.inputs", "metricbeat.modules")
    assert not read_text(text, "metricbeat.yml").components[0].application
    assert not read_text(text + "  enabled: false\n", "metricbeat.yml").components


def test_telegraf() -> None:
    found = read_text(TELEGRAF, "telegraf.conf", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "Producer.Idempotent": "true",
        "Producer.RequiredAcks": "-1",
        "Producer.Retry.Max": "3",
        "Producer.Return.Successes": "true",
        "Net.MaxOpenRequests": "1",
    }
    assert values(found, Role.PRODUCER, 1)["Producer.RequiredAcks"] == "1"
    assert "Net.MaxOpenRequests" not in values(found, Role.PRODUCER, 1)
    assert values(found, Role.CONSUMER)["Consumer.Offsets.Initial"] == "OffsetNewest"
    consumer = found.by_role[Role.CONSUMER][0]
    assert consumer.application["commit"].value == "finished"
    assert consumer.application["on_processing_error"].value == "skip"
    assert [one.topics for one in found.components] == [("metrics",), (), ("x", "y")]
    assert not unaccounted(said_in_toml(TELEGRAF, "t"), found)


def test_telegraf_refuses_another_word() -> None:
    found = read_text(TELEGRAF.replace("newest", "soon"), "telegraf.toml", dialect=NAME)
    assert [one.given.key for one in found.rejected] == ["inputs.kafka_consumer[0].offset"]


def test_benthos() -> None:
    text = """input:
  type: kafka
  kafka: {addresses: [a], topic: t, start_from_oldest: false, commit_period: 2s}
output:
  broker:
    outputs:
      - kafka: {addresses: [a], topic: u, ack_replicas: true, timeout: 7s, max_msg_bytes: 2e+06}
"""
    found = read_text(text, "benthos.yaml", dialect=NAME)
    assert values(found, Role.CONSUMER) == {
        "Consumer.Offsets.Initial": "OffsetNewest",
        "Consumer.Offsets.AutoCommit.Interval": "2s",
        "Consumer.Return.Errors": "true",
        "Net.DialTimeout": "1s",
        "Net.ReadTimeout": "120s",
    }
    assert values(found, Role.PRODUCER) == {
        "Producer.RequiredAcks": "WaitForAll",
        "Producer.Timeout": "7s",
        "Producer.MaxMessageBytes": "2000000",
        "Producer.Return.Successes": "true",
    }
    assert (
        dialect_of(
            Document("b.yaml", text.replace("type: kafka", "type: stdin").replace("kafka: {addr", "x: {addr", 2))
        )
        is None
    )


def test_vector() -> None:
    text = """[sinks.out]
type = "kafka"
bootstrap_servers = "a:9092"
topic = "events"
[sinks.out.librdkafka_options]
"request.required.acks" = "1"
[sources.in]
type = "kafka"
group_id = "g"
topics = ["t"]
"""
    found = read_text(text, "vector.toml", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "bootstrap.servers": "a:9092",
        "request.required.acks": "1",
        "message.timeout.ms": "300000",
        "socket.timeout.ms": "60000",
    }
    assert values(found, Role.CONSUMER)["enable.auto.offset.store"] == "false"


def test_fluent_bit() -> None:
    found = read_text(FLUENT, "fluent-bit.conf", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "bootstrap.servers": "a:9092",
        "request.required.acks": "1",
        "message.timeout.ms": "${WAIT}",
    }
    assert found.components[0].topics == ("logs", "audit")
    assert values(read_text(FLUENT, "f.conf", {"WAIT": "5"}), Role.PRODUCER)["message.timeout.ms"] == "5"
    yaml = "pipeline:\n  outputs:\n    - name: kafka\n      brokers: a\n      rdkafka.acks: 1\n"
    assert values(read_text(yaml, "fluent-bit.yaml"), Role.PRODUCER) == {"bootstrap.servers": "a", "acks": "1"}


def test_flume() -> None:
    text = """a.sinks.k.type = org.apache.flume.sink.kafka.KafkaSink
a.sinks.k.requiredAcks = -1
a.sinks.k.kafka.producer.linger.ms = 5
a.sources.s.type = org.apache.flume.source.kafka.KafkaSource
a.sources.s.kafka.topics = t
a.sources.s.kafka.consumer.auto.offset.reset = earliest
"""
    found = read_text(text, "flume.conf", dialect=NAME)
    assert values(found, Role.PRODUCER) == {"acks": "-1", "linger.ms": "5"}
    assert values(found, Role.CONSUMER) == {"auto.offset.reset": "earliest", "enable.auto.commit": "false"}
    assert found.by_role[Role.PRODUCER][0].client is None


def test_maxwell() -> None:
    text = "producer=kafka\nkafka_topic=maxwell\nkafka.acks=all\nignore_producer_error=false\n"
    quiet = read_text(text.replace("=false", "=true"), "config.properties")
    assert quiet.components[0].application["on_send_error"].value == "drop"
    found = read_text(text, "config.properties", dialect=NAME)
    (producer,) = found.components
    assert values(found, Role.PRODUCER) == {"acks": "all"}
    assert producer.version is not None and producer.version.value == "2.7.0"
    assert producer.application["on_send_error"].value == "halt" and producer.topics == ("maxwell",)
    assert producer.application["on_restart"].value == "from-acknowledged"


def test_canal_sends_only_in_its_mode_for_kafka() -> None:
    text = "canal.serverMode = {}\nkafka.acks = all\nkafka.kerberos.enable = false\n"
    found = read_text(text.format("kafka"), "canal.properties")
    assert values(found, Role.PRODUCER) == {"acks": "all", "max.in.flight.requests.per.connection": "1"}
    assert {key: one.value for key, one in found.components[0].application.items()} == {
        "on_send_error": "resend",
        "on_restart": "from-acknowledged",
    }
    assert not read_text(text.format("tcp"), "canal.properties").components


def test_osquery() -> None:
    text = '{"options": {"logger_kafka_brokers": "a", // one\n\t"logger_kafka_topic": "t", "verbose": "no"}}'
    found = read_text(text, "osquery.conf", dialect=NAME)
    assert values(found, Role.PRODUCER) == {"bootstrap.servers": "a", "acks": "all"}
    assert set(reasons(found)) == {"options.logger_kafka_topic", "options.verbose"}
    assert found.components[0].application["on_send_error"].value == "drop"


def test_pmacct() -> None:
    found = read_text("global, message.timeout.ms, 5\n! x\ntopic,acks,1\n\nglobal, x\n", "rdkafka.conf", dialect=NAME)
    assert values(found, Role.PRODUCER) == {"message.timeout.ms": "5", "acks": "1"}
    assert [one.given.origin.line for one in found.rejected] == [5]
    assert not read_text("global, bootstrap.servers, a\n", "rdkafka.conf").components


FLUENTD = """<source>
  @type tail
</source>
<match app.**>
  @type copy
  <store>
    @type rdkafka2
    brokers a:9092
    default_topic logs
    ack_timeout 5
    rdkafka_options {"message.timeout.ms": 9, "acks": 1}
    <buffer topic>
      flush_interval 3s
    </buffer>
  </store>
</match>
<match other>
  @type kafka2
  required_acks 1
</match>
"""


def test_fluentd() -> None:
    found = read_text(FLUENTD, "fluent.conf", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "bootstrap.servers": "a:9092",
        "request.timeout.ms": "5000",
        "message.timeout.ms": "9",
        "acks": "1",
        "message.send.max.retries": "2",
    }
    first, second = found.components
    assert first.topics == ("logs",) and first.application["on_send_error"].value == "resend"
    assert second.client is not None and second.client.value == "ruby-kafka" and not second.settings
    assert {one.given.key for one in found.rejected} == {"type", "required_acks"}
    with pytest.raises(DeploymentError, match=r":11: rdkafka_options is not valid JSON"):
        read_text(FLUENTD.replace('"acks": 1}', '"acks"'), "fluent.conf")


LOGSTASH = """input { kafka { topics => ["a", "b"] group_id => "g" auto_offset_reset => "earliest" } }
filter { grok { match => { "message" => "it's %{X}" } } }
output {
  if [type] == "x" {
    kafka {
      bootstrap_servers => "a:9092"   # one
      topic_id => "%{[topic]}"
      linger_ms => 5
      codec => json
      ssl_key_password => "hush"
    }
  }
}
"""


def test_logstash() -> None:
    found = read_text(LOGSTASH, "pipeline.conf", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "bootstrap.servers": "a:9092",
        "linger.ms": "5",
        "acks": "1",
        "request.timeout.ms": "40000",
    }
    assert values(found, Role.CONSUMER) == {
        "group.id": "g",
        "auto.offset.reset": "earliest",
        "request.timeout.ms": "40000",
        "session.timeout.ms": "10000",
    }
    consumer, producer = found.components
    assert consumer.application["processing"].value == "handed-off"
    assert consumer.topics == ("a", "b") and producer.topics == ()
    assert producer.application["on_send_error"].value == "resend" and "hush" not in str(found)
    assert set(reasons(found)) == {"topics", "topic_id", "codec", "ssl_key_password", "filter.grok.match.message"}


def test_rsyslog() -> None:
    text = """module(load="omkafka")
action(type="omkafka" topic="logs" broker=["a:9092","b:9092"]
       confParam=["message.timeout.ms=5", "odd"] topicConfParam=["request.required.acks=1"])
"""
    found = read_text(text, "rsyslog.conf", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "bootstrap.servers": "a:9092,b:9092",
        "message.timeout.ms": "5",
        "request.required.acks": "1",
    }
    assert found.components[0].application["on_send_error"].value == "drop" and len(found.rejected) == 1
    again = read_text(text.replace("topic=", 'resubmitOnFailure="on" topic='), "rsyslog.conf")
    assert again.components[0].application["on_send_error"].value == "resend"
    with pytest.raises(DeploymentError, match="without its closing mark"):
        read_text(text + "x '", "rsyslog.conf")


@needs_real_files
@pytest.mark.parametrize("path", REAL_ONES, ids=lambda path: path.name)
def test_every_value_of_real_files_goes_somewhere(path: Path) -> None:
    document = read_document(path)
    found = read_file(path, dialect=NAME)
    said: list[Said] = []
    if document.suffix in (".yml", ".yaml"):
        said = [one for node in document.yaml for one in values_of(node)]
    elif "{" in document.text.splitlines()[0]:
        said = list(values_of(json_of(document.text, path.name, loose=True)))
    elif "[[" in document.text:
        said = list(said_in_toml(document.text, path.name))
    else:
        for number, line in enumerate(document.text.splitlines(), 1):
            if line.strip() and line.strip()[0] not in "#[":
                said.append(Said((line.split()[0],), line, number))
    assert said and not unaccounted(said, found)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_nothing_but_an_error_of_ours(data: st.DataObject) -> None:
    base, name = data.draw(
        st.sampled_from(
            [(FILEBEAT, "f.yml"), (TELEGRAF, "t.conf"), (FLUENT, "f.conf"), ("global, a.b, c\n" * 3, "p.conf")]
        )
    )
    at, to = sorted(data.draw(st.tuples(*[st.integers(0, len(base))] * 2)))
    words = st.sampled_from(["[", "]", "{", "}", "=", ":", "\n", "'", '"', "kafka", ".", ",", " ", "1e999", '"""'])
    text = base[:at] + "".join(data.draw(st.lists(words, max_size=6))) + base[to:]
    for dialect in (agents_in_trees.DIALECT, agents_in_lines.DIALECT, agents_in_blocks.DIALECT, agents_fluentd.DIALECT):
        document = Document(name, text)
        dialect.fits(document)
        try:
            dialect.read(document, {})
        except DeploymentError as error:
            assert "\n" not in str(error)
