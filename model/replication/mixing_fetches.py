"""Proposals of an ISR with two fetches of one replica, from before and after its restart (semantics 6.2, KAFKA-15221).

A leader of 3.5 and 3.6 that handles a follower's fetch looks at the follower's offset, and then reads the broker epoch
that it sends to the controller. Another thread can replace both in between, with those of a fetch after the follower's
restart: then the controller accepts the proposal. That takes a coincidence within microseconds, which is a fault of its
own (docs/semantics.md, part B, choice 24).
"""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect
from proofka.model.language.terms import And
from proofka.model.log.replica import learn_end_of
from proofka.model.replication.fetching import fetches_from, has_reconciled
from proofka.model.replication.isr import join_isr, joins_isr
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.taking_part import while_it_is_answered
from proofka.model.state.wording import members


def mix_fetches(pipeline: Pipeline, leader: Replica, follower: Replica) -> Action:
    """Let a follower join the ISR for what it fetched before its restart, as it fetches for the first time (6.2 I2)."""
    fetched = leader.fetched_before[follower.number]
    effect = Effect()
    learn_end_of(effect, leader, follower)
    join_isr(pipeline, effect, leader, follower)
    return Action(
        "mix_fetches",
        leader.name,
        lane="brokers",
        arguments={"leader": leader.number, "follower": follower.number},
        guard=while_it_is_answered(
            pipeline,
            follower,
            leader,
            And(
                fetches_from(pipeline, follower, leader),
                has_reconciled(pipeline, follower, leader),
                *joins_isr(pipeline, leader, follower, fetched.term - 1),
            ),
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{follower.name} fetches at offset {before[follower.log.end.name]} while {leader.name} still deals with a "
            f"fetch from before the restart: {leader.name} takes {follower.name} into the ISR, now "
            f"{members(after, pipeline.controller.isr)}, for offset {before[fetched.name] - 1}"
        ),
        semantics="6.2 I2 I3",
        fault=Fault.MIXED_FETCHES,
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield, for each leader and follower, the proposal with two fetches, where leaders can mix them."""
    for leader in pipeline.replicas:
        for follower in pipeline.followers_of(leader):
            if leader.fetched_before:
                yield mix_fetches(pipeline, leader, follower)
