"""Brokers that a command starts with settings of its own, and images that run something else beside them."""

from __future__ import annotations

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.compose import COMPOSE
from proofka.model.deployment.dialects.kubernetes import KUBERNETES
from tests.model.deployment.dialects.accounting import read_text, values

STARTED = """services:
  kafka:
    image: quay.io/strimzi/kafka:0.43.0-kafka-3.8.0
    command: [sh, -c, "bin/kafka-server-start.sh config/server.properties
      --override min.insync.replicas=2 --override advertised.listeners=$${LISTENERS}
      --override default.replication.factor=$${FACTOR}"]
    environment: {LOG_DIR: /tmp, KAFKA_ADVERTISED_LISTENERS: x, FACTOR: 3}
"""
STATEFUL = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kafka}
spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: broker
          image: example.org/k8skafka:v1
          command:
            - sh
            - -c
            - "exec kafka-server-start.sh server.properties --override broker.id=${HOSTNAME##*-}
              --override default.replication.factor=1 --override unclean.leader.election.enable='true'"
"""


def test_overrides_of_a_command_are_settings_and_variables_of_such_an_image_are_none() -> None:
    found = read_text(STARTED, "docker-compose.yml", dialect=COMPOSE.name)
    (broker,) = found.by_role[Role.BROKER]
    assert values(found, Role.BROKER) == {
        "min.insync.replicas": "2",
        "advertised.listeners": "$${LISTENERS}",
        "default.replication.factor": "3",
    }
    assert broker.kafka is not None and broker.kafka.value == "3.8.0"
    assert "services.kafka.command[2]" not in {left.given.key for left in found.ignored}
    assert all("\0" not in left.reason for left in found.ignored)


def test_an_id_that_the_shell_makes_is_no_value() -> None:
    found = read_text(STATEFUL, "kafka.yaml", dialect=KUBERNETES.name)
    assert values(found, Role.BROKER) == {"default.replication.factor": "1", "unclean.leader.election.enable": "true"}
    (broker,) = found.by_role[Role.BROKER]
    assert broker.brokers is not None and broker.brokers.value == "3"


def test_zookeeper_is_no_broker_whatever_variables_it_is_given() -> None:
    text = STARTED + "  zk:\n    image: wurstmeister/zookeeper\n    environment: {KAFKA_ADVERTISED_HOST_NAME: zk}\n"
    (broker,) = read_text(text, "docker-compose.yml").by_role[Role.BROKER]
    assert broker.name == "kafka"
