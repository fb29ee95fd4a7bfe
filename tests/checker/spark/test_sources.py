"""Sources of audits by their path, output of Kafka's tools, and labels of an inventory; some on a real session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.spark.sources import ClusterFolder, DeploymentFolder, InventoryFile, Requiring, find_source
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.profiles import in_profile
from tests.checker.spark.auditing import audit
from tests.model.deployment.describe.printed import write_cluster

DEPLOYMENT = "kafka: '4.0'\ntopic: {replicas: 2}\n"
QUICK = {"faults": "1", "faults.kill": "1", "bounds.records": "1", "bounds.log": "1"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a cluster with two producers, one of them broken, and a consumer."""
    folder = write_cluster(tmp_path / "prod")
    (folder / "producers").mkdir()
    (folder / "producers" / "web.properties").write_text("acks=1\nretries=0\n")
    (folder / "producers" / "batch.properties").write_text("acks=2\n")
    (folder / "consumer.properties").write_text("group.id=g\nenable.auto.commit=false\n")
    return folder


@pytest.mark.slow
def test_a_cluster_is_audited(spark: Any, folder: Path, tmp_path: Path) -> None:
    """Rows that can be read have verdicts, the others a reason, and each says what it is made of."""
    source = find_source(folder, QUICK, kafka="4.0")
    out = tmp_path / "out"
    counts = audit(spark, source, out)
    assert (counts.deployments, counts.rejected) == (2, 2)
    verdicts = {
        (row.deployment, row.chosen["topic"], row.chosen["producer"], row.place)
        for row in spark.read.parquet(str(out / "verdicts")).collect()
    }
    assert verdicts == {
        (f"{topic}:producers/web:consumer", topic, "producers/web.properties", str(folder))
        for topic in ("audit-log", "orders")
    }
    rejected = spark.read.parquet(str(out / "rejected")).collect()
    assert {row.chosen["producer"] for row in rejected} == {"producers/batch.properties"}
    assert {(Path(row.file).name, row.line, row.key) for row in rejected} == {("batch.properties", 1, "acks")}
    assert all("ConfigException" in row.reason for row in rejected)


def test_without_a_release_every_row_is_rejected(folder: Path) -> None:
    source = find_source(folder, {})
    with pytest.raises(DeploymentError, match=r"has no release .* --kafka 4\.0"):
        source.read(1, "", "")
    assert source.values(1)["topic"] == "audit-log"


def test_a_profile_names_the_required_properties_of_every_row(tmp_path: Path) -> None:
    """The profile outranks the deployment's own requirements, as in a check."""
    (tmp_path / "one.yaml").write_text(f"{DEPLOYMENT}require: [no-loss]\n")
    source = find_source(tmp_path, {})
    requiring = Requiring(source, "ordered")
    place = str(tmp_path / "one.yaml")
    assert source.read(1, place, "").require == ("no-loss",)
    assert set(requiring.read(1, place, "").require) == in_profile("ordered")
    assert requiring.called(1, place, "") == source.called(1, place, "") == "one"
    assert requiring.values(1) == source.values(1)


@pytest.mark.slow
def test_a_list_of_pipelines_with_labels(spark: Any, folder: Path) -> None:
    (folder / "pipelines.csv").write_text("topic,kafka,label.team\norders,3.9,a\n__consumer_offsets,3.9,b\n")
    source = find_source(folder, {})
    numbers = [row.number for row in source.rows(spark).orderBy("number").collect()]
    assert numbers == [2, 3]
    assert [source.values(number).get("label.team") for number in numbers] == ["a", "b"]
    assert source.read(2, "", "").cluster.kafka == (3, 9, 0)


def test_content_of_a_folder_decides_its_kind_of_source(folder: Path, tmp_path: Path) -> None:
    assert isinstance(find_source(folder, {}), ClusterFolder)
    deployments = tmp_path / "deployments"
    deployments.mkdir()
    (deployments / "one.yaml").write_text(DEPLOYMENT)
    for other in ("README.txt", "LICENSE", "producer.properties"):
        (deployments / other).write_text("nothing\n")
    (deployments / "out" / "verdicts").mkdir(parents=True)
    (deployments / "out" / "verdicts" / "part-0.parquet").write_text("")
    assert isinstance(find_source(deployments, {}), DeploymentFolder)
    assert isinstance(find_source(deployments / "out", {}), InventoryFile)
    assert isinstance(find_source(deployments / "out" / "verdicts", {}), InventoryFile)


def test_other_configuration_files_beside_deployments_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text('kafka: "4.0"\n', encoding="utf-8")
    (tmp_path / "README.txt").write_text("nothing\n", encoding="utf-8")
    assert find_source(tmp_path, {}) == DeploymentFolder(str(tmp_path), {})
    (tmp_path / "service").mkdir()
    (tmp_path / "service" / "producer.properties").write_text("acks=1\n", encoding="utf-8")
    assert find_source(tmp_path, {}) == DeploymentFolder(str(tmp_path), {}, "1 .properties file")


def test_folders_that_are_no_one_source(folder: Path, tmp_path: Path) -> None:
    (folder / "one.yaml").write_text(DEPLOYMENT)
    found = r"1 deployment file, 3 tool outputs, 3 \.properties files"
    with pytest.raises(DeploymentError, match=f"prod: holds deployment files and .*: {found}; audit each"):
        find_source(folder, {})
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DeploymentError, match=r"holds no source of an audit: .* \(found: nothing\)"):
        find_source(empty, {})


def test_a_release_is_said_only_where_nothing_else_does(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(DEPLOYMENT)
    (tmp_path / "fleet.csv").write_text("kafka\n4.0\n")
    for path in (tmp_path, tmp_path / "fleet.csv", tmp_path / "one.yaml"):
        with pytest.raises(DeploymentError, match=r"--kafka 4\.0: names the release of each deployment"):
            find_source(path, {}, kafka="4.0")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_labels_of_an_inventory(spark: Any, tmp_path: Path, form: str) -> None:
    """Are carried with the row, and no setting; any other column that nobody knows is a reason to reject it."""
    path = tmp_path / f"fleet.{form}"
    if form == "csv":
        path.write_text("kafka,topic.replicas,label.team,label.cost centre\n4.0,2,payments,7\n4.0,2,,\n")
    else:
        rows = [
            {"kafka": "4.0", "topic.replicas": 2, "label": {"team": "payments", "cost centre": 7}},
            {"kafka": "4.0", "topic.replicas": 2, "label.team": None},
        ]
        path.write_text("\n".join(map(json.dumps, rows)))
    source = find_source(path, {})
    found = source.rows(spark).orderBy("number").collect()
    labels = [dict(source.values(row.number, row.text)) for row in found]
    assert labels == [{"label.team": "payments", "label.cost centre": "7"}, {}]
    assert {source.read(row.number, row.place, row.text).cluster.replicas for row in found} == {2}
    text = json.dumps({"kafka": "4.0", "team": "payments"})
    with pytest.raises(DeploymentError, match=r"team: unknown section.* as in label\.team"):
        source.read(2, "fleet", text)
    assert source.values(2, "not json") == source.values(2, "[1]") == source.values(2) == {}
