"""The plan of a cluster: its release, its nodes and their settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CONTROLLER = 100
"""The node that is the controller."""
KRAFT, ZOOKEEPER = "kraft", "zookeeper"
"""The modes of a cluster: the controller keeps the metadata itself, or in ZooKeeper."""


@dataclass(frozen=True)
class ClusterPlan:
    """A cluster of brokers with one controller, the node 100.

    ``release``: a patch release such as "3.9.2". ``mode``: ``KRAFT`` or ``ZOOKEEPER``. ``kafka_home``: an installation
    of Kafka to use instead, whatever the release.
    ``broker_settings``: the settings of all nodes, as a deployment gives them; ``controller_settings``: more for node
    100; ``own_settings``: more for single brokers. ``session_ms``, ``heartbeat_ms``: milliseconds until a silent broker
    is fenced, and between its signs of life. ``features``: levels that differ from those of the release.
    ``hosts_internal_topics``: node 100 is a broker as well, which alone has the offsets and the transactions. With
    ZooKeeper node 100 is always a broker.
    """

    release: str
    brokers: tuple[int, ...] = (1, 2, 3)
    mode: str = KRAFT
    kafka_home: Path | None = None
    broker_settings: Mapping[str, str] = field(default_factory=dict)
    controller_settings: Mapping[str, str] = field(default_factory=dict)
    own_settings: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    session_ms: int = 3000
    heartbeat_ms: int = 500
    features: Mapping[str, int] = field(default_factory=dict)
    hosts_internal_topics: bool = True

    @property
    def nodes(self) -> tuple[int, ...]:
        """All nodes, the controller first."""
        return (CONTROLLER, *self.brokers)

    @property
    def all_brokers(self) -> tuple[int, ...]:
        """The nodes that are brokers; node 100 is the last, when it is one."""
        is_broker = self.hosts_internal_topics or self.mode == ZOOKEEPER
        return (*self.brokers, CONTROLLER) if is_broker else self.brokers

    @property
    def internal_replicas(self) -> int:
        """Number of replicas of the offsets and the transactions."""
        return 1 if self.hosts_internal_topics else min(3, len(self.brokers))

    def given(self, node: int) -> dict[str, str]:
        """Return the settings that the plan gives to a node."""
        own = self.controller_settings if node == CONTROLLER else self.own_settings.get(node, {})
        return {**self.broker_settings, **own}
