"""Records that a broker gives to consumers of one isolation level."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.checker.cluster.batches import batches
from proofka.checker.cluster.metadata_view import error_name
from proofka.checker.cluster.wire import Answer, array, ask, int8, int32, int64, text

_FETCH, _VERSION = 1, 4
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Given:
    """The records that a consumer can be given, as (offset, value); ``error`` is "" when all is well.

    ``last_stable``: the last stable offset, the first offset of an open transaction, or else the high watermark.
    """

    records: tuple[tuple[int, bytes], ...]
    high_watermark: int
    last_stable: int
    error: str


def given_by(port: int, topic: str, *, start: int, committed: bool, partition: int = 0) -> Given:
    """Return what the broker behind a port gives to a consumer from an offset on.

    ``committed``: the consumer reads only committed records, and passes over aborted ones as clients do.
    Raises ``NoAnswer``.
    """
    asked = int32(partition) + int64(start) + int32(_MOST_BYTES)
    limits = int32(-1) + int32(0) + int32(0) + int32(_MOST_BYTES) + int8(committed)
    answer = ask(port, _FETCH, _VERSION, limits + array([text(topic) + array([asked])]))
    answer.int32(), answer.int32(), answer.text(), answer.int32(), answer.int32()
    error, high_watermark, last_stable = answer.int16(), answer.int64(), answer.int64()
    aborted = answer.array(lambda: _aborted(answer))
    data = answer.raw(max(answer.int32(), 0))
    return Given(_handed_over(data, aborted, start), high_watermark, last_stable, error_name(error))


def _aborted(answer: Answer) -> tuple[int, int]:
    producer, first = answer.int64(), answer.int64()
    return first, producer


def _handed_over(data: bytes, aborted: tuple[tuple[int, int], ...], start: int) -> tuple[tuple[int, bytes], ...]:
    """Return the records without those of producers whose aborted transaction is open there."""
    to_come = sorted(aborted)
    skipped: set[int] = set()
    found: list[tuple[int, bytes]] = []
    for batch in batches(data):
        while to_come and to_come[0][0] <= batch.last_offset:
            skipped.add(to_come.pop(0)[1])
        if batch.is_control:
            if batch.marker == "abort":
                skipped.discard(batch.producer_id)
            continue
        if not (batch.is_transactional and batch.producer_id in skipped):
            found += [(record.offset, record.value or b"") for record in batch.records if record.offset >= start]
    return tuple(found)
