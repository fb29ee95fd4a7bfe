"""The examples that ship with the project are read without a complaint."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.model.deployment import read_deployment, read_properties
from proofka.model.deployment.choices import Acks, Commit, Processing

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_example(path: Path) -> None:
    deployment = read_deployment(path)
    assert deployment.cluster.replicas == 3
    assert deployment.require
    assert path.read_text().startswith("# ")


def test_the_first_example_hands_records_off_under_auto_commit() -> None:
    deployment = read_deployment(EXAMPLES / "orders.yaml")
    assert (deployment.application.commit, deployment.application.processing) == (Commit.AUTO, Processing.HANDED_OFF)
    assert (deployment.producer.acks, deployment.cluster.min_insync_replicas, deployment.producer.idempotence) == (
        Acks.ALL,
        2,
        True,
    )


def test_the_properties_files() -> None:
    folder = EXAMPLES / "properties"
    deployment = read_properties(
        kafka="4.0",
        topic=folder / "topic.properties",
        broker=folder / "server.properties",
        producer=folder / "producer.properties",
        consumer=folder / "consumer.properties",
    )
    assert (
        deployment.cluster.replicas,
        deployment.cluster.min_insync_replicas,
        deployment.consumer.max_poll_records,
    ) == (3, 2, 100)
    assert deployment.application.commit is Commit.AFTER
    assert deployment.notes == ()
