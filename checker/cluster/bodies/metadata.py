"""Bodies of Metadata: where a client believes leaders to be."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.checker.cluster.bodies.place import Place, fields_of_message, places
from proofka.checker.cluster.frames import RESPONSE, Frame


@dataclass(frozen=True)
class PartitionLeader:
    """A partition with its leader and ISR as a broker tells them; ``leader`` is -1 for none.

    ``leader_epoch`` is -1 where the version says none.
    """

    place: Place
    error_code: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]


def metadata_response(frame: Frame) -> tuple[PartitionLeader, ...]:
    """Return the partitions in the body of a Metadata response. Raises UnreadableBody.

    A place has both the name and the id of its topic from version 10 on.
    """
    values = fields_of_message(frame, "Metadata", RESPONSE)
    below = places(values["Topics"], "Name", partitions="Partitions", index="PartitionIndex")
    return tuple(
        PartitionLeader(
            place=place,
            error_code=each["ErrorCode"],
            leader=each["LeaderId"],
            leader_epoch=each.get("LeaderEpoch", -1),
            isr=tuple(each["IsrNodes"]),
        )
        for place, each in below
    )
