"""Strimzi's resources: settings, what the operator keeps to itself, node pools, topics, clients."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.document import read_document
from proofka.model.deployment.dialects.finding import find
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.judging import judge, with_left_out
from proofka.model.deployment.dialects.kubernetes import STRIMZI
from proofka.model.deployment.dialects.pairing import pair
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, unaccounted, values
from tests.model.deployment.dialects.mutations import nearly, only_complains

CLUSTER = """apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaNodePool
metadata: {name: brokers, labels: {strimzi.io/cluster: orders}}
spec:
  replicas: 3
  roles: [controller, broker]
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaNodePool
metadata: {name: heads, labels: {strimzi.io/cluster: orders}}
spec:
  replicas: 5
  roles: [controller]
---
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata:
  name: orders
  annotations: {strimzi.io/kraft: enabled}
spec:
  kafka:
    version: 3.8.0
    config:
      min.insync.replicas: 1
      min.insync.replicas: 2
      broker.id: 7
      broker.session.timeout.ms: 9000
      default.replication.factor: [3]
  config:
    unclean.leader.election.enable: true
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: orders-topic, labels: {strimzi.io/cluster: orders}}
spec:
  topicName: Orders_1
  partitions: 6
  replicas: 3
  config:
    min.insync.replicas: "2"
"""


def test_a_cluster_with_its_pools_and_its_topic() -> None:
    found = read_text(CLUSTER, "cluster.yaml", dialect=STRIMZI.name)
    (brokers,) = found.by_role[Role.BROKER]
    assert values(found, Role.BROKER) == {"min.insync.replicas": "2", "broker.session.timeout.ms": "9000"}
    assert brokers.kafka is not None
    assert brokers.kafka.value == "3.8.0"
    assert brokers.brokers is not None
    assert brokers.brokers.value == "3"
    (topic,) = found.by_role[Role.TOPIC]
    assert topic.name == "Orders_1"
    assert values(found, Role.TOPIC) == {"partitions": "6", "replication.factor": "3", "min.insync.replicas": "2"}


def test_last_of_two_values_counts_and_unread_keys_are_ignored() -> None:
    found = read_text(CLUSTER, "cluster.yaml")
    assert found.components[0].settings["min.insync.replicas"].origin.line == 25
    reasons = {left.given.origin.line: left.reason for left in found.ignored}
    assert "Strimzi itself" in reasons[26]
    assert "misplaced" in reasons[30]
    assert [left.given.origin.line for left in found.rejected] == [28, 24]
    assert "line 25" in found.rejected[1].reason


def test_a_cluster_with_a_section_for_zookeeper_runs_with_it() -> None:
    text = (
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata: {name: a%s}\n"
        "spec: {kafka: {replicas: 3}, zookeeper: {replicas: 3}}\n"
    )
    assert "zookeeper.connect" in values(read_text(text % "", "a.yaml"), Role.BROKER)
    in_kraft = text % ", annotations: {strimzi.io/kraft: migration}"
    assert values(read_text(in_kraft, "a.yaml"), Role.BROKER) == {}


def test_clients_of_a_worker_have_the_settings_of_the_worker() -> None:
    text = (
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaConnect\nmetadata: {name: c}\nspec:\n  config:\n"
        "    group.id: workers\n    producer.acks: 1\n    ssl.protocol: TLSv1.3\n"
    )
    found = read_text(text, "connect.yaml")
    assert values(found, Role.PRODUCER)["acks"] == "1"
    assert values(found, Role.PRODUCER)["enable.idempotence"] == "false"
    assert not found.by_role[Role.CONSUMER]


def test_a_users_quotas_are_ignored() -> None:
    text = (
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaUser\nmetadata: {name: u}\n"
        "spec: {quotas: {producerByteRate: 1}}\n"
    )
    found = read_text(text, "user.yaml", dialect=STRIMZI.name)
    assert not found.components
    assert any("quotas of a user" in left.reason for left in found.ignored)


def test_resources_in_a_list_and_clients_of_a_bridge() -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: kafka.strimzi.io/v1beta2\n  kind: KafkaBridge\n"
        "  metadata: {name: b}\n  spec:\n    producer: {config: {acks: all, bootstrap.servers: x}}\n"
    )
    assert values(read_text(text, "b.yaml", dialect=STRIMZI.name), Role.PRODUCER) == {"acks": "all"}


@needs_real_files
@pytest.mark.parametrize("path", sorted(REAL.glob("strimzi-topics/*")), ids=lambda path: path.name)
def test_every_value_of_real_files_goes_somewhere(path: Path) -> None:
    said = [one for node in read_document(path).yaml for one in values_of(node)]
    assert not unaccounted(said, read_file(path, dialect=STRIMZI.name))


@settings(max_examples=60, deadline=None)
@given(nearly(CLUSTER))
def test_any_text_is_read_or_refused(text: str) -> None:
    only_complains(STRIMZI, "cluster.yaml", text)


def test_a_template_that_is_yaml_has_placeholders() -> None:
    text = (
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata:\n  name: {{ .Release.Name }}-orders\n"
        "spec:\n  replicas: {{ .Values.replicas }}\n  config: {min.insync.replicas: {{ .Values.isr | default 2 }}}\n"
    ).replace("{{ .Release.Name }}-orders", "orders")
    found = read_text(text, "topic.yaml", dialect=STRIMZI.name)
    assert values(found, Role.TOPIC) == {
        "replication.factor": "{{ .Values.replicas }}",
        "min.insync.replicas": "{{ .Values.isr | default 2 }}",
    }
    assert values(read_text(text, "topic.yaml", {"Values.replicas": "3"}), Role.TOPIC)["replication.factor"] == "3"


MIRRORS = """apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
metadata: {name: m}
spec:
  connectCluster: b
  clusters:
    - {alias: a, bootstrapServers: x}
    - {alias: b, bootstrapServers: y, config: {producer.acks: 1}}
  mirrors:
    - sourceCluster: a
      targetCluster: b
      topicsPattern: orders
      sourceConnector:
        config: {consumer.max.poll.records: 7, producer.override.linger.ms: 5, errors.tolerance: all}
"""
MIRRORS_OF_TODAY = """apiVersion: kafka.strimzi.io/v1
kind: KafkaMirrorMaker2
metadata: {name: m}
spec:
  target: {alias: b, config: {producer.acks: 1}}
  mirrors:
    - source: {alias: a}
      sourceConnector: {config: {replication.factor: -1}}
      topicsPattern: ".*"
"""


def test_each_mirror_has_a_consumer_and_a_producer_with_the_settings_of_mirror_maker() -> None:
    found = read_text(MIRRORS, "mm2.yaml", dialect=STRIMZI.name)
    reads, writes = found.components
    assert values(found, Role.CONSUMER) == {
        "max.poll.records": "7",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": "false",
    }
    assert (reads.topics, writes.topics) == (("orders",), ("a.orders",))
    assert (reads.talks_to, writes.talks_to) == ("a", "b")
    assert writes.settings["acks"].value == "1" and writes.settings["linger.ms"].value == "5"
    assert writes.settings["enable.idempotence"].value == "false"
    assert writes.application["on_send_error"].value == "drop"
    found = read_text(MIRRORS_OF_TODAY, "mm2.yaml", dialect=STRIMZI.name)
    (writes,) = found.by_role[Role.PRODUCER]
    assert writes.settings["acks"].value == "1" and writes.application["on_send_error"].value == "halt"
    assert not writes.topics and len(found.components) == 2
    assert [one.talks_to for one in found.components] == ["a", "b"]


def test_overrides_are_of_connectors_and_the_rest_of_workers() -> None:
    text = """apiVersion: kafka.strimzi.io/v1beta2
kind: {kind}
metadata: {{name: one}}
spec:
  class: org.example.SomeSource
  config: {{producer.acks: "0", producer.override.acks: all}}
"""
    worker = read_text(text.format(kind="KafkaConnect"), "connect.yaml")
    assert values(worker, Role.PRODUCER)["acks"] == "0"
    connector = read_text(text.format(kind="KafkaConnector"), "connector.yaml")
    assert values(connector, Role.PRODUCER)["acks"] == "all"


TOPIC = """apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: orders}
spec: {config: {min.insync.replicas: 2}}
"""


@pytest.mark.parametrize(
    ("kustomization", "is_patch"),
    [
        ("patches: [{path: patches/topic.yaml}]\n", True),
        ("patchesStrategicMerge:\n  - ./patches/topic.yaml\n", True),
        ("resources: [patches/topic.yaml]\n", False),
        ("patches: [{path: other.yaml}]\n", False),
        ("patches: [\n", False),
    ],
)
def test_a_patch_is_no_whole_resource(tmp_path: Path, kustomization: str, is_patch: bool) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "topic.yaml").write_text(TOPIC.replace("replicas: 2", "replicas: 1"))
    (tmp_path / "prod" / "patches").mkdir(parents=True)
    (tmp_path / "prod" / "kustomization.yaml").write_text(kustomization)
    (tmp_path / "prod" / "patches" / "topic.yaml").write_text(TOPIC)
    findings = find(tmp_path, {})
    pipelines = pair(findings).pipelines
    assert len(pipelines) == (1 if is_patch else 2)
    rejected = with_left_out(judge(pipelines[0]), findings).rejected
    assert [(error.file or "").endswith("prod/patches/topic.yaml") for error in rejected] == [True] * is_patch


@pytest.mark.parametrize(("replicas", "rejected"), [("3", 0), ("1", 1)])
def test_replicas_of_topics_that_connectors_create_count(replicas: str, rejected: int) -> None:
    """With one replica, a pass on three assumed replicas would be false."""
    connector = f"""apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata: {{name: x, labels: {{strimzi.io/cluster: c}}}}
spec:
  class: io.Source
  config: {{topic: t, topic.creation.default.replication.factor: {replicas}, topic.creation.default.partitions: 1}}
"""
    assert len(read_text(connector, "connector.yaml").rejected) == rejected
    mirrors = f"""apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
metadata: {{name: m}}
spec:
  connectCluster: b
  clusters: [{{alias: a, bootstrapServers: "a:9092"}}, {{alias: b, bootstrapServers: "b:9092"}}]
  mirrors:
  - {{sourceCluster: a, targetCluster: b, sourceConnector: {{config: {{replication.factor: {replicas}}}}}}}
"""
    assert len(read_text(mirrors, "mirrors.yaml").rejected) == rejected
