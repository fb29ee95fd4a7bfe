"""A replica: its log, its high watermark, and followers that stop fetching for a while (semantics 5, 6.1, 6.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import z3

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, If, IntVal, Not, Sum
from proofka.model.log.log_starts import own_start
from proofka.model.state.log_fields import AS_APPENDED
from proofka.model.state.outages import note_disturbance
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.taking_part import while_it_takes_part


def append(pipeline: Pipeline, effect: Effect, replica: Replica, entry: Mapping[str, z3.ArithRef | int]) -> None:
    """Append to the replica's page cache, and force the log to disk when ``flush.messages`` says so (5, L1)."""
    replica.log.append(effect, {**AS_APPENDED, **entry})
    flush_if_due(pipeline, effect, replica)


def flush_if_due(pipeline: Pipeline, effect: Effect, replica: Replica) -> None:
    """Force the log to disk once ``flush.messages`` records are unflushed (semantics 5, L1)."""
    every = pipeline.deployment.cluster.flush_messages
    if replica.flushed is not None and every is not None:
        due = effect[replica.log.end] - replica.flushed.term >= every
        effect.set_when(due, replica.flushed, effect[replica.log.end])


def surviving_prefix(pipeline: Pipeline, replica: Replica) -> z3.ArithRef:
    """Return the length of the log that a power loss cannot take: what was forced to disk (semantics 5, L8)."""
    if pipeline.deployment.cluster.flush_messages == 1:
        return replica.log.end.term
    return IntVal(0) if replica.flushed is None else replica.flushed.term


def keep_prefix(effect: Effect, replica: Replica, length: z3.ArithRef | int) -> None:
    """Drop the log's suffix from ``length`` on, and limit to ``length`` everything that depends on the log."""
    replica.log.truncate(effect, length)
    effect.set_when(replica.high_watermark.term > length, replica.high_watermark, length)
    if replica.flushed is not None:
        effect.set_when(replica.flushed.term > length, replica.flushed, length)
    if replica.restored is not None:
        effect.set_when(replica.restored.term > length, replica.restored, 0)
    own_start(replica).keep_prefix(effect, length)


def stop_leading(effect: Effect, replica: Replica) -> None:
    """Reset what only a leader keeps: its view of the ISR and what it believes of its followers."""
    for variable in (*replica.isr.values(), *replica.fetched.values(), *replica.fetched_before.values()):
        effect[variable] = 0


def lead_again(effect: Effect, replica: Replica, when: z3.BoolRef) -> None:
    """Keep what a leader believes of its followers from an earlier epoch, as of that epoch (semantics 6.5)."""
    for follower, fetched in replica.fetched.items():
        if replica.can_be_older(follower):
            is_fresh = replica.has_fetched(follower, fetched.term)
            effect.set_when(when, fetched, If(is_fresh, fetched.term + replica.fresh, fetched.term))


def learn_end_of(effect: Effect, leader: Replica, follower: Replica) -> None:
    """Let a leader take over from a follower's fetch how much the follower has: all before the offset (6.1, R1)."""
    effect[leader.fetched[follower.number]] = follower.log.end.term + 1
    if leader.fetched_before:
        effect[leader.fetched_before[follower.number]] = 0


def advance_high_watermark(pipeline: Pipeline, effect: Effect, leader: Replica) -> None:
    """Raise the leader's high watermark to what every member of its ISR is known to have (semantics 6.1, R2).

    From 3.7 on it rises only while the ISR has ``min.insync.replicas`` members. Records that it passes can be read from
    now on. Followers that have fetched in this epoch hear of it at once: a follower that hears later can only serve
    later (docs/semantics.md). Before 2.5 they hear of it when they fetch.
    """
    reached = effect[leader.log.end]
    for number, fetched in leader.fetched.items():
        known_end = leader.known_end(number, effect[fetched])
        holds_back = And(effect[leader.isr[number]] == 1, known_end < reached)
        reached = If(holds_back, known_end, reached)
    members = Sum(*(effect[member] for member in leader.isr.values()))
    advances = reached > leader.high_watermark.term
    if pipeline.deployment.cluster.high_watermark_needs_min_isr:
        advances = And(advances, members >= pipeline.deployment.cluster.min_insync_replicas)
    effect[leader.high_watermark] = If(advances, reached, effect[leader.high_watermark])
    hear_at_once = pipeline.deployment.cluster.truncation.fences_fetches
    for follower in pipeline.followers_of(leader) if hear_at_once else ():
        has_fetched = leader.has_fetched(follower.number, effect[leader.fetched[follower.number]])
        hears = And(follower.follows(leader), has_fetched)
        tell_high_watermark(effect, follower, effect[leader.high_watermark], hears)
    for offset, exposed in enumerate(pipeline.exposed):
        readable = And(effect[leader.high_watermark] > offset, exposed.term == 0)
        record = pipeline.record_of(effect[leader.log.slots[offset]["batch"]])
        effect[exposed] = If(readable, record + 1, exposed.term)


def tell_high_watermark(effect: Effect, follower: Replica, known: z3.ArithRef, when: z3.BoolRef) -> None:
    """Take over a leader's high watermark at a follower, up to the end of its own log (semantics 6.1, R3)."""
    end = effect[follower.log.end]
    effect.set_when(when, follower.high_watermark, If(known < end, known, end))


def become_slow(pipeline: Pipeline, follower: Replica) -> Action:
    """Let a follower in the ISR stop fetching for a while (semantics 6.2, I1)."""
    effect = Effect()
    effect[follower.slow] = True
    note_disturbance(pipeline, effect)
    return Action(
        "become_slow",
        follower.name,
        lane="brokers",
        arguments={"broker": follower.number},
        guard=while_it_takes_part(
            pipeline,
            follower,
            And(
                follower.up.is_set,
                Not(follower.slow.is_set),
                follower.leader.term != 0,
                follower.leader.term != follower.number,
                pipeline.controller.isr[follower.number].is_set,
            ),
        ),
        updates=effect.updates,
        sentence=lambda before, after: f"{follower.name} stops fetching for a while",
        semantics="6.2 I1",
        fault=Fault.SLOW_FOLLOWER,
    )


def recover_speed(pipeline: Pipeline, follower: Replica) -> Action:
    """Let a slow follower fetch again (semantics 6.2, I2)."""
    effect = Effect()
    effect[follower.slow] = False
    return Action(
        "recover_speed",
        follower.name,
        lane="brokers",
        arguments={"broker": follower.number},
        guard=while_it_takes_part(pipeline, follower, And(follower.up.is_set, follower.slow.is_set)),
        updates=effect.updates,
        sentence=lambda before, after: f"{follower.name} fetches again",
        semantics="6.2 I2",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions by which followers become slow and recover."""
    for follower in pipeline.replicas:
        yield become_slow(pipeline, follower)
        yield recover_speed(pipeline, follower)
