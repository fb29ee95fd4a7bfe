"""The mode of brokers of which no file says it: the same for files named by options as for those of a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proofka.checker.existing_files import seek
from proofka.checker.source import Source
from proofka.model.deployment import Deployment, read_properties

UNCLEAN = "unclean.leader.election.enable=true\nreplication.factor=3\n"


Reader = Callable[[Path, str], Deployment]


def by_options(folder: Path, kafka: str) -> Deployment:
    broker = folder / "broker.properties"
    return read_properties(kafka=kafka, topic=folder / "topic.properties", broker=broker if broker.exists() else None)


def as_folder(folder: Path, kafka: str) -> Deployment:
    return seek(folder, Source(folder, kafka=kafka)).only(str(folder))


@pytest.mark.parametrize("read", [by_options, as_folder])
@pytest.mark.parametrize(
    ("kafka", "topic", "broker", "zookeeper", "honoured"),
    [
        ("3.6", UNCLEAN, "", True, True),
        ("3.6", UNCLEAN, "process.roles=broker\nnode.id=1\n", False, False),
        ("3.6", "replication.factor=3\n", "", False, False),
        ("3.2", UNCLEAN, "", True, True),
        ("4.0", UNCLEAN, "", False, True),
    ],
)
def test_unclean_election_takes_the_mode_that_honours_it(
    tmp_path: Path, read: Reader, kafka: str, topic: str, broker: str, *, zookeeper: bool, honoured: bool
) -> None:
    (tmp_path / "topic.properties").write_text(topic, encoding="utf-8")
    (tmp_path / "producer.properties").write_text("acks=all\n", encoding="utf-8")
    if broker:
        (tmp_path / "broker.properties").write_text(broker, encoding="utf-8")
    deployment = read(tmp_path, kafka)
    assert (deployment.cluster.zookeeper, deployment.cluster.unclean_leader_election) == (zookeeper, honoured)


@pytest.mark.parametrize(("kafka", "zookeeper"), [("3.7.x", True), ("3.7.x.kraft", False), ("3.7", False)])
def test_a_release_of_a_vendor_can_tell_the_mode(tmp_path: Path, kafka: str, *, zookeeper: bool) -> None:
    (tmp_path / "topic.properties").write_text("replication.factor=3\n", encoding="utf-8")
    (tmp_path / "producer.properties").write_text("acks=all\n", encoding="utf-8")
    assert by_options(tmp_path, kafka).cluster.zookeeper is zookeeper
    assert as_folder(tmp_path, kafka).cluster.zookeeper is zookeeper
