"""Bodies of Produce."""

from __future__ import annotations

from dataclasses import dataclass, field

from proofka.checker.cluster.batches import Batch, DamagedLog, batches, extents
from proofka.checker.cluster.bodies.place import Place, fields_of_message, places
from proofka.checker.cluster.frames import REQUEST, RESPONSE, Frame


@dataclass(frozen=True)
class ProducedPartition:
    """The records for one partition, as bytes."""

    place: Place
    data: bytes = field(repr=False)

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The batches. Raises DamagedLog, and CompressedLog for a codec that cannot be read."""
        end = max((extent.end for extent in extents(self.data)), default=0)
        if end != len(self.data):
            raise DamagedLog(f"a Produce request has {len(self.data) - end} bytes that are no batch; run again")
        return tuple(batches(self.data))

    @property
    def values(self) -> tuple[bytes | None, ...]:
        """The values of all records, in order. Raises as ``batches`` does."""
        return tuple(record.value for batch in self.batches for record in batch.records)


@dataclass(frozen=True)
class ProduceRequest:
    """A Produce request; ``acks`` is -1 for all. ``partitions`` has one entry for each partition."""

    transactional_id: str | None
    acks: int
    partitions: tuple[ProducedPartition, ...]


@dataclass(frozen=True)
class ProduceAnswer:
    """The answer for one partition; ``error_code`` is 0 without an error, and ``base_offset`` -1 with one."""

    place: Place
    error_code: int
    base_offset: int


@dataclass(frozen=True)
class ProduceResponse:
    """A Produce response. ``partitions`` has one entry for each partition."""

    partitions: tuple[ProduceAnswer, ...]


def produce_request(frame: Frame) -> ProduceRequest:
    """Return the body of a Produce request. Raises UnreadableBody."""
    values = fields_of_message(frame, "Produce", REQUEST)
    below = places(values["TopicData"], "Name", partitions="PartitionData", index="Index")
    return ProduceRequest(
        transactional_id=values.get("TransactionalId"),
        acks=values["Acks"],
        partitions=tuple(ProducedPartition(place, each["Records"] or b"") for place, each in below),
    )


def produce_response(frame: Frame) -> ProduceResponse:
    """Return the body of a Produce response. Raises UnreadableBody."""
    values = fields_of_message(frame, "Produce", RESPONSE)
    below = places(values["Responses"], "Name", partitions="PartitionResponses", index="Index")
    return ProduceResponse(tuple(ProduceAnswer(place, each["ErrorCode"], each["BaseOffset"]) for place, each in below))
