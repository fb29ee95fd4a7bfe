"""The data folder of a broker, and the records that a power loss takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.cluster import disk
from proofka.checker.cluster.disk import ChangingLog, Cut, DurableRecords
from tests.checker.cluster.segments import batch, checkpoint, partition

T = ("t", 0)


def values(folder: Path) -> list[bytes | None]:
    """Return the values of a log in order."""
    return [record.value for read in disk.read_batches(folder) for record in read.records]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Make a data folder: five records of t-0 in two segments, the last in a batch of two, and a log of metadata."""
    partition(
        tmp_path / "t-0",
        {
            0: batch(0, [b"0"]) + batch(1, [b"1"]),
            2: batch(2, [b"2"]) + batch(3, [b"3", b"4"]),
        },
    )
    partition(tmp_path / "__cluster_metadata-0", {0: batch(0, [b"old"]), 1: batch(1, [b"new"])})
    checkpoint(tmp_path / "recovery-point-offset-checkpoint", {T: 1})
    return tmp_path


def test_all_segments_are_read_in_order(data: Path) -> None:
    assert values(data / "t-0") == [b"0", b"1", b"2", b"3", b"4"]
    assert disk.log_end(data / "t-0") == 5


def test_a_folder_that_does_not_exist_is_an_empty_log(tmp_path: Path) -> None:
    assert disk.read_batches(tmp_path / "t-0") == ()
    assert disk.log_end(tmp_path / "t-0") == 0


def test_an_empty_segment_says_the_end_of_the_log(tmp_path: Path) -> None:
    assert disk.log_end(partition(tmp_path / "t-0", {9: b""})) == 9


def test_folders_of_deleted_and_moved_partitions_are_no_partitions(data: Path) -> None:
    partition(data / "t-1.0123456789abcdef0123456789abcdef-delete", {0: batch(0, [b"0"])})
    partition(data / "t-2.0123456789abcdef0123456789abcdef-future", {0: batch(0, [b"0"])})
    assert list(disk.partition_folders(data)) == [T]


def test_a_segment_that_disappears_is_read_again(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, lost = Path.read_bytes, [data / "t-0" / f"{0:020d}.log"]

    def read(path: Path) -> bytes:
        if path in lost:
            lost.remove(path)
            path.unlink()
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    assert values(data / "t-0") == [b"2", b"3", b"4"]


def test_a_log_that_always_changes_is_an_error(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path) -> bytes:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    with pytest.raises(ChangingLog):
        disk.read_batches(data / "t-0")


def test_checkpoints_are_read_by_partition(data: Path) -> None:
    checkpoint(data / "recovery-point-offset-checkpoint", {T: 1, ("u", 12): 0})
    assert disk.recovery_points(data) == {T: 1, ("u", 12): 0}
    assert disk.log_starts(data) == {}


def test_a_power_loss_takes_all_above_the_recovery_point(data: Path) -> None:
    assert disk.cut_to_recovery_points(data) == {T: Cut(recovery_point=1, end_before=5, end_after=1)}
    assert values(data / "t-0") == [b"0"]
    assert [path.name for path in sorted((data / "t-0").iterdir())] == [f"{0:020d}.log"]


def test_a_power_loss_without_checkpoint_takes_all(data: Path) -> None:
    (data / "recovery-point-offset-checkpoint").unlink()
    disk.cut_to_recovery_points(data)
    assert values(data / "t-0") == []
    assert (data / "t-0" / f"{0:020d}.log").exists()


@pytest.mark.parametrize(("keep", "kept"), [(2, 2), (3, 3), (4, 3), (5, 5), (9, 5)])
def test_a_power_loss_keeps_the_batches_below_an_end_offset(data: Path, keep: int, kept: int) -> None:
    assert disk.cut_to_recovery_points(data, {T: keep})[T].end_after == kept
    assert len(values(data / "t-0")) == kept


def test_a_power_loss_that_takes_nothing_leaves_the_indexes(data: Path) -> None:
    disk.cut_to_recovery_points(data, {T: 5})
    assert (data / "t-0" / f"{2:020d}.index").exists()


def test_a_power_loss_cannot_take_flushed_records(data: Path) -> None:
    partition(data / "a-0", {0: batch(0, [b"0"])})
    with pytest.raises(DurableRecords, match="keep at least 1"):
        disk.cut_to_recovery_points(data, {T: 0})
    assert (disk.log_end(data / "a-0"), disk.log_end(data / "t-0")) == (1, 5)
    with pytest.raises(DurableRecords, match="keep at least 3"):
        disk.cut_to_recovery_points(data, {T: 2}, flushed={T: 3})
    assert disk.cut_to_recovery_points(data, flushed={T: 3})[T].end_after == 3


def test_a_torn_batch_is_taken_too(data: Path) -> None:
    with (data / "t-0" / f"{2:020d}.log").open("ab") as file:
        file.write(batch(5, [b"5"])[:20])
    whole = (data / "t-0" / f"{2:020d}.log").stat().st_size - 20
    disk.cut_to_recovery_points(data, {T: 9})
    assert (data / "t-0" / f"{2:020d}.log").stat().st_size == whole


@pytest.mark.parametrize(("interval", "end"), [(1, 5), (2, 5), (3, 3), (4, 2), (5, 1), (6, 0), (disk.NEVER, 0)])
def test_flushes_by_number_of_records_reach_the_last_batches(data: Path, interval: int, end: int) -> None:
    assert disk.flushed_end(data / "t-0", interval=interval) == end


def test_the_newest_segment_of_the_metadata_is_cut(data: Path) -> None:
    disk.cut_metadata(data)
    assert values(data / "__cluster_metadata-0") == [b"old"]
