"""The ways between brokers and the controller in KRaft mode: each broker asks the controller, at a link of its own."""

from __future__ import annotations

from checker.cluster.bodies.controlling import alter_partition_request
from checker.cluster.channels import Channels, Messages
from checker.cluster.frames import REQUEST, RESPONSE, Frame


class KRaftChannels(Channels):
    """A broker fetches the log of the metadata, and a leader asks the controller for another ISR."""

    def to_controller(self, broker: str) -> str:
        """Return the link from a broker to the controller."""
        return f"{broker}->controller"

    def decisions(self, broker: int) -> Messages:
        """Return the controller's answers to fetches of the log."""
        return Messages(f"{broker}->controller", RESPONSE, frozenset({"Fetch"}))

    def proposals(self, broker: str) -> Messages:
        """Return the requests for another ISR."""
        return Messages(f"{broker}->controller", REQUEST, frozenset({"AlterPartition"}))

    def proposed_isr(self, frame: Frame) -> tuple[int, ...]:
        """Return the ISR that a request asks for. Raises UnreadableBody."""
        return tuple(sorted(alter_partition_request(frame).partitions[0].new_isr))

    def withhold(self, wanted: tuple[int, ...] | None = None) -> None:
        """Do nothing: a gate holds the requests."""

    def admit(self) -> None:
        """Do nothing, as :meth:`withhold`."""
