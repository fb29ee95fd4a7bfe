"""The states of transactional ids in the order in which their coordinator has written them.

A coordinator keeps all it decides in the topic ``__transaction_state``, and acts on what is written there. A record has
the transactional id as its key. The first fields of key and value are the same in all versions of the format
(``TransactionLogKey.json`` and ``TransactionLogValue.json`` of Kafka; versions 0 and 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.cluster.disk import partition_folders, read_batches, segments
from proofka.checker.cluster.wire import Answer

STATE_TOPIC = "__transaction_state"
"""The topic in which the coordinator of transactions keeps what it decides."""

_STATES = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead")
"""Kafka's names of the states of a transactional id, by their numbers."""


@dataclass(frozen=True)
class TransactionState:
    """A transactional id after a record of its coordinator. ``time``: milliseconds since the epoch.

    ``partition``, ``offset``: the place of the record. ``name``: Kafka's name of the state.
    """

    partition: int
    offset: int
    time: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    name: str


def transaction_states(data: Path) -> tuple[TransactionState, ...]:
    """Return the states in a node's data folder, partition by partition, each in the order of its log.

    The node may run. Raises ``ChangingLog``.
    """
    return tuple(
        state
        for (topic, partition), folder in sorted(partition_folders(data).items())
        if topic == STATE_TOPIC
        for state in _states(folder, partition)
    )


def size_of_states(data: Path) -> int:
    """Return the bytes of the logs with the states in a node's data folder: each new state makes them larger."""
    folders = (folder for (topic, _), folder in partition_folders(data).items() if topic == STATE_TOPIC)
    return sum(path.stat().st_size for folder in folders for path in segments(folder))


def _states(folder: Path, partition: int) -> Iterator[TransactionState]:
    for batch in read_batches(folder):
        for record in () if batch.is_control else batch.records:
            if record.key is None or record.value is None:
                continue
            key, value = Answer(record.key), Answer(record.value)
            key.int16(), value.int16()  # the versions of the formats
            transactional_id, producer_id, producer_epoch = key.text() or "", value.int64(), value.int16()
            value.int32()  # the timeout
            name = _STATES[value.int8()]
            yield TransactionState(
                partition, record.offset, record.timestamp, transactional_id, producer_id, producer_epoch, name
            )
