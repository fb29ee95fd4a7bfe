"""Requests that a leader refuses, and every client sends again while it has an attempt left (semantics 3.2, 3.3)."""

from __future__ import annotations

from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, BoolVal, Not
from proofka.model.sequencing.arrival import accepts, arrives, is_at
from proofka.model.sequencing.attempt_end import AttemptEnd
from proofka.model.sequencing.network import fail_attempt
from proofka.model.state.pipeline import Batch, Pipeline, Replica
from proofka.model.state.wording import record_name


def reject_not_leader(pipeline: Pipeline, batch: Batch, broker: Replica) -> Action:
    """Refuse a request at a broker that does not lead: NOT_LEADER_OR_FOLLOWER, nothing is written (3.3, 6.5)."""
    effect = Effect()
    fail_attempt(pipeline, effect, batch, BoolVal(True), end=AttemptEnd.NOT_LEADER)
    return Action(
        "reject_not_leader",
        broker.name,
        lane="brokers",
        arguments={"batch": batch.number, "broker": broker.number},
        guard=And(is_at(pipeline, batch, broker), Not(broker.presumes_leadership)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{broker.name}, which does not lead, refuses {record_name(batch)}: NOT_LEADER_OR_FOLLOWER"
        ),
        semantics="3.3, 6.5",
    )


def reject_not_enough_replicas(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a request with acks=all and too small an ISR: NOT_ENOUGH_REPLICAS, nothing is written (semantics 3.2)."""
    effect = Effect()
    fail_attempt(pipeline, effect, batch, BoolVal(True), end=AttemptEnd.NOT_WRITTEN)
    return Action(
        "reject_not_enough_replicas",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(arrives(pipeline, batch, leader), Not(accepts(pipeline, leader))),
        updates=effect.updates,
        sentence=lambda before, after: f"{leader.name} refuses {record_name(batch)}: NOT_ENOUGH_REPLICAS",
        semantics="3.2",
    )
