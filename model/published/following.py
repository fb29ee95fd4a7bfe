"""The follower: it receives requests, copies its leader's log, and drops what its leader does not have."""

from __future__ import annotations

import z3

from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, If
from proofka.model.published.cluster import Cluster, Replica, Request
from proofka.model.published.sentences import dropped


def fetch(cluster: Cluster, leader: Replica, follower: Replica, *allowed: z3.BoolRef) -> Action:
    """Copy the leader's next record and its high watermark, up or down, limited to the follower's own log."""
    reached = follower.log.end + 1
    effect = Effect()
    follower.log.copy_next(effect, leader.log)
    known = leader.high_watermark.term
    effect[follower.high_watermark] = If(known < reached, known, reached)
    return Action(
        "fetch",
        follower.name,
        lane="brokers",
        arguments={"leader": leader.number, "follower": follower.number},
        guard=And(*allowed, follower.log.end < leader.log.end),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{follower.name} fetches record {follower.log.records(after)[-1]} from {leader.name}, high watermark "
            f"{after[follower.high_watermark.name]}"
        ),
        semantics="published, follower",
    )


def become_follower(
    cluster: Cluster,
    request: Request,
    leader: Replica,
    follower: Replica,
    truncation_point: z3.ArithRef | None,
    *allowed: z3.BoolRef,
) -> Action:
    """Follow the leader of a newer request, and truncate where the protocol says so."""
    effect = Effect()
    effect[follower.epoch] = request.epoch
    for member in follower.isr.values():
        effect[member] = False
    if truncation_point is not None:
        cluster.truncate(effect, follower, truncation_point)

    def sentence(before: State, after: State) -> str:
        lost = dropped(before, after, follower)
        return f"{follower.name} becomes follower of {leader.name} in epoch {request.epoch}{lost}"

    return Action(
        "become_follower",
        follower.name,
        lane="brokers",
        arguments={"epoch": request.epoch, "leader": leader.number, "follower": follower.number},
        guard=And(request.names(leader), follower.epoch.term < request.epoch, *allowed),
        updates=effect.updates,
        sentence=sentence,
        semantics="published, follower",
    )


def truncate(cluster: Cluster, leader: Replica, follower: Replica, diverges: z3.BoolRef) -> Action:
    """Drop what lies above the last shared record, in a follower's log that diverges from its leader's."""
    effect = Effect()
    cluster.truncate(effect, follower, leader.log.matching_end(follower.log))
    return Action(
        "truncate",
        follower.name,
        lane="brokers",
        arguments={"leader": leader.number, "follower": follower.number},
        guard=And(cluster.presumes_leadership(leader), cluster.follows(follower, leader), diverges),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{follower.name} truncates to what it shares with {leader.name}{dropped(before, after, follower)}"
        ),
        semantics="published, follower",
    )
