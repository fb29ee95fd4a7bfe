"""KIP-279 (Kafka 2.0): a new follower truncates to the last record that it shares with its leader."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.language import Action
from proofka.model.published import offsets_only
from proofka.model.published.cluster import Cluster, Replica


def truncation_point(cluster: Cluster, leader: Replica, follower: Replica) -> z3.ArithRef:
    """Return the offset at which the two logs, read from the tail, agree."""
    return leader.log.matching_end(follower.log)


def actions(cluster: Cluster) -> Iterator[Action]:
    """Yield the actions of this protocol."""
    return offsets_only.actions(cluster, truncation_point)
