"""Values of the common charts, and templates that are no YAML."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.helm import TEMPLATE, VALUES
from proofka.model.deployment.dialects.recognising import dialect_of
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import read_file, read_text, unaccounted, values
from tests.model.deployment.dialects.mutations import nearly, only_complains

BITNAMI = """image:
  registry: docker.io
  repository: bitnami/kafka
  tag: 3.7.0-debian-12-r0
controller:
  replicaCount: 3
  controllerOnly: true
broker:
  replicaCount: 4
  extraEnvVars:
    - name: KAFKA_CFG_LOG_RETENTION_MS
      value: "1000"
extraConfig: |
  # of all nodes
  min.insync.replicas=2
  default.replication.factor=3
provisioning:
  enabled: true
  topics:
    - name: orders
      partitions: 6
      replicationFactor: 3
      config:
        min.insync.replicas: 1
    - partitions: 1
"""

OLDER = """kafka:
  replicaCount: 3
  defaultReplicationFactor: 3
  logRetentionBytes: _1073741824
  overrideConfiguration:
    unclean.leader.election.enable: true
    log: {retention: 3}
postgres: {enabled: true}
"""

CONFLUENT = """cp-kafka:
  brokers: 3
  image: confluentinc/cp-enterprise-kafka
  imageTag: 6.1.0
  configurationOverrides:
    "min.insync.replicas": "2"
"""

BEFORE = """image: "confluentinc/cp-kafka"
imageTag: "5.0.1"
replicas: 3
configurationOverrides: {"default.replication.factor": 3}
topics:
  - name: a
    partitions: 8
    replicationFactor: 3
    config: "cleanup.policy=compact,min.insync.replicas=2"
"""


def test_bitnamis_chart() -> None:
    found = read_text(BITNAMI, "values.yaml", dialect=VALUES.name)
    (brokers,) = found.by_role[Role.BROKER]
    assert brokers.settings["min.insync.replicas"].value == "2"
    assert brokers.settings["min.insync.replicas"].origin.line == 15
    assert brokers.settings["log.retention.ms"].value == "1000"
    assert brokers.kafka is not None
    assert brokers.kafka.value == "3.7.0"
    assert brokers.brokers is not None
    assert brokers.brokers.value == "4"
    assert values(found, Role.TOPIC) == {"partitions": "6", "replication.factor": "3", "min.insync.replicas": "1"}
    assert [left.given.origin.line for left in found.rejected] == [25]


def test_the_chart_under_the_name_that_another_one_gives_it() -> None:
    found = read_text(OLDER, "values-production.yaml", dialect=VALUES.name)
    assert values(found, Role.BROKER) == {
        "default.replication.factor": "3",
        "log.retention.bytes": "1073741824",
        "unclean.leader.election.enable": "true",
    }
    assert [left.given.origin.line for left in found.rejected] == [7]


def test_confluents_chart_and_the_one_before_it() -> None:
    found = read_text(CONFLUENT, "values.yaml", dialect=VALUES.name)
    assert values(found, Role.BROKER) == {"min.insync.replicas": "2"}
    assert found.components[0].kafka is not None
    assert found.components[0].kafka.value == "2.7"
    found = read_text(BEFORE, "values.yaml", dialect=VALUES.name)
    assert values(found, Role.TOPIC)["cleanup.policy"] == "compact"


@pytest.mark.parametrize("text", [BITNAMI, OLDER, CONFLUENT, BEFORE])
def test_every_value_goes_somewhere(text: str) -> None:
    said = [one for node in Document("a.yaml", text).yaml for one in values_of(node)]
    assert not unaccounted(said, read_text(text, "a.yaml"))


def test_a_chart_that_brings_zookeeper_runs_with_it() -> None:
    text = "replicaCount: 3\ndefaultReplicationFactor: 3\nzookeeper: {enabled: true}\n"
    assert "zookeeper.connect" in values(read_text(text, "kafka.yaml"), Role.BROKER)
    text += "kraft: {enabled: true}\n"
    assert "zookeeper.connect" not in values(read_text(text, "kafka.yaml"), Role.BROKER)


def test_nodes_of_which_there_are_none_say_nothing_of_the_brokers() -> None:
    text = (
        "kafka:\n  broker: {replicaCount: 0}\n  controller:\n    replicaCount: 3\n"
        "    overrideConfiguration: {min.insync.replicas: 2}\n"
    )
    found = read_text(text, "values.yaml")
    assert values(found, Role.BROKER) == {"min.insync.replicas": "2"}
    assert found.components[0].brokers is not None
    assert found.components[0].brokers.value == "3"


def test_a_chart_that_counts_its_nodes_by_kind_and_overrides_nothing() -> None:
    text = "image: {repository: bitnami/kafka, tag: 4.0.0}\noverrideConfiguration: {}\n"
    found = read_text(text + "controller: {replicaCount: 3}\nbroker: {replicaCount: 0}\n", "values.yaml")
    (brokers,) = found.components
    assert brokers.brokers is not None and brokers.brokers.value == "3"
    assert brokers.kafka is not None and brokers.kafka.value == "4.0.0"


def test_values_of_other_charts_are_none() -> None:
    assert dialect_of(Document("values.yaml", "image: {repository: strimzi/operator}\nreplicas: 1\n# kafka\n")) is None
    assert dialect_of(Document("values.yaml", "replicaCount: 3\nimage: {repository: shop}\n# kafka\n")) is None
    assert dialect_of(Document("values.yaml", "kafka-ui: {replicaCount: 1}\n")) is None
    assert dialect_of(Document("values.yaml", "app: {kafka: {bootstrapServers: x}}\n")) is None


def test_a_template_is_one_error_with_its_line() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.name }}-kafka\n{{- if .Values.x }}\n"
    with pytest.raises(DeploymentError) as caught:
        read_text(text, "configmap.yaml", dialect=TEMPLATE.name)
    assert caught.value.line == 4


@settings(max_examples=60, deadline=None)
@given(nearly(BITNAMI))
def test_any_values_are_read_or_refused(text: str) -> None:
    only_complains(VALUES, "values.yaml", text)
    only_complains(TEMPLATE, "values.yaml", text)


@pytest.mark.parametrize(
    ("text", "isr", "rejected"),
    [
        ("extraConfigYaml: {min.insync.replicas: 1}\nextraConfig: |\n  min.insync.replicas=2\n", "1", []),
        ("extraConfig: |\n  min.insync.replicas=2\nextraConfigYaml: {min.insync.replicas: 1}\n", "1", []),
        ("overrideConfiguration: {min.insync.replicas: 1}\nconfig: |\n  min.insync.replicas=2\n", "1", []),
        ("overrideConfiguration: {min.insync.replicas: 1}\nextraConfig: |\n  min.insync.replicas=2\n", "2", [5]),
        ("extraConfig: |\n  min.insync.replicas=2\noverrideConfiguration: {min.insync.replicas: 1}\n", "1", [5]),
        ("extraConfig: |\n  min.insync.replicas=2\noverrideConfiguration: {min.insync.replicas: 2}\n", "2", []),
        (
            "extraConfig: |\n  min.insync.replicas=2\n"
            "extraEnvVars: [{name: KAFKA_CFG_MIN_INSYNC_REPLICAS, value: '1'}]\n",
            "1",
            [5],
        ),
        ("extraConfig: |\n  min.insync.replicas=2\nextraEnvVarsCM: variables\n", "2", [5]),
        ("extraConfig: |\n  min.insync.replicas=2\nextraEnvVarsSecret: variables\n", "2", [5]),
        ("extraConfig: |\n  min.insync.replicas=2\nexistingConfigmap: settings\n", "2", [5]),
        ('extraConfig: |\n  min.insync.replicas=2\nexistingConfigmap: ""\n', "2", []),
    ],
)
def test_of_two_places_the_one_that_outranks_the_other_counts(text: str, isr: str, rejected: list[int]) -> None:
    found = read_text(
        f"image: {{repository: bitnami/kafka}}\nreplicaCount: 3\n{text}", "values.yaml", dialect=VALUES.name
    )
    assert values(found, Role.BROKER)["min.insync.replicas"] == isr
    assert [left.given.origin.line for left in found.rejected] == rejected


def test_values_that_are_laid_over_others_are_a_part(tmp_path: Path) -> None:
    (tmp_path / "values-prod.yaml").write_text(BITNAMI.replace("    - partitions: 1\n", ""))
    assert not read_file(tmp_path / "values-prod.yaml", dialect=VALUES.name).rejected
    (tmp_path / "values.yaml").write_text(BITNAMI)
    (left,) = read_file(tmp_path / "values-prod.yaml", dialect=VALUES.name).rejected
    assert "values.yaml" in left.reason
