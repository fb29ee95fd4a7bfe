"""The ways between brokers and the controller with ZooKeeper: the controller tells each broker what it has decided.

The controller's requests to broker N are at the link "controller->N", the requests of broker N to the controller at
"N->controller", and the session of broker N at "N->zookeeper".
"""

from __future__ import annotations

from proofka.checker.cluster.channels import Channels, Messages
from proofka.checker.cluster.frames import REQUEST, Frame
from proofka.checker.cluster.zookeeper_connection import IsrWrites
from proofka.checker.cluster.zookeeper_frames import isr_of_write

ASKS_FOR_ISR = (2, 7)
"""The first protocol between brokers in which a leader asks the controller for another ISR (KIP-497)."""


class ZooKeeperChannels(Channels):
    """The controller sends leaders and metadata to each broker, and a leader asks the controller for another ISR."""

    knows_when_back = False

    def __init__(self) -> None:
        self.writes = IsrWrites()

    def to_controller(self, broker: str) -> str:
        """Return the links of a broker to ZooKeeper and to the controller, and that of the controller to the broker."""
        return f"{broker}->(controller|zookeeper)|controller->{broker}"

    def decisions(self, broker: int) -> Messages:
        """Return the controller's requests to a broker."""
        return Messages(f"controller->{broker}", REQUEST, frozenset({"LeaderAndIsr", "UpdateMetadata", "StopReplica"}))


class WritingChannels(ZooKeeperChannels):
    """Before Kafka 2.7 a leader writes its ISR to ZooKeeper, and the controller learns of the new ISR later.

    The leader's partition is locked until ZooKeeper answers. So a write that the trace does not have yet is not held,
    but fails, as a write fails whose version another write has passed; the leader tries again.
    """

    def proposals(self, broker: str) -> Messages:
        """Return the writes of another ISR."""
        return Messages(f"{broker}->zookeeper", REQUEST, None, when=lambda frame: isr_of_write(frame) is not None)

    def proposed_isr(self, frame: Frame) -> tuple[int, ...]:
        """Return the ISR that is written."""
        return isr_of_write(frame) or ()

    def withhold(self, wanted: tuple[int, ...] | None = None) -> None:
        """Let every write of an ISR but ``wanted`` fail."""
        self.writes.withhold(wanted)

    def admit(self) -> None:
        """Let every write pass."""
        self.writes.admit()
