"""The brokers, the controller and the topic of a deployment."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.broker_rules import BrokerSettings
from proofka.model.deployment.era import Behaviour


@dataclass(frozen=True)
class Cluster(BrokerSettings, Behaviour):
    """The effective settings of brokers and topic, and what their release does."""

    kafka: tuple[int, int, int]  # release of the brokers, e.g. (4, 0, 0)
    offsets_applied_late: bool  # a transaction's, even after the next transaction's come (11.3, KAFKA-17507)
