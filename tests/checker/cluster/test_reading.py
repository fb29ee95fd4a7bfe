"""Records that a broker gives to readers: committed records only, or all of them."""

from __future__ import annotations

import pytest

from proofka.checker.cluster.reading import given_by
from proofka.checker.cluster.wire import array, int16, int32, int64, text
from tests.checker.cluster.answering import broker, framed
from tests.checker.cluster.segments import batch, marker

TRANSACTIONAL = 0x10
LOG = (
    batch(5, [b"kept-1"], producer=(7, 0, 0), attributes=TRANSACTIONAL),
    marker(6, 1, producer_id=7),
    batch(7, [b"gone-2"], producer=(7, 0, 1), attributes=TRANSACTIONAL),
    batch(8, [b"alone-3"]),
    marker(9, 0, producer_id=7),
    batch(10, [b"kept-4"], producer=(7, 0, 2), attributes=TRANSACTIONAL),
)
"""A log in which producer 7 commits, aborts, and writes once more."""


def answer(*batches: bytes, aborted: bytes = b"", error: int = 0) -> bytes:
    """Return an answer to a Fetch request of version 4, with high watermark 11 and last stable offset 10."""
    data = b"".join(batches)
    found = int32(0) + int16(error) + int64(11) + int64(10) + aborted + int32(len(data)) + data
    return framed(int32(0) + array([text("t") + array([found])]))


def test_a_reader_of_committed_records_passes_over_aborted_ones_until_their_marker() -> None:
    aborted = array([int64(7) + int64(7)])
    with broker(answer(*LOG, aborted=aborted)) as (port, _):
        given = given_by(port, "t", start=5, committed=True)
    assert given.records == ((5, b"kept-1"), (8, b"alone-3"), (10, b"kept-4"))
    assert (given.high_watermark, given.last_stable, given.error) == (11, 10, "")


def test_a_reader_of_all_records_is_given_aborted_ones_and_no_markers() -> None:
    with broker(answer(*LOG, aborted=int32(-1))) as (port, requests):
        given = given_by(port, "t", start=5, committed=False)
    assert [offset for offset, _ in given.records] == [5, 7, 8, 10]
    assert given.records[1] == (7, b"gone-2")
    assert requests


@pytest.mark.parametrize("committed", [True, False])
def test_the_isolation_level_stands_in_the_request(committed: bool) -> None:
    with broker(answer(aborted=int32(-1))) as (port, requests):
        given_by(port, "t", start=5, committed=committed)
    assert requests[0][-4 - 3 - 4 - 4 - 8 - 4 - 1] == int(committed)


def test_records_before_the_offset_in_the_same_batch_are_left_out() -> None:
    with broker(answer(batch(4, [b"a-1", b"b-2"]), aborted=int32(-1))) as (port, _):
        assert given_by(port, "t", start=5, committed=False).records == ((5, b"b-2"),)


def test_an_error_has_its_name() -> None:
    with broker(answer(aborted=int32(-1), error=6)) as (port, _):
        assert given_by(port, "t", start=5, committed=False).error == "NOT_LEADER_OR_FOLLOWER"
