"""The broker that the producer considers the leader, perhaps before the broker itself does (3.1 P2; choice 25)."""

from __future__ import annotations

import z3

from model.deployment.implied.refusing import skips_refused
from model.language.terms import And, If, Not, Or
from model.state.pipeline import Pipeline, Replica, counts_retries


def is_considered_leader(pipeline: Pipeline, broker: Replica) -> z3.BoolRef:
    """Tell whether the producer can consider this broker the leader: the broker itself does, or another says so.

    The client's metadata never goes back to an older leader epoch, where brokers tell epochs (KIP-320).
    """
    itself = broker.presumes_leadership
    if pipeline.deployment.producer.sender.knows_epochs:
        itself = And(itself, broker.epoch.term >= pipeline.producer.leader_epoch.term)
    return Or(itself, _another_says(pipeline, broker)) if refusals_matter(pipeline) else itself


def epoch_heard_of(pipeline: Pipeline, broker: Replica) -> z3.ArithRef:
    """Return the leader epoch in which the producer considers this broker the leader: its own, or what others say."""
    newest = broker.epoch.term
    if refusals_matter(pipeline):
        for other in pipeline.followers_of(broker):
            told = And(other.up.is_set, other.leader.term == broker.number, other.epoch.term > newest)
            newest = If(And(Not(broker.presumes_leadership), told), other.epoch.term, newest)
    return newest


def refusals_matter(pipeline: Pipeline) -> bool:
    """Tell whether a refusal by a broker that has not heard of its election can change a verdict (choice 25).

    The refusal uses up an attempt where attempts are counted. With idempotence the broker can refuse a record, hear of
    its election, and store the next record, if it knows no number of the producer.
    """
    return pipeline.complete or counts_attempts(pipeline) or skips_refused(pipeline.deployment)


def counts_attempts(pipeline: Pipeline) -> bool:
    """Tell whether the client has few enough attempts that those which no leader accepts matter as well."""
    return counts_retries(pipeline.deployment) and pipeline.deployment.producer.sender.refusals_count


def _another_says(pipeline: Pipeline, broker: Replica) -> z3.BoolRef:
    """Tell whether the producer heard from another broker that this one leads, before this one knows (semantics 1)."""
    newest = broker.epoch.term
    told = [
        And(
            other.up.is_set,
            other.leader.term == broker.number,
            other.epoch.term > newest,
            other.epoch.term >= pipeline.producer.leader_epoch.term,
        )
        for other in pipeline.followers_of(broker)
    ]
    return And(broker.up.is_set, Not(broker.presumes_leadership), Or(*told))
