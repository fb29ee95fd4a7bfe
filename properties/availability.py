"""Availability: after the last fault, writing and reading continue."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.consuming.position import agrees
from proofka.model.deployment.choices import Acks
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.log.visibility import end_of_reading
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.properties.property import Property
from proofka.properties.situations import on_serving_leader


def has_read_all(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """Build the condition that the consumer runs and has read everything that this leader can deliver."""
    consumer = pipeline.consumer
    at_end = consumer.position.term == end_of_reading(pipeline, leader)
    return And(consumer.running.is_set, agrees(pipeline, leader), at_end)


def back_to_work(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that the pipeline works.

    A leader serves and accepts writes with the configured ``acks``, the consumer has read its whole log, and no send is
    incomplete.
    """

    def works(leader: Replica) -> z3.BoolRef:
        writable = pipeline.enough_in_sync(leader) if pipeline.deployment.producer.acks is Acks.ALL else BoolVal(True)
        everything_readable = end_of_reading(pipeline, leader) == leader.log.end.term
        return And(writable, everything_readable, has_read_all(pipeline, leader))

    settled = Not(Or(*(batch.incomplete for batch in pipeline.producer.batches)))
    if pipeline.transactions is not None:
        going_on = (transaction.is_going_on for transaction in pipeline.transactions.each)
        settled = And(settled, Not(Or(*going_on)), pipeline.transactions.is_at_rest)
    return And(on_serving_leader(pipeline, works), settled)


def properties(pipeline: Pipeline) -> Iterator[Property]:
    """Yield the availability properties of a pipeline."""
    trouble = [Or(Not(replica.up.is_set), replica.cut_off.is_set, replica.slow.is_set) for replica in pipeline.replicas]
    stopped = Not(pipeline.consumer.running.is_set)
    retried = [batch.retries.term > 0 for batch in pipeline.producer.batches]
    yield Property(
        "recoverability",
        "availability",
        "From every reachable state, once faults stop and brokers return, writing and reading go on.",
        "the pipeline never stops permanently",
        BoolVal(False),
        Or(*trouble, *retried, stopped, on_serving_leader(pipeline, lambda leader: leader.epoch.term > 1)),
        "a broker is down, cut off or slow, a send is to be retried, the consumer is down, or the leader was replaced",
        lambda state: "without another fault, no run from here leads back to a leader that serves writes and reads",
        goal=back_to_work(pipeline),
    )
