"""The ways between brokers and the controller in KRaft mode: each broker asks the controller, at a link of its own."""

from __future__ import annotations

from proofka.checker.cluster.channels import Channels, Messages
from proofka.checker.cluster.frames import RESPONSE


class KRaftChannels(Channels):
    """A broker fetches the log of the metadata, and a leader asks the controller for another ISR."""

    def to_controller(self, broker: str) -> str:
        """Return the link from a broker to the controller."""
        return f"{broker}->controller"

    def decisions(self, broker: int) -> Messages:
        """Return the controller's answers to fetches of the log."""
        return Messages(f"{broker}->controller", RESPONSE, frozenset({"Fetch"}))
