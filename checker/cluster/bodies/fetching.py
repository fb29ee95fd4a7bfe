"""Bodies of Fetch, by consumers and by followers."""

from __future__ import annotations

from dataclasses import dataclass, field

from proofka.checker.cluster.batches import Batch, batches, extents
from proofka.checker.cluster.bodies.place import Place, fields_of_message, places
from proofka.checker.cluster.frames import REQUEST, RESPONSE, Frame

CONSUMER = -1
"""Replica id of a consumer."""
UNKNOWN_EPOCH = -1
"""Leader epoch in a request whose sender knows or says none."""


@dataclass(frozen=True)
class PartitionFetch:
    """A partition with the offset to fetch from, and the leader epoch that the sender knows (-1 for none)."""

    place: Place
    fetch_offset: int
    leader_epoch: int


@dataclass(frozen=True)
class FetchRequest:
    """A Fetch request; ``replica_id`` is the id of the follower, and -1 for a consumer.

    A session (``session_id`` above 0, ``session_epoch`` above 0) leaves out of ``partitions`` those that are fetched
    from the same offset as before; ``FetchSessions`` completes them. ``forgotten`` are those that leave the session.
    """

    replica_id: int
    session_id: int
    session_epoch: int
    partitions: tuple[PartitionFetch, ...]
    forgotten: tuple[Place, ...]


@dataclass(frozen=True)
class FetchedPartition:
    """The answer for one partition; ``error_code`` is 0 without an error, offsets are -1 where the leader says none."""

    place: Place
    error_code: int
    high_watermark: int
    last_stable_offset: int
    data: bytes = field(repr=False)

    @property
    def batch_count(self) -> int:
        """Number of whole batches, which does not depend on their codec; 0 in an answer without records."""
        return sum(1 for _ in extents(self.data))

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The whole batches; a leader can cut the last one. Raises CompressedLog for a codec that cannot be read."""
        return tuple(batches(self.data))


@dataclass(frozen=True)
class FetchResponse:
    """A Fetch response; ``error_code`` is that of the whole response. A session leaves out unchanged partitions."""

    error_code: int
    session_id: int
    partitions: tuple[FetchedPartition, ...]

    @property
    def batch_count(self) -> int:
        """Number of whole batches of all partitions."""
        return sum(partition.batch_count for partition in self.partitions)


def fetch_request(frame: Frame) -> FetchRequest:
    """Return the body of a Fetch request. Raises UnreadableBody."""
    values = fields_of_message(frame, "Fetch", REQUEST)
    # Since version 15 a follower names itself in a tagged field, and a consumer leaves the field out.
    replica = values.get("ReplicaState", {"ReplicaId": CONSUMER}) if "ReplicaId" not in values else values
    below = places(values["Topics"], "Topic", partitions="Partitions", index="Partition")
    return FetchRequest(
        replica_id=replica["ReplicaId"],
        session_id=values.get("SessionId", 0),
        session_epoch=values.get("SessionEpoch", -1),
        partitions=tuple(
            PartitionFetch(place, each["FetchOffset"], each.get("CurrentLeaderEpoch", UNKNOWN_EPOCH))
            for place, each in below
        ),
        forgotten=tuple(
            Place(topic.get("Topic"), topic.get("TopicId"), partition)
            for topic in values.get("ForgottenTopicsData", ())
            for partition in topic["Partitions"]
        ),
    )


def fetch_response(frame: Frame) -> FetchResponse:
    """Return the body of a Fetch response. Raises UnreadableBody."""
    values = fields_of_message(frame, "Fetch", RESPONSE)
    below = places(values["Responses"], "Topic", partitions="Partitions", index="PartitionIndex")
    return FetchResponse(
        error_code=values.get("ErrorCode", 0),
        session_id=values.get("SessionId", 0),
        partitions=tuple(
            FetchedPartition(
                place=place,
                error_code=each["ErrorCode"],
                high_watermark=each["HighWatermark"],
                last_stable_offset=each.get("LastStableOffset", -1),
                data=each["Records"] or b"",
            )
            for place, each in below
        ),
    )
