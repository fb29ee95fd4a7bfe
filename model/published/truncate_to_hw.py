"""Truncation to the high watermark, as before Kafka 0.11: a new follower keeps what it knows to be committed.

This loses records: a follower's high watermark lags, so the follower can drop committed records and then be elected.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.language import Action
from proofka.model.published import offsets_only
from proofka.model.published.cluster import Cluster, Replica


def truncation_point(cluster: Cluster, leader: Replica, follower: Replica) -> z3.ArithRef:
    """Return the follower's own high watermark."""
    return follower.high_watermark.term


def actions(cluster: Cluster) -> Iterator[Action]:
    """Yield the actions of this protocol."""
    return offsets_only.actions(cluster, truncation_point)
