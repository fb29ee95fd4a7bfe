"""Bodies of requests from brokers to the controller."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.checker.cluster.bodies.place import Place, fields_of_message, places
from proofka.checker.cluster.frames import REQUEST, Frame


@dataclass(frozen=True)
class AlteredPartition:
    """A partition for which a leader asks for another ISR, given as ids of brokers."""

    place: Place
    leader_epoch: int
    partition_epoch: int
    new_isr: tuple[int, ...]


@dataclass(frozen=True)
class AlterPartitionRequest:
    """A request of a leader for other ISRs."""

    broker_id: int
    broker_epoch: int
    partitions: tuple[AlteredPartition, ...]


@dataclass(frozen=True)
class BrokerHeartbeatRequest:
    """A heartbeat of a broker; ``metadata_offset`` is the end of the metadata that the broker has applied."""

    broker_id: int
    broker_epoch: int
    metadata_offset: int
    wants_fence: bool
    wants_shut_down: bool


def alter_partition_request(frame: Frame) -> AlterPartitionRequest:
    """Return the body of an AlterPartition request. Raises UnreadableBody."""
    values = fields_of_message(frame, "AlterPartition", REQUEST)
    below = places(values["Topics"], "TopicName", partitions="Partitions", index="PartitionIndex")
    return AlterPartitionRequest(
        broker_id=values["BrokerId"],
        broker_epoch=values["BrokerEpoch"],
        partitions=tuple(
            AlteredPartition(
                place=place,
                leader_epoch=each["LeaderEpoch"],
                partition_epoch=each["PartitionEpoch"],
                new_isr=tuple(
                    each["NewIsr"] if "NewIsr" in each else (broker["BrokerId"] for broker in each["NewIsrWithEpochs"])
                ),
            )
            for place, each in below
        ),
    )


def broker_heartbeat_request(frame: Frame) -> BrokerHeartbeatRequest:
    """Return the body of a BrokerHeartbeat request. Raises UnreadableBody."""
    values = fields_of_message(frame, "BrokerHeartbeat", REQUEST)
    return BrokerHeartbeatRequest(
        broker_id=values["BrokerId"],
        broker_epoch=values["BrokerEpoch"],
        metadata_offset=values["CurrentMetadataOffset"],
        wants_fence=values["WantFence"],
        wants_shut_down=values["WantShutDown"],
    )
