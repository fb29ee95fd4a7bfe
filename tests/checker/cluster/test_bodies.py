"""Bodies say the same in every version, and what real clients said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from proofka.checker.cluster import bodies
from proofka.checker.cluster.batches import DamagedLog
from proofka.checker.cluster.frames import Frame
from tests.checker.cluster.bytes_of_clients import RELEASES, TOPIC_IDS, captured
from tests.checker.cluster.test_messages import VECTOR

SENT = (b"record-0", b"record-1", b"record-2")


def of(message: str) -> list[tuple[int, Frame, Any]]:
    """Return version, frame and Kafka's reading of each vector of a message."""
    return [(version, frame, read) for (name, version), (frame, read) in VECTOR.items() if name == message]


def below(topics: list[Any], name: str, partitions: str) -> Iterator[tuple[Any, Any, Any]]:
    """Yield name and id of the topic, as far as a version has them, and each of its partitions."""
    for topic in topics:
        for partition in topic[partitions]:
            yield topic.get(name), topic.get("topicId"), partition


@pytest.mark.parametrize("version, frame, read", of("ProduceRequest"))
def test_a_produce_request_of_every_version(version: int, frame: Frame, read: Any) -> None:
    found = bodies.produce_request(frame)
    assert (found.transactional_id, found.acks) == (read.get("transactionalId"), read["acks"])
    assert [(each.place, len(each.data)) for each in found.partitions] == [
        (bodies.Place(name, id_, each["index"]), each.get("recordsSizeInBytes", 0))
        for name, id_, each in below(read["topicData"], "name", "partitionData")
    ]
    assert all((each.place.topic is None) == (version >= 13) for each in found.partitions)


@pytest.mark.parametrize("version, frame, read", of("ProduceResponse"))
def test_a_produce_response_of_every_version(version: int, frame: Frame, read: Any) -> None:
    assert bodies.produce_response(frame).partitions == tuple(
        bodies.ProduceAnswer(bodies.Place(name, id_, each["index"]), each["errorCode"], each["baseOffset"])
        for name, id_, each in below(read["responses"], "name", "partitionResponses")
    )


@pytest.mark.parametrize("version, frame, read", of("FetchRequest"))
def test_a_fetch_request_of_every_version(version: int, frame: Frame, read: Any) -> None:
    found = bodies.fetch_request(frame)
    state = read if version < 15 else read.get("replicaState", {"replicaId": -1})
    assert found.replica_id == state["replicaId"]
    assert (found.session_id, found.session_epoch) == (read.get("sessionId", 0), read.get("sessionEpoch", -1))
    assert found.partitions == tuple(
        bodies.PartitionFetch(
            bodies.Place(name, id_, each["partition"]), each["fetchOffset"], each.get("currentLeaderEpoch", -1)
        )
        for name, id_, each in below(read["topics"], "topic", "partitions")
    )
    assert found.forgotten == tuple(
        bodies.Place(name, id_, each)
        for name, id_, each in below(read.get("forgottenTopicsData", []), "topic", "partitions")
    )


def test_vectors_of_followers_have_versions_with_and_without_a_tagged_replica_id() -> None:
    tagged = [read for version, _, read in of("FetchRequest") if version >= 15]
    assert {"replicaState" in read for read in tagged} == {True, False}


@pytest.mark.parametrize("version, frame, read", of("FetchResponse"))
def test_a_fetch_response_of_every_version(version: int, frame: Frame, read: Any) -> None:
    found = bodies.fetch_response(frame)
    assert (found.error_code, found.session_id) == (read.get("errorCode", 0), read.get("sessionId", 0))
    assert [
        (each.place, each.error_code, each.high_watermark, each.last_stable_offset, len(each.data))
        for each in found.partitions
    ] == [
        (
            bodies.Place(name, id_, each["partitionIndex"]),
            each["errorCode"],
            each["highWatermark"],
            each.get("lastStableOffset", -1),
            each.get("recordsSizeInBytes", 0),
        )
        for name, id_, each in below(read["responses"], "topic", "partitions")
    ]


@pytest.mark.parametrize("version, frame, read", of("AlterPartitionRequest"))
def test_an_alter_partition_request_of_every_version(version: int, frame: Frame, read: Any) -> None:
    found = bodies.alter_partition_request(frame)
    assert (found.broker_id, found.broker_epoch) == (read["brokerId"], read["brokerEpoch"])
    assert [(each.place, each.leader_epoch, each.partition_epoch, list(each.new_isr)) for each in found.partitions] == [
        (
            bodies.Place(name, id_, each["partitionIndex"]),
            each["leaderEpoch"],
            each["partitionEpoch"],
            each["newIsr"] if version < 3 else [broker["brokerId"] for broker in each["newIsrWithEpochs"]],
        )
        for name, id_, each in below(read["topics"], "topicName", "partitions")
    ]


@pytest.mark.parametrize("version, frame, read", of("OffsetCommitRequest") + of("TxnOffsetCommitRequest"))
def test_a_commit_of_offsets_of_every_version(version: int, frame: Frame, read: Any) -> None:
    reader = bodies.offset_commit_request if frame.api == "OffsetCommit" else bodies.txn_offset_commit_request
    found = reader(frame)
    assert (found.group, found.member) == (read["groupId"], read.get("memberId", ""))
    assert found.generation == read.get("generationIdOrMemberEpoch", -1)
    assert found.offsets == tuple(
        bodies.CommittedOffset(bodies.Place(name, id_, each["partitionIndex"]), each["committedOffset"])
        for name, id_, each in below(read["topics"], "name", "partitions")
    )


@pytest.mark.parametrize("version, frame, read", of("MetadataResponse"))
def test_a_metadata_response_of_every_version(version: int, frame: Frame, read: Any) -> None:
    assert bodies.metadata_response(frame) == tuple(
        bodies.PartitionLeader(
            bodies.Place(name, id_, each["partitionIndex"]),
            each["errorCode"],
            each["leaderId"],
            each.get("leaderEpoch", -1),
            tuple(each["isrNodes"]),
        )
        for name, id_, each in below(read["topics"], "name", "partitions")
    )


@pytest.mark.parametrize("version, frame, read", of("BrokerHeartbeatRequest"))
def test_a_heartbeat_of_every_version(version: int, frame: Frame, read: Any) -> None:
    assert bodies.broker_heartbeat_request(frame) == bodies.BrokerHeartbeatRequest(
        read["brokerId"], read["brokerEpoch"], read["currentMetadataOffset"], read["wantFence"], read["wantShutDown"]
    )


@pytest.mark.parametrize("version, frame, read", of("AddPartitionsToTxnRequest"))
def test_partitions_of_transactions_of_every_version(version: int, frame: Frame, read: Any) -> None:
    old = {name.removeprefix("v3AndBelow"): value for name, value in read.items()}
    each_of = read["transactions"] if version >= 4 else [{name[0].lower() + name[1:]: old[name] for name in old}]
    assert bodies.add_partitions_to_txn_requests(frame) == tuple(
        bodies.AddPartitionsToTxnRequest(
            each["transactionalId"],
            each["producerId"],
            each["producerEpoch"],
            each.get("verifyOnly", False),
            tuple(bodies.Place(name, None, number) for name, _, number in below(each["topics"], "name", "partitions")),
        )
        for each in each_of
    )


@pytest.mark.parametrize("version, frame, read", of("WriteTxnMarkersRequest"))
def test_markers_of_transactions_of_every_version(version: int, frame: Frame, read: Any) -> None:
    assert bodies.write_txn_markers_request(frame) == tuple(
        bodies.TransactionMarker(
            each["producerId"],
            each["producerEpoch"],
            each["transactionResult"],
            each["coordinatorEpoch"],
            tuple(
                bodies.Place(name, None, number)
                for name, _, number in below(each["topics"], "name", "partitionIndexes")
            ),
        )
        for each in read["markers"]
    )


@pytest.mark.parametrize("version, frame, read", of("EndTxnRequest"))
def test_an_end_of_a_transaction_of_every_version(version: int, frame: Frame, read: Any) -> None:
    assert bodies.end_txn_request(frame) == bodies.EndTxnRequest(
        read["transactionalId"], read["producerId"], read["producerEpoch"], read["committed"]
    )


@pytest.mark.parametrize("version, frame, read", of("InitProducerIdRequest") + of("InitProducerIdResponse"))
def test_producer_ids_of_every_version(version: int, frame: Frame, read: Any) -> None:
    found: bodies.InitProducerIdRequest | bodies.InitProducerIdResponse
    if frame.side == "request":
        found = bodies.init_producer_id_request(frame)
        assert found.transactional_id == read["transactionalId"]
    else:
        found = bodies.init_producer_id_response(frame)
        assert found.error_code == read["errorCode"]
    assert (found.producer_id, found.producer_epoch) == (read.get("producerId", -1), read.get("producerEpoch", -1))


@pytest.mark.parametrize("version, frame, read", of("FindCoordinatorRequest"))
def test_a_question_for_a_coordinator_of_every_version(version: int, frame: Frame, read: Any) -> None:
    keys = [read["key"]] if version < 4 else read["coordinatorKeys"]
    assert bodies.find_coordinator_request(frame) == bodies.FindCoordinatorRequest(tuple(keys), read.get("keyType", 0))


def test_a_body_of_another_kind_is_an_error() -> None:
    with pytest.raises(bodies.UnreadableBody, match="no Produce request"):
        bodies.produce_request(captured("4.1.1", "rdk-p", "Produce response"))


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("client, topic, acks", [("rdk-p", "t", 0), ("kp-p", "u", -1), ("java-p", "u", -1)])
def test_a_real_produce_request_has_its_record(release: str, client: str, topic: str, acks: int) -> None:
    found = bodies.produce_request(captured(release, client, "Produce request"))
    (partition,) = found.partitions
    assert partition.place.is_of(bodies.Topic(topic, TOPIC_IDS[release, topic]), 0)
    assert found.acks == acks
    assert partition.values == (b"record-0",)
    (batch,) = partition.batches
    known = bodies.init_producer_id_response(captured(release, client, "InitProducerId response"))
    expected = (-1, -1) if acks == 0 else (known.producer_id, 0)
    assert (batch.producer_id, batch.base_sequence) == expected


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("client, high, values", [("rdk-c", 10, SENT * 3), ("kp-c", 3, SENT), ("java-c", 6, SENT * 2)])
def test_a_real_fetch_response_has_its_records(release: str, client: str, high: int, values: tuple[bytes, ...]) -> None:
    found = bodies.fetch_response(captured(release, client, "Fetch response"))
    (partition,) = found.partitions
    assert (partition.error_code, partition.high_watermark, found.batch_count) == (0, high, len(values))
    assert tuple(record.value for batch in partition.batches for record in batch.records) == values


@pytest.mark.parametrize("release", RELEASES)
def test_a_real_fetch_of_a_follower_names_the_follower_and_has_no_records_at_first(release: str) -> None:
    asked = bodies.fetch_request(captured(release, "broker-2-fetcher-0", "Fetch request"))
    answered = bodies.fetch_response(captured(release, "broker-2-fetcher-0", "Fetch response"))
    assert asked.replica_id == 2
    assert {each.place.topic_id: each.fetch_offset for each in asked.partitions} == {
        TOPIC_IDS[release, "t"]: 0,
        TOPIC_IDS[release, "u"]: 0,
    }
    assert answered.batch_count == 0
    assert bodies.fetch_request(captured(release, "java-c", "Fetch request")).replica_id == -1


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("client, group, offset", [("rdk-c", "gr", 9), ("kp-c", "gk", 3), ("java-c", "gj", 6)])
def test_a_real_commit_has_its_offset(release: str, client: str, group: str, offset: int) -> None:
    found = bodies.offset_commit_request(captured(release, client, "OffsetCommit request"))
    assert (found.group, found.generation, [each.offset for each in found.offsets]) == (group, 1, [offset])


def test_bytes_behind_the_batches_of_a_produce_request_are_an_error() -> None:
    frame = captured("4.1.1", "java-p", "Produce request")
    (partition,) = bodies.produce_request(frame).partitions
    with pytest.raises(DamagedLog, match="1 bytes"):
        _ = replace(partition, data=partition.data + b"x").batches
    with pytest.raises(DamagedLog):
        _ = replace(partition, data=partition.data[:-1]).values
