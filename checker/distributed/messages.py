"""States sent to the partitions that own them: an Arrow file for each sender, a record batch for each receiver.

A row is a packed state and its origin, as in the regions, so neither side converts anything: the sender writes a buffer
unchanged, and the receiver maps the file into memory. A later run can read the files, so each batch has a checksum.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from proofka.checker.distributed.writing import replacing

CHECKSUMS = b"checksums"
"""Key of the schema's metadata for the checksums: four bytes for each batch."""


class MessagesLost(Exception):
    """A file of messages does not hold the rows that its sender reported."""


def write_messages(path: Path, rows: NDArray[np.uint64], starts: Sequence[int]) -> None:
    """Write rows to a file, completely or not at all.

    Rows ``starts[p]`` to ``starts[p + 1]`` are for partition ``p``.

    Raise OSError if there is no room.
    """
    width = rows.shape[1] * 8
    everything = pa.py_buffer(rows)
    checksums = b"".join(_checksum(everything, first * width, last * width) for first, last in pairwise(starts))
    schema = pa.schema([("row", pa.binary(width))], metadata={CHECKSUMS: checksums})
    with replacing(path) as new, pa.OSFile(str(new), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for first, last in pairwise(starts):
            buffer = everything.slice(first * width, (last - first) * width)
            column = pa.Array.from_buffers(schema.field(0).type, last - first, [None, buffer])
            writer.write_batch(pa.record_batch([column], schema=schema))


def read_messages(path: Path, receiver: int, count: int, words: int) -> NDArray[np.uint64]:
    """Return the rows for a partition, mapped into memory. Raise :class:`MessagesLost` unless there are ``count``."""
    width = (words + 1) * 8
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        column = reader.get_batch(receiver).column(0)
        checksum = reader.schema.metadata[CHECKSUMS][receiver * 4 : receiver * 4 + 4]
    except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
        raise MessagesLost(f"{path}: {error}") from None
    first, last = column.offset * width, (column.offset + count) * width
    buffer = column.buffers()[1]
    whole = len(column) == count and column.type == pa.binary(width) and buffer is not None and last <= buffer.size
    if not whole or _checksum(buffer, first, last) != checksum:
        raise MessagesLost(f"{path}: does not hold the {count:,} states that were sent to partition {receiver}")
    return np.frombuffer(buffer, dtype=np.uint8)[first:last].view(np.uint64).reshape(count, words + 1)


def _checksum(content: pa.Buffer, first: int, last: int) -> bytes:
    return zlib.crc32(memoryview(content)[first:last]).to_bytes(4, "little")
