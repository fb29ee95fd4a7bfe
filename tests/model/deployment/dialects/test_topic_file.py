"""A folder with producer, consumer and topic in files of their own is one pipeline, with its topic's settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.existing_files import Sought
from proofka.checker.source import Source

PRODUCER = "bootstrap.servers=b:9092\nkey.serializer=S\nacks=all\n"
CONSUMER = "bootstrap.servers=b:9092\ngroup.id=g\n"


def sought(folder: Path, chosen: str | None, /, **files: str) -> Sought:
    for name, text in files.items():
        (folder / f"{name}.properties").write_text(text, encoding="utf-8")
    found = Source(folder, kafka="3.9", topic=chosen).seek()
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["topic", "orders-topic", "topic-orders"])
def test_one_pipeline_has_the_topics_settings(tmp_path: Path, name: str) -> None:
    files = {"producer": PRODUCER, "consumer": CONSUMER, name: "replication.factor=2\nmin.insync.replicas=2\n"}
    (deployment,) = sought(tmp_path, None, **files).deployments
    assert (deployment.cluster.replicas, deployment.cluster.min_insync_replicas) == (2, 2)


@pytest.mark.parametrize("name", ["server", "broker", "kafka-server-1"])
def test_a_brokers_file_of_one_setting_is_a_brokers(tmp_path: Path, name: str) -> None:
    files = {"producer": PRODUCER, "topic": "replication.factor=3\n", name: "min.insync.replicas=2\n"}
    (deployment,) = sought(tmp_path, None, **files).deployments
    assert (deployment.cluster.replicas, deployment.cluster.min_insync_replicas) == (3, 2)


def test_a_named_topic_is_not_described_by_the_file_of_another(tmp_path: Path) -> None:
    named = sought(tmp_path, None, producer=PRODUCER, topic="name=orders\nreplication.factor=2\n")
    assert named.paired.topics == ("orders",)
    (deployment,) = named.deployments
    assert deployment.cluster.replicas == 2


def test_a_client_that_names_its_topic_has_the_file_without_a_name(tmp_path: Path) -> None:
    (deployment,) = sought(
        tmp_path, None, producer=f"{PRODUCER}topic=orders\n", topic="replication.factor=2\n"
    ).deployments
    assert (deployment.name, deployment.cluster.replicas) == ("orders: producer", 2)


def test_user_must_choose_one_of_several_topics(tmp_path: Path) -> None:
    files = {
        "a-producer": f"{PRODUCER}topic=orders\n",
        "b-producer": f"{PRODUCER}topic=bills\n",
        "topic": "replication.factor=2\n",
    }
    problems = [str(problem) for problem in sought(tmp_path, None, **files).problems]
    assert any("topic: no file names its topic: use --topic with one of bills, orders" in one for one in problems)
    (deployment,) = sought(tmp_path, "orders", **files).deployments
    assert deployment.cluster.replicas == 2


def test_an_unknown_setting_keeps_the_verdict_back(tmp_path: Path) -> None:
    found = sought(tmp_path, None, producer=PRODUCER, topic="replication.factor=3\nmin.insync.replica=2\n")
    (problem,) = found.problems
    assert (problem.line, problem.key) == (2, "min.insync.replica")
    assert "did you mean min.insync.replicas?" in str(problem)
    assert not found.deployments


def test_a_clients_setting_in_a_topics_file_keeps_the_verdict_back(tmp_path: Path) -> None:
    found = sought(tmp_path, None, producer=PRODUCER, topic="acks=1\nmin.insync.replicas=2\n")
    (problem,) = found.problems
    assert (problem.line, problem.key) == (1, "acks")
    assert "is no setting of a topic" in str(problem)
