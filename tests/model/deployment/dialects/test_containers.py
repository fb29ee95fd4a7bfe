"""Compose files, files of variables and manifests: images, names of variables, clusters, files in a ConfigMap."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects.accounting import accounts_of
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.compose import COMPOSE, VARIABLES
from proofka.model.deployment.dialects.document import YAML, Document, read_document
from proofka.model.deployment.dialects.finding import Findings, find
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.images import release_in
from proofka.model.deployment.dialects.kubernetes import KUBERNETES
from proofka.model.deployment.dialects.recognising import dialect_of
from tests.model.deployment.dialects.accounting import REAL, needs_real_files, read_file, read_text, unaccounted, values
from tests.model.deployment.dialects.mutations import nearly, only_complains

TWO = """services:
  one:
    image: confluentinc/cp-kafka:7.3.0
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ZOOKEEPER_CONNECT: zk:2181
      KAFKA_MIN_INSYNC_REPLICAS: 2
      KAFKA_DEFAULT_REPLICATION_FACTOR: 2
      KAFKA_HEAP_OPTS: -Xmx1g
  two:
    image: confluentinc/cp-kafka:7.3.0
    environment:
      - KAFKA_BROKER_ID=2
      - KAFKA_ZOOKEEPER_CONNECT=zk:2181
      - KAFKA_MIN_INSYNC_REPLICAS=1
  setup:
    image: confluentinc/cp-kafka:7.3.0
    command: >
      bash -c "kafka-topics --create --if-not-exists --topic orders --partitions 3 --replication-factor 2
      --config min.insync.replicas=2 && kafka-topics --list"
  shop:
    image: shop:1
    environment:
      SPRING_KAFKA_PRODUCER_ACKS: "1"
      SPRING_KAFKA_CONSUMER_GROUP_ID: shop
      SHOP_KAFKA_AUTO_OFFSET_RESET: latest
"""

CONFIG_MAP = """apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  _example: |
    spring.kafka.producer.acks=0
  application.properties: |
    # of the shop
    spring.kafka.producer.acks=1
  application.yml: |-
    spring:
      kafka:
        consumer: {isolation-level: READ_COMMITTED}
  broken.yml: "a: [\\n"
"""

STATEFUL_SET = """apiVersion: v1
kind: ConfigMap
metadata: {name: env}
data: {KAFKA_CFG_MIN_INSYNC_REPLICAS: "2", UNUSED: x}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kafka}
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: kafka
        image: docker.io/bitnami/kafka:3.6.1-debian-11-r0
        envFrom: [{configMapRef: {name: env}}]
        env:
        - name: KAFKA_CFG_DEFAULT_REPLICATION_FACTOR
          value: "3"
        - name: KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE
          value: "true"
        - name: KAFKA_CFG_LOG_RETENTION_MS
          valueFrom: {configMapKeyRef: {name: elsewhere, key: x}}
"""


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("apache/kafka:3.8.0", "3.8.0"),
        ("registry.example:5000/confluentinc/cp-kafka:6.2.1-1-ubi8", "2.8"),
        ("confluentinc/cp-kafka", ""),
        ("confluentinc/cp-kafka:latest", ""),
        ("bitnami/kafka:3.6", "3.6"),
        ("bitnami/kafka:3", ""),
        ("wurstmeister/kafka:2.12-2.3.0", "2.3.0"),
        ("wurstmeister/kafka:0.10.2.1", "0.10.2.1"),
        ("quay.io/strimzi/kafka:0.28.0-kafka-3.1.0", "3.1.0"),
        ("debezium/kafka:1.9", ""),
        ("bitnami/kafka:3.6@sha256:00", "3.6"),
    ],
)
def test_the_release_in_an_images_tag(image: str, release: str) -> None:
    assert release_in(image) == release


def test_brokers_of_one_cluster_are_together_where_they_agree() -> None:
    found = read_text(TWO, "docker-compose.yml", dialect=COMPOSE.name)
    (brokers,) = found.by_role[Role.BROKER]
    assert values(found, Role.BROKER) == {
        "broker.id": "1",
        "zookeeper.connect": "zk:2181",
        "min.insync.replicas": "${not that of two}",
        "default.replication.factor": "${not that of two, which has no value}",
    }
    assert brokers.name == "one, two"
    assert brokers.kafka is not None
    assert brokers.kafka.value == "3.3"
    assert brokers.brokers is not None
    assert brokers.brokers.value == "2"
    reasons = {left.given.origin.line: left.reason for left in found.rejected}
    assert "set the same value" in reasons[15]
    own = {left.given.origin.line: left.reason for left in found.ignored}
    assert "named like auto.offset.reset" in own[26]


def test_a_topic_that_a_command_creates_and_an_application_of_springs() -> None:
    found = read_text(TWO, "docker-compose.yml")
    (topic,) = found.by_role[Role.TOPIC]
    assert topic.name == "orders"
    assert values(found, Role.TOPIC) == {"partitions": "3", "replication.factor": "2", "min.insync.replicas": "2"}
    assert values(found, Role.PRODUCER) == {"acks": "1"}
    assert found.by_role[Role.PRODUCER][0].settings["acks"].origin.line == 24
    assert values(found, Role.CONSUMER)["group.id"] == "shop"


def test_topic_with_a_name_from_the_running_shell_is_rejected() -> None:
    text = "services:\n  s:\n    image: apache/kafka:4.0.0\n    command: kafka-topics.sh --create --topic $$NAME\n"
    assert [left.given.origin.line for left in read_text(text, "compose.yaml").rejected] == [4]


def test_a_variable_without_a_value_has_that_of_the_environment() -> None:
    text = "services:\n  k:\n    image: apache/kafka:4.0.0\n    environment: [KAFKA_MIN_INSYNC_REPLICAS]\n"
    key = "min.insync.replicas"
    assert values(read_text(text, "compose.yaml"), Role.BROKER)[key] == "${KAFKA_MIN_INSYNC_REPLICAS}"
    assert values(read_text(text, "compose.yaml", {"KAFKA_MIN_INSYNC_REPLICAS": "2"}), Role.BROKER)[key] == "2"


def test_topics_in_a_variable() -> None:
    text = (
        "services:\n  k:\n    image: wurstmeister/kafka\n    environment: ['KAFKA_CREATE_TOPICS=a:1:2,b:3:1:compact']\n"
    )
    found = read_text(text, "compose.yaml")
    assert [one.name for one in found.by_role[Role.TOPIC]] == ["a", "b"]
    assert values(found, Role.TOPIC, 1)["cleanup.policy"] == "compact"


def test_controllers_are_no_brokers() -> None:
    variables = "{KAFKA_PROCESS_ROLES: %s, KAFKA_CONTROLLER_QUORUM_VOTERS: '%s'}"
    node = f"    image: apache/kafka:3.9.0\n    environment: {variables}\n"
    text = "services:\n  c:\n" + node % ("controller", "1@c:1,2@d:1") + "  b:\n" + node % ("broker", "2@d:1,1@c:1")
    (brokers,) = read_text(text, "compose.yaml").by_role[Role.BROKER]
    assert brokers.brokers is not None
    assert brokers.brokers.value == "1"
    assert brokers.settings["process.roles"].value == "broker"


def test_a_file_of_variables() -> None:
    text = '# brokers\nKAFKA_CFG_MIN_INSYNC_REPLICAS="2"\nALLOW_PLAINTEXT_LISTENER: yes\n'
    assert values(read_text(text, "kafka.env", dialect=VARIABLES.name), Role.BROKER) == {"min.insync.replicas": "2"}
    assert dialect_of(Document("kafka.txt", text)) is None


def test_files_in_a_config_map_are_read_by_their_dialect_at_their_lines() -> None:
    found = read_text(CONFIG_MAP, "map.yaml", dialect=KUBERNETES.name)
    assert values(found, Role.PRODUCER) == {"acks": "1"}
    assert found.by_role[Role.PRODUCER][0].settings["acks"].origin.line == 9
    assert found.by_role[Role.CONSUMER][0].settings["isolation.level"].origin.line == 13


def test_containers_of_a_stateful_set() -> None:
    found = read_text(STATEFUL_SET, "kafka.yaml", dialect=KUBERNETES.name)
    (brokers,) = found.by_role[Role.BROKER]
    assert values(found, Role.BROKER) == {
        "min.insync.replicas": "2",
        "default.replication.factor": "3",
        "log.retention.ms": "${KAFKA_CFG_LOG_RETENTION_MS}",
    }
    assert brokers.brokers is not None
    assert brokers.brokers.value == "3"
    assert brokers.kafka is not None
    assert brokers.kafka.value == "3.6.1"
    assert "KAFKA_CFG_" in {left.given.origin.line: left.reason for left in found.ignored}[21]


@needs_real_files
@pytest.mark.parametrize(
    "path",
    sorted(path for path in REAL.glob("k8s-compose-helm/*") if "dapr-pubsub" not in path.name),
    ids=lambda path: path.name,
)
def test_every_value_of_real_files_goes_somewhere(path: Path) -> None:
    document = read_document(path)
    nested = document.suffix in YAML
    said = [one for node in document.yaml for one in values_of(node)] if nested else document.properties
    assert not unaccounted(said, read_file(path))


@settings(max_examples=60, deadline=None)
@given(nearly(TWO))
def test_any_compose_file_is_read_or_refused(text: str) -> None:
    only_complains(COMPOSE, "compose.yaml", text, {"KAFKA_BROKER_ID": "1"})


@settings(max_examples=60, deadline=None)
@given(nearly(CONFIG_MAP + "---\n" + STATEFUL_SET))
def test_any_manifest_is_read_or_refused(text: str) -> None:
    only_complains(KUBERNETES, "map.yaml", text)


@settings(max_examples=40, deadline=None)
@given(nearly("export KAFKA_CFG_A='1'\nKAFKA_CREATE_TOPICS=a:1:1\n"))
def test_any_file_of_variables_is_read_or_refused(text: str) -> None:
    only_complains(VARIABLES, "x.env", text)


CONNECT_WORKER = """services:
  connect:
    image: confluentinc/cp-kafka-connect:7.6.0
    environment:
      CONNECT_PRODUCER_ACKS: "0"
      CONNECT_PRODUCER_OVERRIDE_ACKS: all
      CONNECT_EXACTLY_ONCE_SOURCE_SUPPORT: enabled
"""


def test_a_worker_has_no_overrides_and_its_transactions_are_not_followed() -> None:
    found = read_text(CONNECT_WORKER, "compose.yml", dialect=COMPOSE.name)
    assert values(found, Role.PRODUCER)["acks"] == "0"
    assert [left.given.origin.line for left in found.rejected] == [7]


IN_A_SHELL = """services:
  init:
    image: confluentinc/cp-kafka:7.5.0
    command: >
      bash -c "kafka-topics --create --topic a --partitions 3 --replication-factor 1 &&
               kafka-topics --create --topic b --partitions 1 --config \\"cleanup.policy=compact,delete\\""
  change:
    image: confluentinc/cp-kafka:7.5.0
    command: ["sh", "-c", "kafka-configs --alter --topic a --add-config min.insync.replicas=2"]
"""


def test_a_shell_around_commands_is_taken_away() -> None:
    found = read_text(IN_A_SHELL, "compose.yml", dialect=COMPOSE.name)
    assert [one.name for one in found.by_role[Role.TOPIC]] == ["a", "b"]
    assert values(found, Role.TOPIC, 0)["min.insync.replicas"] == "2"
    assert values(found, Role.TOPIC, 1) == {"partitions": "1", "cleanup.policy": "compact,delete"}
    assert not found.rejected


def _in_folder(folder: Path, files: dict[str, str]) -> Findings:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return find(folder, {})


BROKER = """services:
  kafka:
    image: apache/kafka:3.9.0
    env_file: [{path: a.env}, b.env]
    environment: {KAFKA_MIN_INSYNC_REPLICAS: 2}
"""
A_ENV = "KAFKA_MIN_INSYNC_REPLICAS=1\nKAFKA_UNCLEAN_LEADER_ELECTION_ENABLE=false\nKAFKA_FLUSH_X=1\n"
B_ENV = "KAFKA_NODE_ID=1\nKAFKA_UNCLEAN_LEADER_ELECTION_ENABLE=true\n"


def test_files_of_variables_are_outranked_by_the_service(tmp_path: Path) -> None:
    findings = _in_folder(tmp_path, {"compose.yml": BROKER, "a.env": A_ENV, "b.env": B_ENV})
    found = {Path(one.file).name: one for one in findings.found}
    assert {name for name, one in found.items() if one.components} == {"compose.yml"}
    settings = found["compose.yml"].by_role[Role.BROKER][0].settings
    assert settings["min.insync.replicas"].value == "2"
    assert settings["unclean.leader.election.enable"].value == "true"
    origin = settings["unclean.leader.election.enable"].origin
    assert (Path(origin.file or "").name, origin.line) == ("b.env", 2)
    assert not found["compose.yml"].rejected
    accounts = {Path(one.found.file).name: one.entries for one in accounts_of(findings, ())}
    assert [entry.line for entry in accounts["b.env"]] == [1, 2]
    assert all(entry.line < 6 for entry in accounts["compose.yml"])


@pytest.mark.parametrize("name", ["none.env", "../outside.env", "${ENV}.env", "/etc/hostname", "folder"])
def test_a_file_of_variables_that_is_not_there_is_rejected(tmp_path: Path, name: str) -> None:
    text = BROKER.replace("[{path: a.env}, b.env]", f'"{name}"')
    files = {"x/compose.yml": text, "outside.env": B_ENV, "x/folder/a": ""}
    (found,) = [one for one in _in_folder(tmp_path, files).found if one.file.endswith("compose.yml")]
    assert [left.given.origin.line for left in found.rejected] == [4]


def test_a_file_of_variables_of_a_service_without_kafka_is_not_asked_for() -> None:
    text = "services:\n  db: {image: postgres, env_file: none.env}\n  kafka: {image: 'apache/kafka:3.9.0'}\n"
    assert not read_text(text, "compose.yml", dialect=COMPOSE.name).rejected


EXTENDED = """services:
  base:
    image: apache/kafka:3.9.0
    environment:
      - KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE=true
      - KAFKA_MIN_INSYNC_REPLICAS=1
  kafka:
    extends: {service: base}
    environment:
      KAFKA_MIN_INSYNC_REPLICAS: 2
"""


def test_a_service_has_the_keys_of_the_service_it_extends() -> None:
    found = read_text(EXTENDED, "compose.yml", dialect=COMPOSE.name)
    (kafka,) = [one for one in found.by_role[Role.BROKER] if one.name == "kafka"]
    assert kafka.settings["unclean.leader.election.enable"].value == "true"
    assert kafka.settings["min.insync.replicas"].value == "2"
    assert kafka.kafka is not None
    assert kafka.kafka.value == "3.9.0"


def test_a_service_has_the_keys_of_the_service_it_extends_in_another_file(tmp_path: Path) -> None:
    base, _, kafka = EXTENDED.partition("  kafka:\n")
    text = "services:\n  kafka:\n" + kafka.replace("{service: base}", "{service: base, file: base.yml}")
    findings = _in_folder(tmp_path, {"compose.yml": text, "base.yml": base})
    (found,) = [one for one in findings.found if one.file.endswith("compose.yml")]
    assert values(found, Role.BROKER) == {"unclean.leader.election.enable": "true", "min.insync.replicas": "2"}
    (tmp_path / "base.yml").unlink()
    (found,) = find(tmp_path, {}).found
    assert [left.given.origin.line for left in found.rejected] == [3]


def test_services_that_extend_each_other_end() -> None:
    text = "services:\n  a: {image: apache/kafka, extends: {service: b}}\n  b: {extends: {service: a}}\n"
    assert read_text(text, "compose.yml").rejected


@pytest.mark.parametrize("name", ["docker-compose.override.yml", "compose.override.yaml"])
def test_the_override_is_laid_over_the_file_beside_it(tmp_path: Path, name: str) -> None:
    over = (
        "services:\n  kafka:\n    image: apache/kafka:3.8.0\n    environment: [KAFKA_MIN_INSYNC_REPLICAS=1]\n"
        "  other: {image: 'apache/kafka:3.7.0', environment: {KAFKA_NODE_ID: 9}}\n"
    )
    text = "services:\n  kafka:\n    image: apache/kafka:3.9.0\n    environment: {KAFKA_MIN_INSYNC_REPLICAS: 2}\n"
    findings = _in_folder(tmp_path, {"docker-compose.yml": text, name: over})
    brokers = [one for found in findings.found for one in found.by_role[Role.BROKER]]
    assert [one.name for one in brokers] == ["kafka", "other"]
    assert brokers[0].settings["min.insync.replicas"].value == "1"
    assert brokers[0].kafka is not None
    assert brokers[0].kafka.value == "3.8.0"


def test_an_override_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    over = {"docker-compose.override.yml": "services: [", "docker-compose.yml": BROKER.replace("    env_file", "    x")}
    (found,) = _in_folder(tmp_path, over).found
    assert [left.given.key for left in found.rejected] == ["docker-compose.override.yml"]


def test_variables_of_an_application_in_a_file(tmp_path: Path) -> None:
    text = (
        "services:\n  shop:\n    image: shop\n    env_file: shop.env\n"
        "    environment: {SPRING_KAFKA_PRODUCER_RETRIES: 3, SPRING_KAFKA_PRODUCER_CLIENT_ID: x}\n"
    )
    env = "OTHER=1\nSPRING_KAFKA_PRODUCER_ACKS=0\nSPRING_KAFKA_PRODUCER_RETRIES=9\n"
    findings = _in_folder(tmp_path, {"compose.yml": text, "shop.env": env})
    components = [one for found in findings.found for one in found.components]
    (producer,) = components
    assert producer.settings["acks"].value == "0"
    assert producer.settings["retries"].value == "3"
    place = producer.settings["acks"].origin
    assert (Path(place.file or "").name, place.line) == ("shop.env", 2)
    assert any("only part" in note for found in findings.found for note in found.notes)


@pytest.mark.parametrize(
    ("said", "rejected"),
    [
        ('command: ["java", "-Dspring.kafka.producer.acks=0", "-jar", "a.jar"]', True),
        ("command: --spring.kafka.consumer.auto-offset-reset=latest", True),
        ("environment: {JAVA_TOOL_OPTIONS: -Xmx1g -Dmp.messaging.outgoing.o.acks=0}", True),
        ("environment: {SPRING_CLOUD_STREAM_KAFKA_BINDER_REQUIRED_ACKS: '0'}", True),
        ("environment: {SPRING_CLOUD_STREAM_KAFKA_BINDER_BROKERS: b}", False),
        ("command: --spring.kafka.bootstrap-servers=b --kafka.server=b", False),
        ("environment: {JAVA_OPTS: -Dspring.kafka.ssl.protocol=TLS}", False),
    ],
)
def test_container_settings_that_outrank_application_files_are_rejected(said: str, rejected: bool) -> None:
    text = f"services:\n  kafka: {{image: 'apache/kafka:3.9.0'}}\n  shop:\n    image: shop\n    {said}\n"
    found = read_text(text, "compose.yml", dialect=COMPOSE.name)
    assert [left.given.origin.line for left in found.rejected] == ([5] if rejected else [])


FROM_ELSEWHERE = """apiVersion: v1
kind: ConfigMap
metadata: {name: here}
data: {UNCLEAN_LEADER_ELECTION_ENABLE: "true", MIN_INSYNC_REPLICAS: "1"}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kafka}
spec:
  template:
    spec:
      containers:
        - name: kafka
          image: IMAGE
          envFrom:
            - prefix: KAFKA_
              configMapRef: {name: here}
            - configMapRef: {name: there}
            - secretRef: {name: secret}
          env: [{name: KAFKA_MIN_INSYNC_REPLICAS, value: "2"}]
"""


def test_variables_that_a_container_takes_from_elsewhere() -> None:
    found = read_text(FROM_ELSEWHERE.replace("IMAGE", "apache/kafka:3.9.0"), "kafka.yaml", dialect=KUBERNETES.name)
    assert values(found, Role.BROKER) == {"unclean.leader.election.enable": "true", "min.insync.replicas": "2"}
    assert [left.given.origin.line for left in found.rejected] == [18, 19]


def test_brokers_of_another_product_are_rejected_beside_clients() -> None:
    text = """services:
  queue:
    image: docker.redpanda.com/redpandadata/redpanda:v24.2.1
    environment: {MODE: dev}
  orders:
    image: shop/orders
    environment: {SPRING_KAFKA_PRODUCER_ACKS: all}
"""
    found = read_text(text, "docker-compose.yml", dialect=COMPOSE.name)
    assert [left.given.origin.line for left in found.rejected] == [3]
    assert values(found, Role.PRODUCER) == {"acks": "all"}


@pytest.mark.parametrize(
    ("variable", "brokers"), [("KAFKA_ADMIN_PASSWORD", ["one"]), ("KAFKA_NODE_ID", ["one", "two"])]
)
def test_a_container_with_its_own_command_is_a_broker_only_with_a_setting_of_brokers(
    variable: str, brokers: list[str]
) -> None:
    text = """services:
  one:
    image: apache/kafka:3.9.0
  two:
    image: apache/kafka:3.9.0
    environment: {%s: "1"}
    entrypoint: [bash, /setup.sh]
"""
    found = read_text(text % variable, "docker-compose.yml", dialect=COMPOSE.name)
    assert [one.name for one in found.by_role[Role.BROKER]] == brokers
