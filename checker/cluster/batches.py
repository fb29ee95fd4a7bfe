"""Record batches of Kafka's log format (magic 2), read from bytes.

A batch without compression, or compressed with gzip, shows its records. Other codecs need a package that is not in the
standard library, so :class:`CompressedLog` is raised for them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from proofka.checker.cluster.errors import ClusterError

_HEADER = struct.Struct(">qiibIhiqqqhii")
_LENGTH = struct.Struct(">qi")
_AFTER_LENGTH = _LENGTH.size
_CHECKED_FROM = 21
"""Position in a batch of the first byte that the checksum covers."""
_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_TRANSACTIONAL, _CONTROL = 0x10, 0x20
_MARKERS = {0: "abort", 1: "commit"}


class CompressedLog(ClusterError):
    """A batch whose codec the standard library does not have."""

    code = "K40"

    def __init__(self, codec: str) -> None:
        super().__init__(f"a batch of the log is compressed with {codec}; set compression.type=none in the producer")


class DamagedLog(ClusterError):
    """Bytes of a batch that no release of Kafka writes."""

    code = "K41"


@dataclass(frozen=True)
class Record:
    """A record of a log; the time is in milliseconds since the epoch."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int


@dataclass(frozen=True)
class Batch:
    """A batch as a log holds it.

    The producer id, the producer epoch and the base sequence are -1 without an idempotent producer.
    """

    base_offset: int
    last_offset: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    is_transactional: bool
    is_control: bool
    records: tuple[Record, ...]

    @property
    def marker(self) -> str | None:
        """End of a transaction that this control batch marks: "commit" or "abort"; None in other batches."""
        if not self.is_control or not self.records:
            return None
        return _MARKERS.get(struct.unpack_from(">hh", self.records[0].key or b"")[1])


@dataclass(frozen=True)
class Extent:
    """The place of a batch: its offsets, and the bytes from ``start`` up to ``end`` of its segment file."""

    base_offset: int
    last_offset: int
    start: int
    end: int


def extents(data: bytes) -> Iterator[Extent]:
    """Yield the place of each whole batch of a segment, and stop at a torn one: too short, or with a wrong checksum."""
    position = 0
    while position + _HEADER.size <= len(data):
        base, length = _LENGTH.unpack_from(data, position)
        end = position + _AFTER_LENGTH + length
        if length < _HEADER.size - _AFTER_LENGTH or end > len(data):
            return
        _, _, _, magic, checksum, _, last_delta, *_ = _HEADER.unpack_from(data, position)
        if magic != 2:
            raise DamagedLog(
                f"a batch has format {magic}, and only format 2 is read; leave out log.message.format.version"
            )
        if crc32c(data[position + _CHECKED_FROM : end]) != checksum:
            return
        yield Extent(base, base + last_delta, position, end)
        position = end


def batches(data: bytes) -> Iterator[Batch]:
    """Yield each whole batch of a segment; raise :class:`CompressedLog` for a codec that cannot be read."""
    for extent in extents(data):
        yield _batch(data, extent)


def _batch(data: bytes, extent: Extent) -> Batch:
    header = _HEADER.unpack_from(data, extent.start)
    _, _, epoch, _, _, attributes, _, first_time, _, producer, producer_epoch, sequence, count = header
    payload = data[extent.start + _HEADER.size : extent.end]
    codec = _CODECS[attributes & 7]
    if codec == "gzip":
        payload = zlib.decompress(payload, wbits=zlib.MAX_WBITS | 16)
    elif codec != "none":
        raise CompressedLog(codec)
    return Batch(
        base_offset=extent.base_offset,
        last_offset=extent.last_offset,
        leader_epoch=epoch,
        producer_id=producer,
        producer_epoch=producer_epoch,
        base_sequence=sequence,
        is_transactional=bool(attributes & _TRANSACTIONAL),
        is_control=bool(attributes & _CONTROL),
        records=tuple(_records(payload, count, base_offset=extent.base_offset, first_time=first_time)),
    )


def _records(payload: bytes, count: int, *, base_offset: int, first_time: int) -> Iterator[Record]:
    position = 0
    for _ in range(count):
        length, position = varint(payload, position)
        end = position + length
        time_delta, position = varint(payload, position + 1)
        offset_delta, position = varint(payload, position)
        key, position = _field(payload, position)
        value, position = _field(payload, position)
        yield Record(base_offset + offset_delta, key, value, first_time + time_delta)
        position = end


def _field(payload: bytes, position: int) -> tuple[bytes | None, int]:
    length, position = varint(payload, position)
    if length < 0:
        return None, position
    return payload[position : position + length], position + length


def varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the signed number of variable length (zigzag) at a position, and the position after the number."""
    number, position = unsigned_varint(data, position)
    return (number >> 1) ^ -(number & 1), position


def unsigned_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the unsigned number of variable length at a position, and the position after the number."""
    number = shift = 0
    while True:
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
        shift += 7


def _table_of_checksums() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)


_CHECKSUMS = _table_of_checksums()


def crc32c(data: bytes) -> int:
    """Return the checksum (CRC-32C, Castagnoli) that Kafka keeps of a batch."""
    state = 0xFFFFFFFF
    for byte in data:
        state = (state >> 8) ^ _CHECKSUMS[(state ^ byte) & 0xFF]
    return state ^ 0xFFFFFFFF
