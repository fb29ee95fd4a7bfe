"""KIP-101 (Kafka 0.11): a new follower asks its leader where the follower's last leader epoch ends.

The leader answers with the start of the next epoch that it knows, which can be later than the epoch in which the two
logs diverge.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.language import Action
from proofka.model.language.terms import And, If, IntVal
from proofka.model.published import offsets_only
from proofka.model.published.cluster import Cluster, Replica
from proofka.model.published.record_log import EMPTY


def truncation_point(cluster: Cluster, leader: Replica, follower: Replica) -> z3.ArithRef:
    """Return where the leader's log leaves the epoch of the follower's last record, or the follower's high watermark.

    The high watermark is the answer where the leader does not know. A follower that shares the leader's last epoch but
    is shorter gets the leader's end offset, which is beyond its own.
    """
    last_epoch = cluster.epoch_of(follower.log.last)
    unknown = follower.high_watermark.term
    next_epoch_start: z3.ArithRef = unknown
    for offset in reversed(leader.log.offsets):
        later = And(leader.log.has(offset), cluster.epoch_at(leader.log, offset) > last_epoch)
        next_epoch_start = If(later, offset, next_epoch_start)
    same_epoch = cluster.epoch_of(leader.log.last) == last_epoch
    answer = If(same_epoch, leader.log.end, next_epoch_start)
    answer = If(leader.log.last == EMPTY, unknown, answer)
    return If(follower.log.last == EMPTY, IntVal(0), answer)


def actions(cluster: Cluster) -> Iterator[Action]:
    """Yield the actions of this protocol."""
    return offsets_only.actions(cluster, truncation_point)
