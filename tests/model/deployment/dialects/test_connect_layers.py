"""Connectors with what the worker says that runs them, wherever it lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.model.deployment.dialects.accounting import Fate, accounts_of
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.finding import Findings, find
from proofka.model.deployment.dialects.judging import judge, with_left_out
from proofka.model.deployment.dialects.pairing import pair

WORKER = """group.id=w
offset.storage.topic=o
config.storage.topic=c
producer.acks=0
producer.linger.ms=7
consumer.auto.offset.reset=latest
"""
SOURCE = """{"name": "src", "config": {
"connector.class": "org.example.SomeSource", "topic": "t",
"producer.override.linger.ms": "5"}}
"""
SINK = '{"name": "out", "config": {"connector.class": "org.example.SomeSink", "topics": "t"}}\n'


def _found(folder: Path, files: dict[str, str]) -> Findings:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return find(folder, {})


def _components(findings: Findings, role: Role) -> list[Component]:
    return [one for found in findings.found for one in found.by_role[role]]


def _said(component: Component) -> dict[str, str]:
    return {key: given.value for key, given in component.settings.items()}


def _rejected(findings: Findings) -> list[str]:
    return [left.reason for found in findings.found for left in found.rejected]


def test_a_worker_is_under_the_connectors_that_it_runs(tmp_path: Path) -> None:
    findings = _found(tmp_path, {"w.properties": WORKER, "src.json": SOURCE, "out.json": SINK})
    (producer,), (consumer,) = _components(findings, Role.PRODUCER), _components(findings, Role.CONSUMER)
    assert (_said(producer)["acks"], _said(producer)["linger.ms"]) == ("0", "5")
    assert _said(producer)["max.in.flight.requests.per.connection"] == "1"
    assert _said(consumer)["auto.offset.reset"] == "latest"
    assert _said(consumer)["group.id"] == "connect-out"
    accounts = {Path(one.found.file).name: one.entries for one in accounts_of(findings, ())}
    used = {entry.line for entry in accounts["w.properties"] if entry.fate is Fate.USED}
    assert {4, 6} <= used
    assert {entry.line for entry in accounts["w.properties"]} == {1, 2, 3, 4, 5, 6}
    assert {entry.line for entry in accounts["src.json"]} <= {1, 2, 3}


def test_worker_settings_for_a_client_that_no_connector_has_are_ignored(tmp_path: Path) -> None:
    findings = _found(tmp_path, {"w.properties": WORKER, "src.json": SOURCE})
    assert not _components(findings, Role.CONSUMER)
    ignored = {left.given.origin.line: left.reason for found in findings.found for left in found.ignored}
    assert "no such client" in ignored[6]


def test_a_worker_without_connectors_stays(tmp_path: Path) -> None:
    findings = _found(tmp_path, {"w.properties": WORKER})
    assert [one.name for one in _components(findings, Role.PRODUCER)] == ["connect.producer"]


@pytest.mark.parametrize(
    ("files", "acks"),
    [
        (("a/w.properties", "b/w.properties"), "several"),
        (("a/w.properties", "x/w.properties"), "0"),
        (("x/y/w.properties", "a/w.properties"), "0"),
        (("x/w.properties", "x/v.properties"), "several"),
        ((), "all"),
    ],
)
def test_the_nearest_worker_counts(tmp_path: Path, files: tuple[str, ...], acks: str) -> None:
    texts = dict.fromkeys(files, WORKER)
    texts |= {
        name: WORKER.replace("acks=0", "acks=1") for name in files if name == "a/w.properties" and "x" in str(files)
    }
    findings = _found(tmp_path, {**texts, "x/src.json": SOURCE})
    (producer,) = [one for one in _components(findings, Role.PRODUCER) if one.name == "src"]
    if acks == "several":
        assert any("several workers" in reason for reason in _rejected(findings))
    else:
        assert _said(producer)["acks"] == acks
        assert not _rejected(findings)


@pytest.mark.parametrize(
    ("policy", "key", "refused"),
    [
        ("None", "linger.ms", True),
        ("org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy", "linger.ms", True),
        ("Principal", "linger.ms", True),
        ("Principal", "security.protocol", False),
        ("All", "linger.ms", False),
        ("com.example.Own", "linger.ms", False),
    ],
)
def test_overrides_that_the_worker_does_not_allow(tmp_path: Path, policy: str, key: str, refused: bool) -> None:
    worker = f"{WORKER}connector.client.config.override.policy={policy}\n"
    findings = _found(tmp_path, {"w.properties": worker, "src.json": SOURCE.replace("linger.ms", key)})
    assert bool([reason for reason in _rejected(findings) if "refused by the worker" in reason]) == refused


def test_exactly_once_support_is_for_the_sources_that_a_worker_runs(tmp_path: Path) -> None:
    worker = WORKER.replace("producer.acks=0\n", "exactly.once.source.support=enabled\n")
    findings = _found(tmp_path, {"w.properties": worker, "src.json": SOURCE, "out.json": SINK})
    (producer,), (consumer,) = _components(findings, Role.PRODUCER), _components(findings, Role.CONSUMER)
    assert _said(producer)["enable.idempotence"] == "true"
    assert "transactional.id" in producer.settings
    assert "on_restart" not in producer.application
    assert "commit" in consumer.application


def test_a_sink_that_commits_by_itself(tmp_path: Path) -> None:
    worker = WORKER + "consumer.enable.auto.commit=true\n"
    (consumer,) = _components(_found(tmp_path, {"w.properties": worker, "out.json": SINK}), Role.CONSUMER)
    assert "commit" not in consumer.application


def test_rejected_value_of_a_worker_prevents_verdicts_on_its_connectors(tmp_path: Path) -> None:
    worker = WORKER + "exactly.once.source.support=maybe\n"
    findings = _found(tmp_path, {"w.properties": worker, "src.json": SOURCE})
    (pipeline,) = pair(findings).pipelines
    (rejected,) = with_left_out(judge(pipeline), findings).rejected
    assert (Path(rejected.file or "").name, rejected.line) == ("w.properties", 7)


COMPOSE = """services:
  connect:
    image: confluentinc/cp-kafka-connect:7.6.0
    environment:
      CONNECT_PRODUCER_ACKS: "0"
      CONNECT_EXACTLY_ONCE_SOURCE_SUPPORT: enabled
      CONNECT_CONNECTOR_CLIENT_CONFIG_OVERRIDE_POLICY: None
"""


def test_a_worker_in_a_container(tmp_path: Path) -> None:
    findings = _found(tmp_path, {"compose.yml": COMPOSE, "connectors/src.json": SOURCE})
    (producer,) = _components(findings, Role.PRODUCER)
    assert _said(producer)["acks"] == "0"
    assert "transactional.id" in producer.settings
    assert any("refused by the worker" in reason for reason in _rejected(findings))


STRIMZI = """apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnect
metadata: {name: CLUSTER}
spec: {config: {group.id: c, producer.acks: 0}}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata: {name: src, labels: {strimzi.io/cluster: cc}}
spec:
  class: org.example.SomeSource
  config: {topic: orders}
"""


@pytest.mark.parametrize(("cluster", "acks"), [("cc", "0"), ("other", "all")])
def test_a_connector_of_strimzis_is_run_by_the_cluster_of_its_label(tmp_path: Path, cluster: str, acks: str) -> None:
    findings = _found(tmp_path, {"connect.yaml": STRIMZI.replace("CLUSTER", cluster)})
    (connector,) = [one for one in _components(findings, Role.PRODUCER) if "src" in one.name]
    assert _said(connector)["acks"] == acks
