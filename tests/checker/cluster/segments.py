"""Record batches as a client writes them, and the folders that hold them."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from proofka.checker.cluster.batches import crc32c

NO_PRODUCER = (-1, -1, -1)
"""The producer id, the producer epoch and the base sequence of a producer without numbers."""
TIME = 1_700_000_000_000
"""Milliseconds since the epoch of a record that no retention has to keep."""


def batch(
    base_offset: int,
    values: Sequence[bytes | None],
    *,
    epoch: int = 0,
    producer: tuple[int, int, int] = NO_PRODUCER,
    attributes: int = 0,
    key: bytes | None = None,
    time: int = TIME,
) -> bytes:
    """Return a batch of format 2 with consecutive offsets; the lowest bits of the attributes name the codec.

    ``time``: milliseconds since the epoch of the first record; each later record has one more.
    """
    records = b"".join(_record(number, key, value) for number, value in enumerate(values))
    if attributes & 7 == 1:
        records = gzip.compress(records)
    last = len(values) - 1
    checked = struct.pack(">hiqqqhii", attributes, last, time, time + last, *producer, len(values)) + records
    header = struct.pack(">ibI", epoch, 2, crc32c(checked))
    return struct.pack(">qi", base_offset, len(header) + len(checked)) + header + checked


def marker(base_offset: int, kind: int, *, producer_id: int) -> bytes:
    """Return the control batch that ends a transaction: 0 aborts, 1 commits."""
    key = struct.pack(">hh", 0, kind)
    return batch(base_offset, [b"\0" * 6], producer=(producer_id, 0, -1), attributes=0x30, key=key)


def partition(folder: Path, segments: Mapping[int, bytes]) -> Path:
    """Write segment files by base offset, with an index beside each."""
    folder.mkdir(parents=True)
    for base, data in segments.items():
        (folder / f"{base:020d}.log").write_bytes(data)
        (folder / f"{base:020d}.index").write_bytes(b"index")
    return folder


def checkpoint(path: Path, rows: Mapping[tuple[str, int], int]) -> None:
    """Write a checkpoint of offsets by partition, as a broker does."""
    lines = [f"{topic} {number} {offset}" for (topic, number), offset in rows.items()]
    path.write_text("\n".join(["0", str(len(lines)), *lines]) + "\n")


def _record(number: int, key: bytes | None, value: bytes | None) -> bytes:
    body = b"\0" + _varint(number) + _varint(number) + _field(key) + _field(value) + _varint(0)
    return _varint(len(body)) + body


def _field(data: bytes | None) -> bytes:
    return _varint(-1) if data is None else _varint(len(data)) + data


def _varint(number: int) -> bytes:
    coded = number * 2 if number >= 0 else -number * 2 - 1
    data = b""
    while coded >= 128:
        data += bytes([coded % 128 + 128])
        coded //= 128
    return data + bytes([coded])
