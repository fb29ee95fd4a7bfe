"""Ordering: the order of sending is the order in the log and the order of processing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import z3

from model.language import State
from model.state import Pipeline, Replica
from properties.durability import unprocessed
from properties.property import Property
from properties.situations import first, on_serving_leader, records_of_log, serving_leader


def out_of_order_in_log(pipeline: Pipeline) -> z3.BoolRef:
    """Below the serving leader's high watermark a record stands behind one that was sent after it."""

    def inverted(leader: Replica) -> z3.BoolRef:
        slots = leader.log.slots
        pairs = [
            z3.And(
                leader.high_watermark.term > later,
                pipeline.record_of(slots[earlier]["batch"].term) > pipeline.record_of(slots[later]["batch"].term),
            )
            for later in range(len(slots))
            for earlier in range(later)
        ]
        return z3.Or(*pairs)

    return on_serving_leader(pipeline, inverted)


def two_with_workers(pipeline: Pipeline) -> z3.BoolRef:
    """Running workers have two different records at the same time."""
    consumer = pipeline.consumer
    pairs = [
        z3.And(one.term > 0, other.term > 0, one.term != other.term) for one, other in combinations(consumer.queued, 2)
    ]
    return z3.And(consumer.running.is_set, z3.Or(*pairs))


def properties(pipeline: Pipeline) -> Iterator[Property]:
    """The ordering properties of a pipeline."""
    consumer = pipeline.consumer

    def explain_log(state: State) -> str:
        leader = serving_leader(pipeline, state)
        if leader is None:
            return "the log is not in the order of sending"
        log = records_of_log(pipeline, state, leader)
        later = first(range(len(log)), lambda i: any(before > log[i] for before in log[:i]))
        ahead = next((record for record in log[:later] if record > log[later]), 0)
        return (
            f"record {log[later] + 1} stands behind record {ahead + 1} in the log of {leader.name}, but was sent first"
        )

    def both_with_a_retry(leader: Replica) -> z3.BoolRef:
        retried = z3.Or(*(z3.Or(b.retries.term > 0, b.delayed.term != 0) for b in pipeline.producer.batches))
        return z3.And(leader.log.has(0), retried)

    yield Property(
        "log-order",
        "ordering",
        "Records stand in the committed log in the order of sending.",
        "order of one producer's records in a partition",
        out_of_order_in_log(pipeline),
        on_serving_leader(pipeline, both_with_a_retry),
        "a batch is retried after another was appended",
        explain_log,
    )
    yield Property(
        "processing-order",
        "ordering",
        "Records are processed in the order of sending; going back after a restart is no disorder.",
        "order of processing in a partition",
        z3.Or(consumer.disorder.is_set, two_with_workers(pipeline)),
        z3.And(*(z3.Not(unprocessed(pipeline, r)) for r in range(len(consumer.processed)))),
        "every record was processed",
        lambda state: (
            "a record was processed although one sent after it had been processed already"
            if state[consumer.disorder.name]
            else "workers have several records at once, and nothing keeps them from finishing the later one first"
        ),
    )
