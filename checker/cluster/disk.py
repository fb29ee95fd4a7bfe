"""The data folder of a broker: logs, checkpoints, and the records that a power loss takes away.

The folder can be read while its broker runs. It is changed only while its broker is down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from proofka.checker.cluster.batches import Batch, Extent, batches, extents
from proofka.checker.cluster.errors import ClusterError

Partition = tuple[str, int]
"""A topic and the number of a partition."""

METADATA_PARTITION: Partition = ("__cluster_metadata", 0)
"""The log in which controllers keep the metadata of the cluster."""

NEVER = 2**63 - 1
"""Number of records between two flushes of a broker that leaves flushes to the system, as Kafka writes the number."""

_FOLDER = re.compile(r"(?P<topic>[A-Za-z0-9._-]+)-(?P<partition>\d+)")
_SEGMENT = re.compile(r"\d{20}\.log")
_INDEXES = (".index", ".timeindex", ".txnindex")
_TRIES = 100
"""Number of readings of a log that change under the reader before an error is raised."""


class ChangingLog(ClusterError):
    """A log whose segment files disappear at each reading."""

    code = "K42"


class DurableRecords(ClusterError):
    """Records that a power loss cannot take, because the broker has flushed them."""

    code = "K43"


@dataclass(frozen=True)
class Cut:
    """The end offsets of a log before and after a power loss, and its recovery point."""

    recovery_point: int
    end_before: int
    end_after: int


def read_batches(folder: Path) -> tuple[Batch, ...]:
    """Return the batches of a partition's folder in the order of their offsets; a torn batch ends the log.

    The broker may run. Raise :class:`ChangingLog` when the broker deletes segments at each reading.
    """
    for _ in range(_TRIES):
        try:
            return tuple(batch for path in segments(folder) for batch in batches(path.read_bytes()))
        except FileNotFoundError:
            continue
    raise ChangingLog(f"segments of {folder} disappear at each reading; read the log again later")


def segments(folder: Path) -> tuple[Path, ...]:
    """Return the segment files of a partition's folder, lowest offset first; none for a folder that does not exist."""
    if not folder.is_dir():
        return ()
    return tuple(sorted(path for path in folder.iterdir() if _SEGMENT.fullmatch(path.name)))


def log_end(folder: Path) -> int:
    """Return the offset after the last whole batch of a partition's folder."""
    paths = segments(folder)
    end = int(paths[-1].stem) if paths else 0
    return max([end, *(extent.last_offset + 1 for path in paths for extent in extents(path.read_bytes()))])


def partition_folders(data: Path) -> dict[Partition, Path]:
    """Return the folder of each partition of a data folder, without the log of the cluster's metadata."""
    found = {}
    for path in sorted(data.iterdir()):
        match = _FOLDER.fullmatch(path.name)
        if match and path.is_dir():
            found[match["topic"], int(match["partition"])] = path
    found.pop(METADATA_PARTITION, None)
    return found


def recovery_points(data: Path) -> dict[Partition, int]:
    """Return the offset of each partition below which the broker has certainly flushed its log, as checkpointed."""
    return _checkpoint(data / "recovery-point-offset-checkpoint")


def log_starts(data: Path) -> dict[Partition, int]:
    """Return the log start offset of each partition whose start is not the begin of a segment, as checkpointed."""
    return _checkpoint(data / "log-start-offset-checkpoint")


def _checkpoint(path: Path) -> dict[Partition, int]:
    if not path.exists():
        return {}
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines()[2:])
    return {(topic, int(partition)): int(offset) for topic, partition, offset in rows}


def flushed_end(folder: Path, *, interval: int) -> int:
    """Return an offset below which a broker that flushes every ``interval`` records has certainly flushed a log."""
    paths = segments(folder)
    ends = [extent.last_offset + 1 for path in paths for extent in extents(path.read_bytes())]
    if not ends or ends[-1] < interval:
        return 0
    return next(end for end in ends if end > ends[-1] - interval)


def cut_to_recovery_points(
    data: Path, keep: Mapping[Partition, int] | None = None, *, flushed: Mapping[Partition, int] | None = None
) -> dict[Partition, Cut]:
    """Take from each log what a power loss can take, while the broker is down; return the cut of each partition.

    A partition keeps the offsets below its recovery point, below its number in ``flushed`` (an end offset that the
    broker's own flushes have reached since the checkpoint), and below its number in ``keep`` (an end offset).
    Raises ``DurableRecords`` where ``keep`` is below the others: such a power loss is impossible.
    """
    points = recovery_points(data)
    folders = partition_folders(data)
    cuts = {}
    for partition, folder in folders.items():
        before = log_end(folder)
        point = max(points.get(partition, 0), (flushed or {}).get(partition, 0))
        after = (keep or {}).get(partition, point)
        if after < min(point, before):
            name = f"{partition[0]}-{partition[1]}"
            raise DurableRecords(
                f"{name} cannot lose offset {after}: its broker has flushed the log below {point}; keep at least "
                f"{point}"
            )
        cuts[partition] = Cut(recovery_point=point, end_before=before, end_after=after)
    for partition, cut in cuts.items():
        cut_log(folders[partition], cut.end_after)
        cuts[partition] = replace(cut, end_after=log_end(folders[partition]))
    return cuts


def cut_metadata(data: Path) -> None:
    """Take from the log of the cluster's metadata its newest segment, which a broker since Kafka 3.5 does not flush.

    A controller flushes each record, so its log stays as it is.
    """
    folder = data / "{}-{}".format(*METADATA_PARTITION)
    paths = segments(folder)
    if paths:
        cut_log(folder, int(paths[-1].stem))


def cut_log(folder: Path, end: int) -> None:
    """Remove the batches with a record at or above the end offset, and indexes that reach above, while the broker is
    down.
    """
    for path in reversed(segments(folder)):
        if int(path.stem) >= end and path != segments(folder)[0]:
            _remove(path, *_indexes(path))
            continue
        kept = [extent.end for extent in _until(path, end)]
        size = kept[-1] if kept else 0
        if size == path.stat().st_size:
            return
        with path.open("r+b") as file:
            file.truncate(size)
        _remove(*_indexes(path))


def _until(path: Path, end: int) -> Iterator[Extent]:
    for extent in extents(path.read_bytes()):
        if extent.last_offset >= end:
            return
        yield extent


def _indexes(segment: Path) -> tuple[Path, ...]:
    return tuple(segment.with_suffix(suffix) for suffix in _INDEXES)


def _remove(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
