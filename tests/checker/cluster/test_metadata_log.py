"""States of partitions and brokers, read from a log of metadata that the test writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.cluster.metadata_log import BrokerState, IncompleteMetadata, PartitionState, read_states
from proofka.checker.cluster.wire import NO_TAGS, compact_array, compact_text, int8, int16, int32, int64, unsigned
from tests.checker.cluster.segments import TIME, batch, marker, partition

TOPIC = bytes(range(16))
OTHER = bytes(16)


def framed(kind: int, fields: bytes, *, version: int = 0, tags: dict[int, bytes] | None = None) -> bytes:
    """Return a record of metadata."""
    listed = sorted((tags or {}).items())
    tagged = unsigned(len(listed)) + b"".join(unsigned(tag) + unsigned(len(data)) + data for tag, data in listed)
    return unsigned(1) + unsigned(kind) + unsigned(version) + fields + tagged


def ids(*numbers: int) -> bytes:
    """Return a list of brokers."""
    return compact_array(map(int32, numbers))


def topic(name: str, identity: bytes = TOPIC) -> bytes:
    """Return the record of a topic."""
    return framed(2, compact_text(name) + identity)


def created(*, version: int = 0, tags: dict[int, bytes] | None = None, identity: bytes = TOPIC) -> bytes:
    """Return the record of partition 0 with the replicas 1 and 2, the ISR 1 and the leader 1."""
    fields = int32(0) + identity + ids(1, 2) + ids(1) + ids() + ids() + int32(1) + int32(0) + int32(0)
    return framed(3, fields + (compact_array([bytes(16)]) if version else b""), version=version, tags=tags)


def changed(tags: dict[int, bytes], *, version: int = 0) -> bytes:
    """Return the record of a change of partition 0."""
    return framed(5, int32(0) + TOPIC, version=version, tags=tags)


def registered(broker: int, epoch: int, *, version: int) -> bytes:
    """Return the record of a registration, fenced."""
    endpoint = compact_text("CLIENT") + compact_text("h") + int16(9092) + int16(0) + NO_TAGS
    feature = compact_text("metadata.version") + int16(1) + int16(20) + NO_TAGS
    fields = int32(broker) + (int8(0) if version >= 2 else b"") + bytes(16) + int64(epoch)
    fields += compact_array([endpoint]) + compact_array([feature]) + unsigned(0) + int8(1)
    return framed(0, fields + (int8(0) if version else b""), version=version)


def states(folder: Path, *records: bytes) -> tuple[PartitionState | BrokerState, ...]:
    """Return the states after each of these records."""
    data = marker(0, 1, producer_id=-1) + batch(1, records[:1]) + batch(2, records[1:])
    partition(folder / "__cluster_metadata-0", {0: data})
    return read_states(folder)


FIRST = PartitionState(
    offset=2,
    time=TIME,
    topic="t",
    partition=0,
    leader=1,
    leader_epoch=0,
    partition_epoch=0,
    isr=(1,),
    replicas=(1, 2),
)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_new_partition_has_its_leader_and_its_sets(tmp_path: Path, version: int) -> None:
    assert states(tmp_path, topic("t"), created(version=version)) == (FIRST,)


def test_a_new_partition_has_its_tagged_fields(tmp_path: Path) -> None:
    tags = {0: int8(1), 1: ids(2), 2: ids(3)}
    (state,) = states(tmp_path, topic("t"), created(version=2, tags=tags))
    assert isinstance(state, PartitionState)
    assert (state.is_recovering, state.eligible, state.last_known) == (True, (2,), (3,))


def test_a_change_raises_the_leader_epoch_only_with_a_leader(tmp_path: Path) -> None:
    records = [
        changed({0: ids(1, 2)}),
        changed({1: int32(2), 0: ids(2)}),
        changed({1: int32(2)}),
        changed({1: int32(-1)}),
    ]
    found = states(tmp_path, topic("t"), created(), *records)
    seen = [
        (state.offset, state.leader, state.leader_epoch, state.partition_epoch, state.isr)
        for state in found
        if isinstance(state, PartitionState)
    ]
    assert seen == [
        (2, 1, 0, 0, (1,)),
        (3, 1, 0, 1, (1, 2)),
        (4, 2, 1, 2, (2,)),
        (5, 2, 2, 3, (2,)),
        (6, -1, 3, 4, (2,)),
    ]


def test_a_change_has_replicas_eligible_leaders_and_recovery(tmp_path: Path) -> None:
    changes = ({2: ids(2, 1), 5: int8(1), 6: ids(1), 7: ids(3)}, {0: ids(2)}, {5: int8(0), 6: ids()})
    found = states(tmp_path, topic("t"), created(), *(changed(tags, version=2) for tags in changes))
    _, one, two, three = [state for state in found if isinstance(state, PartitionState)]
    for state in (one, two):
        assert (state.replicas, state.is_recovering, state.eligible, state.last_known) == ((2, 1), True, (1,), (3,))
    assert (three.replicas, three.is_recovering, three.eligible, three.last_known) == ((2, 1), False, (), (3,))


def test_partitions_of_a_removed_topic_are_forgotten(tmp_path: Path) -> None:
    found = states(tmp_path, topic("t"), created(), framed(9, TOPIC), topic("t", OTHER), created(identity=OTHER))
    assert [state.offset for state in found] == [2, 5]


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_a_broker_registers_is_unfenced_shuts_down_and_goes(tmp_path: Path, version: int) -> None:
    broker = int32(7) + int64(30)
    found = states(
        tmp_path,
        topic("t"),
        registered(7, 30, version=version),
        framed(17, broker, tags={0: int8(-1)}),
        framed(17, broker, tags={1: int8(1)}),
        framed(17, broker, tags={0: int8(1)}),
        registered(7, 40, version=version),
        framed(8, broker),
        framed(7, broker),
        framed(1, broker),
    )
    seen = [
        (state.epoch, state.is_fenced, state.is_shutting_down, state.is_registered)
        for state in found
        if isinstance(state, BrokerState)
    ]
    assert seen == [
        (30, True, False, True),
        (30, False, False, True),
        (30, False, True, True),
        (30, True, True, True),
        (40, True, False, True),
        (40, False, False, True),
        (40, True, False, True),
        (40, True, False, False),
    ]


def test_other_records_and_control_batches_are_no_states(tmp_path: Path) -> None:
    assert states(tmp_path, topic("t"), framed(12, compact_text("metadata.version") + int16(7))) == ()


def test_a_log_without_its_begin_is_an_error(tmp_path: Path) -> None:
    partition(tmp_path / "__cluster_metadata-0", {5: batch(5, [topic("t")])})
    with pytest.raises(IncompleteMetadata, match="offset 5"):
        read_states(tmp_path)


def test_an_unknown_form_of_records_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IncompleteMetadata, match="form 2"):
        states(tmp_path, b"\2\0\0")
