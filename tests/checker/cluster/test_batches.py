"""Record batches that are read from the bytes of a segment."""

from __future__ import annotations

import pytest

from proofka.checker.cluster.batches import CompressedLog, DamagedLog, Record, batches, crc32c, extents
from tests.checker.cluster.segments import TIME, batch, marker


def test_the_checksum_is_that_of_castagnoli() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def test_a_batch_shows_its_header_and_its_records() -> None:
    (read,) = batches(batch(7, [b"record-1", None], epoch=3, producer=(1000, 2, 5), key=b"k"))
    assert (read.base_offset, read.last_offset, read.leader_epoch) == (7, 8, 3)
    assert (read.producer_id, read.producer_epoch, read.base_sequence) == (1000, 2, 5)
    assert read.records == (Record(7, b"k", b"record-1", TIME), Record(8, b"k", None, TIME + 1))
    assert not read.is_transactional and not read.is_control and read.marker is None


def test_a_long_record_has_a_length_of_several_bytes() -> None:
    (read,) = batches(batch(0, [b"x" * 70_000]))
    assert read.records[0].value == b"x" * 70_000


def test_a_batch_of_gzip_shows_its_records() -> None:
    (read,) = batches(batch(0, [b"record-1", b"record-2"], attributes=1))
    assert [record.value for record in read.records] == [b"record-1", b"record-2"]


def test_another_codec_is_an_error_with_its_name() -> None:
    with pytest.raises(CompressedLog, match="lz4"):
        list(batches(batch(0, [b"record-1"], attributes=3)))


def test_markers_end_transactions() -> None:
    sent = batch(0, [b"a"], producer=(5, 0, 0), attributes=0x10)
    first, commit, abort = batches(sent + marker(1, 1, producer_id=5) + marker(2, 0, producer_id=6))
    assert (first.is_transactional, first.is_control, first.marker) == (True, False, None)
    assert (commit.is_control, commit.marker, commit.producer_id) == (True, "commit", 5)
    assert (abort.marker, abort.producer_id) == ("abort", 6)


@pytest.mark.parametrize("lost", [1, 30, 70])
def test_a_torn_batch_ends_the_segment(lost: int) -> None:
    whole = batch(0, [b"a"])
    assert [read.base_offset for read in batches(whole + batch(1, [b"b" * 30])[:-lost])] == [0]


def test_a_batch_with_a_wrong_checksum_ends_the_segment() -> None:
    data = bytearray(batch(0, [b"a"]) + batch(1, [b"b"]) + batch(2, [b"c"]))
    data[len(batch(0, [b"a"])) + 66] ^= 1
    assert [read.base_offset for read in batches(bytes(data))] == [0]


def test_zeros_of_a_preallocated_file_end_the_segment() -> None:
    assert len(list(extents(batch(0, [b"a"]) + bytes(1000)))) == 1


def test_an_old_format_is_an_error() -> None:
    data = bytearray(batch(0, [b"a"]))
    data[16] = 1
    with pytest.raises(DamagedLog, match="format 1"):
        list(batches(bytes(data)))


def test_places_tell_the_bytes_of_each_batch() -> None:
    first, second = batch(4, [b"a", b"b"]), batch(6, [b"c"])
    places = [(place.base_offset, place.last_offset, place.start, place.end) for place in extents(first + second)]
    assert places == [(4, 5, 0, len(first)), (6, 6, len(first), len(first + second))]
