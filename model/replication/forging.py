"""Fetches that a client sends in the name of a follower (semantics 6.1, CVE-2018-1288)."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect
from proofka.model.language.terms import And
from proofka.model.log.replica import advance_high_watermark
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.taking_part import while_it_is_answered


def forge_fetch(pipeline: Pipeline, leader: Replica, follower: Replica) -> Action:
    """Let a client fetch at the leader's end in a follower's name: the leader believes that it has all (6.1 R1 R2)."""
    effect = Effect()
    end = leader.log.end.term
    effect[leader.fetched[follower.number]] = end + 1
    advance_high_watermark(pipeline, effect, leader)
    return Action(
        "forge_fetch",
        leader.name,
        lane="brokers",
        arguments={"leader": leader.number, "follower": follower.number},
        guard=while_it_is_answered(
            pipeline,
            follower,
            leader,
            And(leader.presumes_leadership, leader.fetched[follower.number].term != end + 1),
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"a client fetches at offset {before[leader.log.end.name]} in the name of {follower.name}, and "
            f"{leader.name} believes it"
        ),
        semantics="6.1 R1 R2",
        fault=Fault.FORGED_FETCH,
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield a fetch in the name of each follower, where brokers do not check whether the sender is authorized."""
    if pipeline.deployment.cluster.believes_any_fetch:
        for leader in pipeline.replicas:
            for follower in pipeline.followers_of(leader):
                yield forge_fetch(pipeline, leader, follower)
