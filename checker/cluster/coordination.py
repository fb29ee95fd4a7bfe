"""The state of a transactional id, and the members of a group, asked of their coordinator alone."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.checker.cluster.metadata_view import error_name
from proofka.checker.cluster.wire import (
    NO_TAGS,
    array,
    ask,
    compact_array,
    compact_text,
    int8,
    int16,
    int32,
    int64,
    text,
)

_DESCRIBE_GROUPS, _ADD_PARTITIONS, _DELETE_GROUPS, _DESCRIBE_TRANSACTIONS = 15, 24, 42, 65
_OF_CLIENT, _OF_BROKER = 2, 4
"""Versions of AddPartitionsToTxn: that of an older client, and that of a leader for a client of version 2 of
transactions."""


@dataclass(frozen=True)
class TransactionView:
    """A transactional id as its coordinator believes it.

    ``state`` has Kafka's own name, such as "Ongoing"; "" with an error. ``error`` is "" when all is well.
    ``partitions``: those that take part, by (topic, partition).
    """

    state: str
    producer_id: int
    producer_epoch: int
    partitions: tuple[tuple[str, int], ...]
    error: str

    def __str__(self) -> str:
        return self.error or f"{self.state}, producer epoch {self.producer_epoch}"


def transaction_of(port: int, transactional_id: str, *, seconds: float = 5) -> TransactionView:
    """Return the state of a transactional id as the broker behind a port believes it.

    The error is "TRANSACTIONAL_ID_NOT_FOUND" for an unknown id. Raises ``NoAnswer``.
    """
    body = compact_array([compact_text(transactional_id)]) + NO_TAGS
    answer = ask(port, _DESCRIBE_TRANSACTIONS, 0, body, flexible=True, seconds=seconds)
    answer.int32(), answer.unsigned()  # throttle time, one state
    error, _id, state = answer.int16(), answer.compact_text(), answer.compact_text()
    answer.int32(), answer.int64()  # timeout, start
    producer_id, epoch = answer.int64(), answer.int16()
    topics = answer.compact_array(
        lambda: (answer.compact_text() or "", answer.compact_array(answer.int32), answer.tags())
    )
    partitions = tuple((topic, number) for topic, numbers, _ in topics for number in numbers)
    return TransactionView(state or "", producer_id, epoch, partitions, error_name(error))


def add_partition(port: int, transactional_id: str, found: TransactionView, topic: str, *, as_leader: bool) -> str:
    """Add partition 0 of a topic to the ongoing transaction of a producer; return the error, "" when all is well.

    ``as_leader``: ask as a leader does for a client of version 2 of transactions, else as an older client.
    Raises ``NoAnswer``.
    """
    producer = int64(found.producer_id) + int16(found.producer_epoch)
    if not as_leader:
        body = text(transactional_id) + producer + array([text(topic) + array([int32(0)])])
        answer = ask(port, _ADD_PARTITIONS, _OF_CLIENT, body)
        answer.int32(), answer.int32(), answer.text(), answer.int32(), answer.int32()
        return error_name(answer.int16())
    topics = compact_array([compact_text(topic) + compact_array([int32(0)]) + NO_TAGS])
    transaction = compact_text(transactional_id) + producer + int8(False) + topics + NO_TAGS
    answer = ask(port, _ADD_PARTITIONS, _OF_BROKER, compact_array([transaction]) + NO_TAGS, flexible=True)
    answer.int32()
    error = answer.int16()
    answer.unsigned(), answer.compact_text(), answer.unsigned(), answer.compact_text(), answer.unsigned()
    answer.int32()
    return error_name(error or answer.int16())


def members_of(port: int, group: str) -> int:
    """Return the number of members of a group of the classic protocol, as its coordinator believes it.

    Raises ``NoAnswer``.
    """
    answer = ask(port, _DESCRIBE_GROUPS, 0, array([text(group)]))
    answer.int32(), answer.int16(), answer.text(), answer.text(), answer.text(), answer.text()
    return answer.int32()


def delete_group(port: int, group: str) -> str:
    """Delete a group without members, with its committed offsets; return the error, "" when all is well.

    Raises ``NoAnswer``.
    """
    answer = ask(port, _DELETE_GROUPS, 0, array([text(group)]))
    answer.int32(), answer.int32(), answer.text()
    return error_name(answer.int16())
