"""Repeated keys and repeated resources with other values are rejected, wherever Kafka's settings come from them."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.component import Role
from tests.model.deployment.dialects.accounting import read_text, values

COMPOSE = """services:
  kafka:
    image: apache/kafka:3.9.0
    ports: [a]
    ports: [b]
    environment:
      KAFKA_MIN_INSYNC_REPLICAS: 2
      KAFKA_MIN_INSYNC_REPLICAS: {}
"""
TELEGRAF = '[[outputs.kafka]]\n  brokers = ["a:9092"]\n  topic = "t"\n  required_acks = -1\n  required_acks = {}\n'
STRIMZI = """apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {{name: my}}
spec:
  kafka:
    version: 3.9.0
    replicas: 3
    config:
      min.insync.replicas: 2
      min.insync.replicas: {}
"""
TOPIC = """resource "kafka_topic" "t" {{
  name = "orders"
  replication_factor = 3
  replication_factor = {}
}}
"""
CONFIG = """resource "kafka_topic" "t" {{
  name = "orders"
  config = {{
    "min.insync.replicas" = "2"
    "min.insync.replicas" = "{}"
  }}
}}
"""
LOCAL = """locals {{
  copies = 3
  copies = {}
}}
resource "kafka_topic" "t" {{
  name = "orders"
  replication_factor = local.copies
}}
"""
TWICE = """resource "kafka_topic" "t" {{
  name = "orders"
  partitions = 3
}}
resource "kafka_topic" "t" {{
  name = "orders"
  partitions = {}
}}
"""
CHART = """image: {{repository: bitnami/kafka}}
provisioning:
  topics:
    - name: orders
      config: min.insync.replicas=2,min.insync.replicas={}
"""
DESCRIBED = "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: retention.ms=2,retention.ms={}\n"
ENTRIES = """Dynamic configs for topic a are:
  min.insync.replicas=2 sensitive=false synonyms={{DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2}}
  min.insync.replicas={} sensitive=false synonyms={{DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2}}
"""
SCRIPT = "kafka-topics.sh --create --topic a --config min.insync.replicas=2 --config min.insync.replicas={}\n"
ALTERED = SCRIPT.format(2) + (
    "kafka-configs.sh --alter --topic a --add-config min.insync.replicas=2,min.insync.replicas={}\n"
)


@pytest.mark.parametrize(
    ("name", "text", "other", "line"),
    [
        ("values.yaml", CHART, "1", 5),
        ("page.txt", DESCRIBED, "3", 1),
        ("page.txt", ENTRIES, "1", 3),
        ("topics.sh", SCRIPT, "1", 1),
        ("topics.sh", ALTERED, "1", 2),
    ],
)
def test_a_setting_with_two_values_in_one_text_is_rejected(name: str, text: str, other: str, line: int) -> None:
    assert read_text(text.format(2), name).rejected == ()
    assert [left.given.origin.line for left in read_text(text.format(other), name).rejected] == [line]


@pytest.mark.parametrize(
    ("name", "text", "equal", "other", "line"),
    [
        ("docker-compose.yml", COMPOSE, "2", "1", 7),
        ("producer.properties", "acks=all\nx.y=1\nx.y=2\nacks={}\n", "all", "1", 1),
        ("application.properties", "spring.kafka.producer.acks=all\na=1\na=2\nspring.kafka.producer.acks={}\n",
         "all", "1", 1),
        ("telegraf.conf", TELEGRAF, "-1", "1", 4),
        ("cluster.yaml", STRIMZI, "2", "1", 9),
        ("topics.tf", TOPIC, "3", "1", 3),
        ("topics.tf", CONFIG, "2", "1", 4),
        ("topics.tf", LOCAL, "3", "1", 2),
        ("topics.tf", TWICE, "3", "1", 1),
    ],
)  # fmt: skip
def test_a_repeated_key_is_rejected_where_values_differ_and_the_last_matters(
    name: str, text: str, equal: str, other: str, line: int
) -> None:
    assert read_text(text.format(equal), name).rejected == ()
    rejected = read_text(text.format(other), name).rejected
    assert [(left.given.origin.line, "with another value" in left.reason) for left in rejected] == [(line, True)]


def test_a_repeated_section_is_rejected() -> None:
    text = COMPOSE.format(2) + "    environment:\n      KAFKA_MIN_INSYNC_REPLICAS: 1\n"
    assert {left.given.origin.line for left in read_text(text, "docker-compose.yml").rejected} == {7, 8}


TOPICS = """apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {{name: t}}
spec: {{partitions: 1, replicas: 3}}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {{name: {}}}
spec: {{partitions: 1, replicas: {}}}
"""


@pytest.mark.parametrize(
    ("name", "replicas", "topics", "rejected"), [("t", 3, ["3"], []), ("t", 1, ["1"], [3]), ("u", 1, ["3", "1"], [])]
)
def test_a_resource_that_stands_twice_is_one(name: str, replicas: int, topics: list[str], rejected: list[int]) -> None:
    found = read_text(TOPICS.format(name, replicas), "topics.yaml")
    assert [one.settings["replication.factor"].value for one in found.components] == topics
    assert [left.given.origin.line for left in found.rejected] == rejected


def test_clusters_that_stand_twice_are_one() -> None:
    both = STRIMZI.format(2) + "---\n" + STRIMZI.format(2).replace("replicas: 3", "replicas: 1")
    found = read_text(both, "cluster.yaml")
    assert [one.role for one in found.components] == [Role.BROKER]
    assert [left.given.key for left in found.rejected] == ["metadata.name"]


def test_the_last_value_counts_with_partial() -> None:
    assert values(read_text("acks=all\nacks=1\n", "producer.properties"), Role.PRODUCER) == {"acks": "1"}
