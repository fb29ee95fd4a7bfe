"""Availability: once faults stop, writing and reading go on."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from model.deployment.deployment import Acks
from model.state import Pipeline, Replica
from properties.property import Property
from properties.situations import on_serving_leader


def back_to_work(pipeline: Pipeline) -> z3.BoolRef:
    """A leader serves, takes acks as configured, everything it has can be read, and no send is left hanging."""

    def works(leader: Replica) -> z3.BoolRef:
        writable = pipeline.enough_in_sync(leader) if pipeline.deployment.acks is Acks.ALL else z3.BoolVal(True)
        return z3.And(writable, leader.high_watermark.term == leader.log.end.term)

    settled = z3.Not(z3.Or(*(batch.incomplete for batch in pipeline.producer.batches)))
    return z3.And(on_serving_leader(pipeline, works), settled)


def properties(pipeline: Pipeline) -> Iterator[Property]:
    """The availability properties of a pipeline."""
    trouble = [
        z3.Or(z3.Not(replica.up.is_set), replica.cut_off.is_set, replica.slow.is_set) for replica in pipeline.replicas
    ]
    retried = [batch.retries.term > 0 for batch in pipeline.producer.batches]
    yield Property(
        "recoverability",
        "availability",
        "From every reachable state, once faults stop and brokers return, writing and reading go on.",
        "the pipeline is never stuck for good",
        z3.BoolVal(False),
        z3.Or(*trouble, *retried, on_serving_leader(pipeline, lambda leader: leader.epoch.term > 1)),
        "a broker is down, cut off or slow, a send is to be retried, or the leader was replaced",
        lambda state: "without another fault, no run from here gets back to a leader that serves writes and reads",
        goal=back_to_work(pipeline),
    )
