"""Bodies of commits of a group's offsets, outside of transactions and within."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.checker.cluster.bodies.place import Place, fields_of_message, places
from proofka.checker.cluster.frames import REQUEST, Frame
from proofka.checker.cluster.messages import Fields


@dataclass(frozen=True)
class CommittedOffset:
    """The offset that a group commits for a partition."""

    place: Place
    offset: int


@dataclass(frozen=True)
class OffsetCommitRequest:
    """A commit of a group's offsets; ``generation`` is -1, and ``member`` empty, for a consumer without membership."""

    group: str
    member: str
    generation: int
    offsets: tuple[CommittedOffset, ...]


def offset_commit_request(frame: Frame) -> OffsetCommitRequest:
    """Return the body of an OffsetCommit request. Raises UnreadableBody."""
    values = fields_of_message(frame, "OffsetCommit", REQUEST)
    return _commit(values)


def txn_offset_commit_request(frame: Frame) -> OffsetCommitRequest:
    """Return the offsets in the body of a TxnOffsetCommit request. Raises UnreadableBody."""
    values = fields_of_message(frame, "TxnOffsetCommit", REQUEST)
    return _commit(values)


def _commit(values: Fields) -> OffsetCommitRequest:
    below = places(values["Topics"], "Name", partitions="Partitions", index="PartitionIndex")
    return OffsetCommitRequest(
        group=values["GroupId"],
        member=values.get("MemberId", ""),
        generation=values.get("GenerationIdOrMemberEpoch", -1),
        offsets=tuple(CommittedOffset(place, each["CommittedOffset"]) for place, each in below),
    )
