"""The common part of the protocols before KIP-320: progress is judged by end offsets alone, without epochs.

These protocols differ in one thing: where a new follower truncates its log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import z3

from proofka.model.language import Action
from proofka.model.language.terms import And, Not
from proofka.model.published import controller, following, leadership
from proofka.model.published.cluster import Cluster, Replica

TruncationPoint = Callable[[Cluster, Replica, Replica], z3.ArithRef]
"""Cluster, leader, follower -> the offset from which the follower drops its records."""


def caught_up(cluster: Cluster, leader: Replica, follower: Replica, offset: z3.ArithRef) -> z3.BoolRef:
    """Tell whether the follower follows the leader and its log reaches ``offset``, as the leader's does.

    Contents do not matter.
    """
    return And(cluster.follows(follower, leader), follower.log.end >= offset)


def fetch(cluster: Cluster, leader: Replica, follower: Replica) -> Action:
    """Copy the next record from the replica that the follower considers the leader, if that replica does so too."""
    return following.fetch(
        cluster, leader, follower, cluster.presumes_leadership(leader), cluster.follows(follower, leader)
    )


def increment_high_watermark(cluster: Cluster, leader: Replica) -> Action:
    """Raise the high watermark when every other ISR member follows the leader and has the record."""
    above = leader.high_watermark.term + 1
    return leadership.increment_high_watermark(
        cluster, leader, lambda follower: caught_up(cluster, leader, follower, above)
    )


def become_follower(cluster: Cluster, truncation_point: TruncationPoint) -> Iterator[Action]:
    """Yield the actions in which a replica follows a new leader and truncates, if it can truncate there.

    The point of truncation can be beyond the replica's own end offset.
    """
    for leader in cluster.replicas:
        for follower in cluster.others(leader):
            point = truncation_point(cluster, leader, follower)
            for request in cluster.requests:
                reachable = point <= follower.log.end
                yield following.become_follower(cluster, request, leader, follower, point, reachable)


def actions(cluster: Cluster, truncation_point: TruncationPoint) -> Iterator[Action]:
    """Yield the actions of a protocol before KIP-320."""
    yield from controller.actions(cluster)
    yield from leadership.actions(cluster)
    for leader in cluster.replicas:
        yield increment_high_watermark(cluster, leader)
        for follower in cluster.others(leader):
            lags = Not(caught_up(cluster, leader, follower, leader.log.end))
            yield leadership.shrink_isr(cluster, leader, follower, lags)
            at_high_watermark = caught_up(cluster, leader, follower, leader.high_watermark.term)
            yield leadership.expand_isr(cluster, leader, follower, at_high_watermark)
            yield fetch(cluster, leader, follower)
    yield from become_follower(cluster, truncation_point)
