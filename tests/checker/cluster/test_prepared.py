"""Data folders that are copies of a formatted one."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.cluster.prepared import Prepared, copy_formatted


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    """Make a formatted folder as Kafka 3.9 leaves it."""
    formatted = tmp_path / "formatted"
    formatted.mkdir()
    (formatted / "meta.properties").write_text("#\nnode.id=100\ndirectory.id=of-the-first\nversion=1\ncluster.id=c\n")
    (formatted / "bootstrap.checkpoint").write_bytes(b"features")
    return Prepared(formatted=formatted, archive=tmp_path / "classes.jsa")


def meta(data: Path) -> dict[str, str]:
    """Return what a data folder says of its node."""
    lines = (data / "meta.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_each_node_has_its_own_ids_and_the_id_of_the_cluster(prepared: Prepared, tmp_path: Path) -> None:
    for node in (1, 2):
        copy_formatted(prepared, tmp_path / str(node), node=node, is_controller=False)
    one, two = meta(tmp_path / "1"), meta(tmp_path / "2")
    assert (one["node.id"], two["node.id"]) == ("1", "2")
    assert len({one["directory.id"], two["directory.id"], "of-the-first"}) == 3
    assert len(one["directory.id"]) == 22
    assert (one["cluster.id"], one["version"]) == ("c", "1")


def test_only_the_controller_has_the_first_records_of_the_metadata(prepared: Prepared, tmp_path: Path) -> None:
    copy_formatted(prepared, tmp_path / "1", node=1, is_controller=False)
    copy_formatted(prepared, tmp_path / "100", node=100, is_controller=True)
    assert not (tmp_path / "1" / "bootstrap.checkpoint").exists()
    assert (tmp_path / "100" / "bootstrap.checkpoint").read_bytes() == b"features"
    assert meta(tmp_path / "100")["node.id"] == "100"


def test_a_release_without_ids_of_folders_gets_none(prepared: Prepared, tmp_path: Path) -> None:
    (prepared.formatted / "meta.properties").write_text("node.id=100\nversion=1\ncluster.id=c\n")
    copy_formatted(prepared, tmp_path / "1", node=1, is_controller=False)
    assert meta(tmp_path / "1") == {"node.id": "1", "version": "1", "cluster.id": "c"}
