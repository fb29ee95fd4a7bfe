"""KIP-320 (Kafka 2.1): leader and follower act together only in the same leader epoch."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.language import Action
from proofka.model.language.terms import And, Or
from proofka.model.published import controller, following, leadership
from proofka.model.published.cluster import Cluster, Replica, Request


def shrink_isr(cluster: Cluster, leader: Replica, follower: Replica) -> Action:
    """Drop a follower from the ISR that lags: it is in another epoch, or has a shorter log."""
    other_epoch = follower.epoch.term != leader.epoch.term
    lags = Or(other_epoch, follower.log.end < leader.log.end)
    return leadership.shrink_isr(cluster, leader, follower, lags)


def expand_isr(cluster: Cluster, leader: Replica, follower: Replica) -> Action:
    """Add a follower in the leader's epoch that reached the high watermark, once that is in the leader's own epoch."""
    caught_up = And(
        cluster.follows_epoch(follower, leader),
        follower.log.end >= leader.high_watermark.term,
        leadership.reached_own_epoch(cluster, leader),
    )
    return leadership.expand_isr(cluster, leader, follower, caught_up)


def increment_high_watermark(cluster: Cluster, leader: Replica) -> Action:
    """Raise the high watermark when every other ISR member is in the leader's epoch and has the record."""
    return leadership.increment_high_watermark(
        cluster,
        leader,
        lambda follower: And(
            cluster.follows_epoch(follower, leader),
            follower.log.end > leader.high_watermark.term,
        ),
    )


def fetch(cluster: Cluster, leader: Replica, follower: Replica) -> Action:
    """Copy the next record from the leader of the follower's epoch."""
    return following.fetch(cluster, leader, follower, cluster.follows_epoch(follower, leader))


def become_follower(cluster: Cluster, request: Request, leader: Replica, follower: Replica) -> Action:
    """Truncate to what the replica shares with a leader that has taken over in the request's epoch."""
    point = leader.log.matching_end(follower.log)
    in_that_epoch = leader.epoch.term == request.epoch
    leader_ready = And(cluster.presumes_leadership(leader), in_that_epoch)
    return following.become_follower(cluster, request, leader, follower, point, leader_ready)


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
            for request in cluster.requests:
                yield become_follower(cluster, request, leader, follower)
