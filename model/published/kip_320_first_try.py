"""The first attempt at KIP-320, rejected: it compares the epochs of records, and not the replicas' own epochs.

A new follower truncates in a step of its own, once it finds that its log diverges.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.language import Action
from proofka.model.language.terms import And, Not, Or
from proofka.model.published import controller, following, leadership
from proofka.model.published.cluster import Cluster, Replica


def same_epoch_below(cluster: Cluster, leader: Replica, follower: Replica, offset: z3.ArithRef) -> z3.BoolRef:
    """Tell whether both logs reach ``offset``, and their records right below it are of the same epoch."""
    same = [
        And(
            offset == index + 1,
            leader.log.has(index),
            follower.log.has(index),
            cluster.epoch_at(leader.log, index) == cluster.epoch_at(follower.log, index),
        )
        for index in leader.log.offsets
    ]
    return Or(offset == 0, *same)


def caught_up_by_epoch(cluster: Cluster, leader: Replica, follower: Replica, offset: z3.ArithRef) -> z3.BoolRef:
    """Tell whether the follower follows a presumed leader, and equals its log up to ``offset``, by epochs."""
    return And(
        cluster.presumes_leadership(leader),
        cluster.follows(follower, leader),
        same_epoch_below(cluster, leader, follower, offset),
    )


def shrink_isr(cluster: Cluster, leader: Replica, follower: Replica) -> Action:
    """Drop a follower from the ISR that is not caught up, by epoch, to the leader's end offset."""
    lags = Not(
        And(
            cluster.follows(follower, leader),
            same_epoch_below(cluster, leader, follower, leader.log.end),
        )
    )
    return leadership.shrink_isr(cluster, leader, follower, lags)


def expand_isr(cluster: Cluster, leader: Replica, follower: Replica) -> Action:
    """Add a follower caught up, by epoch, to the high watermark, once that is in the leader's own epoch."""
    caught_up = And(
        caught_up_by_epoch(cluster, leader, follower, leader.high_watermark.term),
        leadership.reached_own_epoch(cluster, leader),
    )
    return leadership.expand_isr(cluster, leader, follower, caught_up)


def increment_high_watermark(cluster: Cluster, leader: Replica) -> Action:
    """Raise the high watermark when every other ISR member has a record of the same epoch there."""
    above = leader.high_watermark.term + 1
    return leadership.increment_high_watermark(
        cluster,
        leader,
        lambda follower: And(
            cluster.follows(follower, leader),
            same_epoch_below(cluster, leader, follower, above),
        ),
    )


def fetch(cluster: Cluster, leader: Replica, follower: Replica) -> Action:
    """Copy the next record while the follower's last one is, by epoch, the leader's."""
    by_epoch = caught_up_by_epoch(cluster, leader, follower, follower.log.end)
    return following.fetch(cluster, leader, follower, by_epoch)


def truncate(cluster: Cluster, leader: Replica, follower: Replica) -> Action:
    """Truncate a log that is longer than the leader's, or whose last record has another epoch than the leader's."""
    other_epoch = [
        And(
            follower.log.end == offset + 1,
            leader.log.has(offset),
            cluster.epoch_at(leader.log, offset) != cluster.epoch_at(follower.log, offset),
        )
        for offset in leader.log.offsets
    ]
    diverges = Or(follower.log.end > leader.log.end, *other_epoch)
    return following.truncate(cluster, leader, follower, diverges)


def actions(cluster: Cluster) -> Iterator[Action]:
    """Yield the actions of this protocol."""
    yield from controller.actions(cluster)
    yield from leadership.actions(cluster)
    for leader in cluster.replicas:
        yield increment_high_watermark(cluster, leader)
        for follower in cluster.others(leader):
            yield shrink_isr(cluster, leader, follower)
            yield expand_isr(cluster, leader, follower)
            yield fetch(cluster, leader, follower)
            yield truncate(cluster, leader, follower)
            for request in cluster.requests:
                yield following.become_follower(cluster, request, leader, follower, None)
