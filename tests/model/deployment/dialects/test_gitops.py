"""Lists of topics that tools keep, Dapr's components, and topics as resources of other operators."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.document import Document, read_document
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.gitops import DIALECT
from proofka.model.deployment.dialects.kubernetes import KUBERNETES
from proofka.model.deployment.dialects.recognising import dialect_of
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, unaccounted, values
from tests.model.deployment.dialects.mutations import nearly, only_complains

TOPICCTL = """meta: {name: orders, cluster: c}
spec:
  partitions: 3
  replicationFactor: 2
  retentionMinutes: 2
  placement: {strategy: any}
  settings:
    cleanup.policy: [compact, delete]
    min.insync.replicas: 2
"""

GITOPS = """settings:
  topics:
    defaults: {replication: 3}
topics:
  orders:
    partitions: 6
    configs: {min.insync.replicas: 2}
  bills: {partitions: 1, replication: 1}
services: {shop: {type: application}}
"""

JULIE = """context: shop
company: acme
projects:
  - name: sales
    consumers: [{principal: "User:a"}]
    topics:
      - name: orders
        config: {replication.factor: "3", num.partitions: "2", min.insync.replicas: "2"}
"""

LIST = """topics:
  - name: a
    partitions: 1
    replication_factor: 3
    options: [min.insync.replicas=2]
  - name: b
    partitions: 2
    min_insync_replicas: 1
"""

DAPR = """apiVersion: dapr.io/v1alpha1
kind: Component
metadata: {name: bus}
spec:
  type: %s
  metadata:
    - {name: brokers, value: a:1}
    - {name: initialOffset, value: oldest}
    - {name: sessionTimeout, value: "20"}
    - {name: saslPassword, secretKeyRef: {name: s, key: k}}
"""


def _topics(text: str) -> dict[str, dict[str, str]]:
    found = read_text(text, "topics.yaml", dialect=DIALECT.name)
    return {one.name: {key: value.value for key, value in one.settings.items()} for one in found.components}


def test_topicctl() -> None:
    assert _topics(TOPICCTL) == {
        "orders": {
            "partitions": "3",
            "replication.factor": "2",
            "retention.ms": "120000",
            "cleanup.policy": "compact,delete",
            "min.insync.replicas": "2",
        }
    }


def test_kafka_gitops_and_its_defaults() -> None:
    assert _topics(GITOPS) == {
        "orders": {"partitions": "6", "replication.factor": "3", "min.insync.replicas": "2"},
        "bills": {"partitions": "1", "replication.factor": "1"},
    }


def test_julie_ops_and_the_prefix_of_a_name() -> None:
    assert _topics(JULIE) == {
        "shop.acme.sales.orders": {"replication.factor": "3", "partitions": "2", "min.insync.replicas": "2"}
    }


def test_julie_ops_has_the_type_of_the_data_in_a_name_and_plans_elsewhere() -> None:
    text = JULIE + "        dataType: avro\n        plan: gold\n"
    text += "special_topics:\n  - {name: whole, config: {replication.factor: 2}}\n"
    found = read_text(text, "topology.yaml", dialect=DIALECT.name)
    assert {one.name for one in found.components} == {"shop.acme.sales.orders.avro", "whole"}
    assert [one.given.key for one in found.rejected] == ["projects[0].topics[0].plan"]
    assert not read_text(LIST.replace("name: a", "name: a\n    plan: gold"), "topics.yaml").rejected


def test_lists_in_the_same_manner() -> None:
    assert _topics(LIST) == {
        "a": {"partitions": "1", "replication.factor": "3", "min.insync.replicas": "2"},
        "b": {"partitions": "2", "min.insync.replicas": "1"},
    }


def test_lists_of_other_things_are_none() -> None:
    for text in (
        "topics:\n  - name: a\n    config: {x: 1}\n",
        "topics: [a, b]\n",
        "topics:\n  - {name: a, partitions: 1}\n",
    ):
        assert dialect_of(Document("topics.yaml", text)) is None


def test_a_component_of_daprs() -> None:
    found = read_text(DAPR % "pubsub.kafka", "kafka.yaml", dialect=KUBERNETES.name)
    (producer,), (consumer,) = found.by_role[Role.PRODUCER], found.by_role[Role.CONSUMER]
    assert producer.client is not None
    assert producer.client.value == "sarama"
    assert producer.settings["Producer.RequiredAcks"].value == "WaitForAll"
    assert producer.application["sends"].value == "sync"
    assert values(found, Role.CONSUMER)["Consumer.Offsets.Initial"] == "OffsetOldest"
    assert values(found, Role.CONSUMER)["Consumer.Group.Session.Timeout"] == "20s"
    assert consumer.application["on_processing_error"].value == "retry"
    binding = read_text(DAPR % "bindings.kafka", "kafka.yaml")
    assert binding.by_role[Role.CONSUMER][0].application["on_processing_error"].value == "skip"


def test_other_components_of_daprs_are_none() -> None:
    assert dialect_of(Document("redis.yaml", DAPR % "pubsub.redis")) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "apiVersion: platform.confluent.io/v1beta1\nkind: KafkaTopic\nmetadata: {name: t}\n"
            "spec: {replicas: 3, partitionCount: 4, configs: {min.insync.replicas: '2'}}\n",
            {"replication.factor": "3", "partitions": "4", "min.insync.replicas": "2"},
        ),
        (
            "apiVersion: kafka.nais.io/v1\nkind: Topic\nmetadata: {name: t}\n"
            "spec: {pool: dev, config: {partitions: 1, replication: 3, minimumInSyncReplicas: 2, retentionHours: 2}}\n",
            {"partitions": "1", "replication.factor": "3", "min.insync.replicas": "2", "retention.ms": "7200000"},
        ),
        (
            "apiVersion: aiven.io/v1alpha1\nkind: KafkaTopic\nmetadata: {name: x}\n"
            "spec: {topicName: t, partitions: 1, replication: 2, config: {min_insync_replicas: 2}}\n",
            {"partitions": "1", "replication.factor": "2", "min.insync.replicas": "2"},
        ),
        (
            "apiVersion: apps.cpc.platform.confluent.io/v1beta1\nkind: KafkaTopic\nmetadata: {name: t}\n"
            "spec: {parameters: {partitions: 1, replicationFactor: 2, configs: {min.insync.replicas: '2'}}}\n",
            {"partitions": "1", "replication.factor": "2", "min.insync.replicas": "2"},
        ),
    ],
)
def test_topics_of_other_operators(text: str, expected: dict[str, str]) -> None:
    found = read_text(text, "topic.yaml", dialect=KUBERNETES.name)
    assert found.by_role[Role.TOPIC][0].name == "t"
    assert values(found, Role.TOPIC) == expected


def test_clusters_of_other_operators() -> None:
    text = """apiVersion: platform.confluent.io/v1beta1
kind: Kafka
metadata: {name: kafka}
spec:
  replicas: 3
  image: {application: confluentinc/cp-server:7.4.0}
  configOverrides:
    server:
      - min.insync.replicas=2
---
apiVersion: kafka.banzaicloud.io/v1beta1
kind: KafkaCluster
metadata: {name: other}
spec:
  clusterImage: ghcr.io/banzaicloud/kafka:2.13-3.1.0
  readOnlyConfig: |
    auto.create.topics.enable=false
    default.replication.factor=2
"""
    found = read_text(text, "cluster.yaml", dialect=KUBERNETES.name)
    first, second = found.by_role[Role.BROKER]
    assert values(found, Role.BROKER) == {"min.insync.replicas": "2"}
    assert first.kafka is not None
    assert first.kafka.value == "3.4"
    assert second.settings["default.replication.factor"].origin.line == 18
    assert second.kafka is not None
    assert second.kafka.value == "3.1.0"


@needs_real_files
@pytest.mark.parametrize(
    "path", sorted([*REAL.glob("topic-gitops/*"), *REAL.glob("k8s*/dapr-pubsub*")]), ids=lambda path: path.name
)
def test_every_value_of_real_files_goes_somewhere(path: Path) -> None:
    said = [one for node in read_document(path).yaml for one in values_of(node)]
    assert not unaccounted(said, read_file(path))


@pytest.mark.parametrize("text", [TOPICCTL, GITOPS, JULIE, LIST])
def test_every_value_goes_somewhere(text: str) -> None:
    said = [one for node in Document("t.yaml", text).yaml for one in values_of(node)]
    assert not unaccounted(said, read_text(text, "t.yaml"))


@settings(max_examples=30, deadline=None)
@given(nearly(TOPICCTL), nearly(GITOPS), nearly(JULIE + LIST))
def test_any_list_is_read_or_refused(first: str, second: str, third: str) -> None:
    for text in (first, second, third):
        only_complains(DIALECT, "topics.yaml", text)


@settings(max_examples=40, deadline=None)
@given(nearly(DAPR % "pubsub.kafka"))
def test_any_component_is_read_or_refused(text: str) -> None:
    only_complains(KUBERNETES, "kafka.yaml", text)
