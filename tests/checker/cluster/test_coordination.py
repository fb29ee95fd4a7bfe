"""The views of coordinators, read from answers of a server of the test."""

from __future__ import annotations

import struct

from proofka.checker.cluster.coordination import (
    TransactionView,
    add_partition,
    delete_group,
    members_of,
    transaction_of,
)
from proofka.checker.cluster.wire import NO_TAGS, array, compact_array, compact_text, int16, int32, int64, text
from tests.checker.cluster.answering import broker, framed

ONGOING = TransactionView("Ongoing", 7, 3, (("t", 0),), "")


def described(state: str, *, error: int = 0) -> bytes:
    """Return an answer to a DescribeTransactions request, with partition 0 of topic t."""
    topics = compact_array([compact_text("t") + compact_array([int32(0)]) + NO_TAGS])
    found = int16(error) + compact_text("id") + compact_text(state) + int32(60000) + int64(1) + int64(7) + int16(3)
    return framed(NO_TAGS + int32(0) + compact_array([found + topics + NO_TAGS]) + NO_TAGS)


def test_a_transaction_has_its_state_and_partitions() -> None:
    with broker(described("Ongoing")) as (port, requests):
        view = transaction_of(port, "id")
    assert view == ONGOING
    assert str(view) == "Ongoing, producer epoch 3"
    assert struct.unpack(">hh", requests[0][4:8]) == (65, 0)


def test_an_unknown_id_has_an_error() -> None:
    with broker(described("", error=105)) as (port, _):
        view = transaction_of(port, "id")
    assert (view.state, view.error) == ("", "TRANSACTIONAL_ID_NOT_FOUND")
    assert str(view) == "TRANSACTIONAL_ID_NOT_FOUND"


def test_a_partition_is_added_as_an_older_client_does() -> None:
    answer = framed(int32(0) + array([text("t") + array([int32(0) + int16(90)])]))
    with broker(answer) as (port, requests):
        error = add_partition(port, "id", ONGOING, "t", as_leader=False)
    assert error == "PRODUCER_FENCED"
    assert struct.unpack(">hh", requests[0][4:8]) == (24, 2)
    assert int64(7) + int16(3) in requests[0]


def test_a_partition_is_added_as_a_leader_does() -> None:
    partition = compact_array([int32(0) + int16(0) + NO_TAGS])
    topics = compact_array([compact_text("t") + partition + NO_TAGS])
    result = compact_array([compact_text("id") + topics + NO_TAGS])
    with broker(framed(NO_TAGS + int32(0) + int16(0) + result + NO_TAGS)) as (port, requests):
        error = add_partition(port, "id", ONGOING, "t", as_leader=True)
    assert error == ""
    assert struct.unpack(">hh", requests[0][4:8]) == (24, 4)


def test_members_are_counted() -> None:
    found = int16(0) + text("g") + text("Stable") + text("consumer") + text("range") + array([b"member", b"member"])
    with broker(framed(array([found]))) as (port, _):
        assert members_of(port, "g") == 2


def test_the_deletion_of_a_group_with_members_is_refused() -> None:
    with broker(framed(int32(0) + array([text("g") + int16(68)]))) as (port, _):
        assert delete_group(port, "g") == "NON_EMPTY_GROUP"
