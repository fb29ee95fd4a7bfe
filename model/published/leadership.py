"""The leader's steps: those common to every published protocol, and those that differ in their condition only."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import z3

from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, Not, Or
from proofka.model.published.cluster import Cluster, Replica, Request
from proofka.model.published.sentences import members


def become_leader(cluster: Cluster, request: Request, leader: Replica) -> Action:
    """Take over as the leader that a newer request names; high watermark and log stay."""
    effect = Effect()
    effect[leader.epoch] = request.epoch
    for number, member in leader.isr.items():
        effect[member] = request.isr[number].term
    return Action(
        "become_leader",
        leader.name,
        lane="brokers",
        arguments={"epoch": request.epoch, "leader": leader.number},
        guard=And(request.names(leader), leader.epoch.term < request.epoch),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} becomes leader in epoch {request.epoch}, ISR {members(after, leader.isr, leader)}"
        ),
        semantics="published, leader",
    )


def write(cluster: Cluster, leader: Replica) -> Action:
    """Append the next record at a leader, true or zombie, in its own epoch, whatever the size of its ISR."""
    record = cluster.records_written.term + 1
    effect = Effect()
    leader.log.append(effect, record)
    cluster.set_epoch_of(effect, record, leader.epoch.term)
    effect[cluster.records_written] = record
    return Action(
        "write",
        leader.name,
        lane="brokers",
        arguments={"leader": leader.number},
        guard=And(
            cluster.presumes_leadership(leader),
            cluster.record_left,
            Not(leader.log.is_full),
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} appends record {after[cluster.records_written.name]} in epoch {after[leader.epoch.name]}"
        ),
        semantics="published, leader",
    )


def shrink_isr(cluster: Cluster, leader: Replica, follower: Replica, lags: z3.BoolRef) -> Action:
    """Drop a follower that ``lags`` from the true leader's ISR; the quorum accepts at once, in the same epoch."""
    effect = Effect()
    effect[leader.isr[follower.number]] = False
    return Action(
        "shrink_isr",
        leader.name,
        lane="brokers",
        arguments={"leader": leader.number, "follower": follower.number},
        guard=And(cluster.is_true_leader(leader), leader.counts_in_sync(follower), lags),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} removes {follower.name} from the ISR, now {members(after, leader.isr, leader)}"
        ),
        semantics="published, leader",
    )


def expand_isr(cluster: Cluster, leader: Replica, follower: Replica, caught_up: z3.BoolRef) -> Action:
    """Add a follower that ``caught_up`` to the true leader's ISR; the quorum accepts at once, in the same epoch."""
    effect = Effect()
    effect[leader.isr[follower.number]] = True
    return Action(
        "expand_isr",
        leader.name,
        lane="brokers",
        arguments={"leader": leader.number, "follower": follower.number},
        guard=And(cluster.is_true_leader(leader), Not(leader.counts_in_sync(follower)), caught_up),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} takes {follower.name} back into the ISR, now {members(after, leader.isr, leader)}"
        ),
        semantics="published, leader",
    )


def increment_high_watermark(cluster: Cluster, leader: Replica, has_record: Callable[[Replica], z3.BoolRef]) -> Action:
    """Move a leader's high watermark, true or zombie, past a record that its own ISR has, as the leader knows.

    ``has_record``: the leader's condition that a follower has the record right above the high watermark.
    """
    effect = Effect()
    effect[leader.high_watermark] = leader.high_watermark.term + 1
    return Action(
        "increment_high_watermark",
        leader.name,
        lane="brokers",
        arguments={"leader": leader.number},
        guard=And(
            cluster.presumes_leadership(leader),
            leader.high_watermark.term < leader.log.end,
            *(Or(Not(leader.counts_in_sync(follower)), has_record(follower)) for follower in cluster.others(leader)),
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} raises its high watermark to {after[leader.high_watermark.name]}"
        ),
        semantics="published, leader",
    )


def reached_own_epoch(cluster: Cluster, leader: Replica) -> z3.BoolRef:
    """Tell whether nothing of an older epoch is left above the leader's high watermark."""
    high_watermark = leader.high_watermark.term
    return Or(
        high_watermark == leader.log.end,
        cluster.epoch_of(leader.log.at(high_watermark)) == leader.epoch.term,
    )


def actions(cluster: Cluster) -> Iterator[Action]:
    """Yield the leaders' actions that are the same in every protocol."""
    for leader in cluster.replicas:
        yield write(cluster, leader)
        for request in cluster.requests:
            yield become_leader(cluster, request, leader)
