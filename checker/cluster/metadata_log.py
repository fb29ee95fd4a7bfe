"""The states of partitions and brokers in the order in which the controller has written them.

All leaders, epochs and sets of replicas of a cluster stand in one log, ``__cluster_metadata``. Each broker learns them
in this order, some time later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Union

from proofka.checker.cluster.batches import Record
from proofka.checker.cluster.disk import METADATA_PARTITION, read_batches
from proofka.checker.cluster.errors import ClusterError
from proofka.checker.cluster.wire import Answer

_FRAME_VERSION = 1
_NO_CHANGE = -2
"""The leader in a record that leaves the leader as it is."""


class IncompleteMetadata(ClusterError):
    """A log of metadata without its first records, or with records that are not understood."""

    code = "K49"


@dataclass(frozen=True)
class PartitionState:
    """A partition after a record of the controller. ``offset``: of the record; ``time``: milliseconds since the epoch.

    ``eligible``, ``last_known``: the eligible leader replicas, and those that were eligible last (Kafka 4.0 on).
    ``is_recovering``: the leader was elected without being in sync, and has not finished its recovery.
    """

    offset: int
    time: int
    topic: str
    partition: int
    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    eligible: tuple[int, ...] = ()
    last_known: tuple[int, ...] = ()
    is_recovering: bool = False


@dataclass(frozen=True)
class BrokerState:
    """A broker after a record of the controller. ``offset``, ``time``: as of a partition.

    ``epoch``: the broker epoch, which a registration changes.
    """

    offset: int
    time: int
    broker: int
    epoch: int
    is_fenced: bool
    is_shutting_down: bool = False
    is_registered: bool = True


State = Union[PartitionState, BrokerState]
"""A state after a record."""


def read_states(data: Path) -> tuple[State, ...]:
    """Return the states in the order of the log of a node's data folder; the node may run.

    A removed topic has no further state. Raises ``IncompleteMetadata``.
    """
    batches = read_batches(data / "{}-{}".format(*METADATA_PARTITION))
    if batches and batches[0].base_offset > 0:
        raise IncompleteMetadata(
            f"the log of metadata in {data} begins at offset {batches[0].base_offset}; read earlier"
        )
    image = _Image()
    return tuple(
        state for batch in batches if not batch.is_control for record in batch.records for state in image.apply(record)
    )


class _Image:
    """The topics, partitions and brokers after the records so far."""

    def __init__(self) -> None:
        self._topics: dict[bytes, str] = {}
        self._partitions: dict[tuple[bytes, int], PartitionState] = {}
        self._brokers: dict[int, BrokerState] = {}

    def apply(self, record: Record) -> Iterator[State]:
        """Apply a record, and yield the state that the record changes."""
        fields = Answer(record.value or b"")
        frame, kind, version = fields.unsigned(), fields.unsigned(), fields.unsigned()
        if frame != _FRAME_VERSION:
            raise IncompleteMetadata(f"a record of metadata has the unknown form {frame}; use a release up to 4.4")
        reader = self._readers.get(kind)
        if reader is not None:
            yield from reader(self, record, fields, version)

    def _topic(self, _record: Record, fields: Answer, _version: int) -> Iterator[State]:
        name = fields.compact_text() or ""
        self._topics[fields.raw(16)] = name
        yield from ()

    def _removed_topic(self, _record: Record, fields: Answer, _version: int) -> Iterator[State]:
        topic = fields.raw(16)
        del self._topics[topic]
        self._partitions = {at: state for at, state in self._partitions.items() if at[0] != topic}
        yield from ()

    def _partition(self, record: Record, fields: Answer, version: int) -> Iterator[State]:
        number, topic = fields.int32(), fields.raw(16)
        replicas, isr, _removing, _adding = (fields.compact_array(fields.int32) for _ in range(4))
        leader, leader_epoch, partition_epoch = fields.int32(), fields.int32(), fields.int32()
        if version >= 1:
            fields.compact_array(lambda: fields.raw(16))
        tags = fields.tags()
        made = PartitionState(
            offset=record.offset,
            time=record.timestamp,
            topic=self._topics[topic],
            partition=number,
            leader=leader,
            leader_epoch=leader_epoch,
            partition_epoch=partition_epoch,
            isr=isr,
            replicas=replicas,
            eligible=_numbers(tags, 1, ()),
            last_known=_numbers(tags, 2, ()),
            is_recovering=_small(tags, 0, 0) == 1,
        )
        yield self._kept(topic, made)

    def _changed_partition(self, record: Record, fields: Answer, _version: int) -> Iterator[State]:
        number, topic, tags = fields.int32(), fields.raw(16), fields.tags()
        before = self._partitions[topic, number]
        leader = Answer(tags[1]).int32() if 1 in tags else _NO_CHANGE
        is_led_anew = leader != _NO_CHANGE
        recovery = _small(tags, 5, -1)
        made = replace(
            before,
            offset=record.offset,
            time=record.timestamp,
            leader=leader if is_led_anew else before.leader,
            leader_epoch=before.leader_epoch + is_led_anew,
            partition_epoch=before.partition_epoch + 1,
            isr=_numbers(tags, 0, before.isr),
            replicas=_numbers(tags, 2, before.replicas),
            eligible=_numbers(tags, 6, before.eligible),
            last_known=_numbers(tags, 7, before.last_known),
            is_recovering=before.is_recovering if recovery < 0 else recovery == 1,
        )
        yield self._kept(topic, made)

    def _kept(self, topic: bytes, state: PartitionState) -> PartitionState:
        self._partitions[topic, state.partition] = state
        return state

    def _registered(self, record: Record, fields: Answer, version: int) -> Iterator[State]:
        broker = fields.int32()
        if version >= 2:
            fields.int8()  # whether the broker migrates from ZooKeeper
        fields.raw(16)  # incarnation
        epoch = fields.int64()
        fields.compact_array(lambda: _endpoint(fields))
        fields.compact_array(lambda: _feature(fields))
        fields.compact_text()  # rack
        is_fenced = bool(fields.int8())
        is_shutting_down = version >= 1 and bool(fields.int8())
        yield self._seen(BrokerState(record.offset, record.timestamp, broker, epoch, is_fenced, is_shutting_down))

    def _changed_broker(self, record: Record, fields: Answer, _version: int) -> Iterator[State]:
        broker, _epoch, tags = fields.int32(), fields.int64(), fields.tags()
        fenced = _small(tags, 0, 0)
        before = self._brokers[broker]
        made = replace(
            before,
            offset=record.offset,
            time=record.timestamp,
            is_fenced=fenced > 0 if fenced else before.is_fenced,
            is_shutting_down=before.is_shutting_down or _small(tags, 1, 0) == 1,
        )
        yield self._seen(made)

    def _fenced(self, record: Record, fields: Answer, _version: int) -> Iterator[State]:
        yield self._with_fence(record, fields, is_fenced=True)

    def _unfenced(self, record: Record, fields: Answer, _version: int) -> Iterator[State]:
        yield self._with_fence(record, fields, is_fenced=False)

    def _with_fence(self, record: Record, fields: Answer, *, is_fenced: bool) -> BrokerState:
        before = self._brokers[fields.int32()]
        return self._seen(replace(before, offset=record.offset, time=record.timestamp, is_fenced=is_fenced))

    def _unregistered(self, record: Record, fields: Answer, _version: int) -> Iterator[State]:
        before = self._brokers[fields.int32()]
        gone = replace(before, offset=record.offset, time=record.timestamp, is_fenced=True, is_registered=False)
        yield self._seen(gone)

    def _seen(self, state: BrokerState) -> BrokerState:
        self._brokers[state.broker] = state
        return state

    _Reader = Callable[["_Image", Record, Answer, int], Iterator[State]]
    _readers: dict[int, _Reader] = {  # noqa: RUF012
        0: _registered,
        1: _unregistered,
        2: _topic,
        3: _partition,
        5: _changed_partition,
        7: _fenced,
        8: _unfenced,
        9: _removed_topic,
        17: _changed_broker,
    }


def _numbers(tags: dict[int, bytes], tag: int, otherwise: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of a tagged field; an absent field changes nothing."""
    if tag not in tags:
        return otherwise
    fields = Answer(tags[tag])
    return fields.compact_array(fields.int32)


def _small(tags: dict[int, bytes], tag: int, otherwise: int) -> int:
    return Answer(tags[tag]).int8() if tag in tags else otherwise


def _endpoint(fields: Answer) -> None:
    fields.compact_text(), fields.compact_text(), fields.int16(), fields.int16(), fields.tags()


def _feature(fields: Answer) -> None:
    fields.compact_text(), fields.int16(), fields.int16(), fields.tags()
