"""Ordering: the order of sending is the order in the log and the order of processing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import z3

from proofka.model.consuming.consumer import unprocessed
from proofka.model.language import State
from proofka.model.language.terms import And, Not, Or
from proofka.model.log.visibility import can_be_read, keeps_record
from proofka.model.producing.application import resend_due
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.properties.property import Property
from proofka.properties.situations import (
    accepted,
    both_can_be_read,
    first,
    on_serving_leader,
    pending,
    records_of_log,
    serving_leader,
    value,
)


def out_of_order_in_log(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that a record follows a later sent record below the serving leader's high watermark."""

    def inverted(leader: Replica) -> z3.BoolRef:
        slots = leader.log.slots
        pairs = [
            And(
                both_can_be_read(pipeline, leader, earlier, later),
                pipeline.record_of(slots[earlier]["batch"].term) > pipeline.record_of(slots[later]["batch"].term),
            )
            for later in range(len(slots))
            for earlier in range(later)
        ]
        return Or(*pairs)

    return on_serving_leader(pipeline, inverted)


def gone(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that an accepted record is not in the log of the serving leader and is never sent again."""
    batches = pipeline.producer.of_record(record)
    will_be_sent = Or(pending(pipeline, record), *(resend_due(pipeline, batch) for batch in batches))
    missing = on_serving_leader(pipeline, lambda leader: Not(keeps_record(pipeline, leader, record)))
    return And(accepted(pipeline, record), Not(will_be_sent), missing)


def committed_behind(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that a later sent record is below the serving leader's high watermark."""

    def stands(leader: Replica) -> z3.BoolRef:
        slots = enumerate(leader.log.slots)
        return Or(
            *(
                And(can_be_read(pipeline, leader, offset), pipeline.record_of(slot["batch"].term) > record)
                for offset, slot in slots
            )
        )

    return on_serving_leader(pipeline, stands)


def gap(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that a record is given up or lost, and a later sent record is committed."""
    records = range(pipeline.deployment.bounds.records)
    return Or(*(And(gone(pipeline, one), committed_behind(pipeline, one)) for one in records[:-1]))


def two_with_workers(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that running workers have two different records at the same time."""
    consumer = pipeline.consumer
    pairs = [
        And(one.term > 0, other.term > 0, one.term != other.term) for one, other in combinations(consumer.queued, 2)
    ]
    return And(consumer.running.is_set, Or(*pairs))


def properties(pipeline: Pipeline) -> Iterator[Property]:
    """Yield the ordering properties of a pipeline."""
    consumer = pipeline.consumer

    def explain_log(state: State) -> str:
        leader = serving_leader(pipeline, state)
        if leader is None:
            return "the log is not in the order of sending"
        log = records_of_log(pipeline, state, leader)
        before = {offset: [log[earlier] for earlier in log if earlier < offset] for offset in log}
        later = next((offset for offset in log if any(record > log[offset] for record in before[offset])), 0)
        ahead = next((record for record in before[later] if record > log[later]), 0)
        return (
            f"record {log[later] + 1} stands behind record {ahead + 1} in the log of {leader.name}, but was sent first"
        )

    def both_with_a_retry(leader: Replica) -> z3.BoolRef:
        retried = Or(*(Or(b.retries.term > 0, b.delayed.term != 0) for b in pipeline.producer.batches))
        return And(leader.log.has(0), retried)

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

    def explain_gap(state: State) -> str:
        records = range(pipeline.deployment.bounds.records)
        missing = first(records, lambda r: value(gone(pipeline, r), pipeline, state))
        return f"record {missing + 1} is in no log and nobody sends it again, and a record sent after it is committed"

    yield Property(
        "no-gap",
        "ordering",
        "No record is committed if a record that was sent before it is never committed.",
        "a log without gaps: records after a failed send are not written either",
        gap(pipeline),
        Or(*(gone(pipeline, record) for record in range(pipeline.deployment.bounds.records))),
        "a record was given up or lost",
        explain_gap,
    )

    def explain_processing(state: State) -> str:
        if not state[consumer.disorder.name]:
            held = sorted({state[queued.name] for queued in consumer.queued if state[queued.name]})
            records = " and ".join(str(record) for record in held)
            return f"workers have records {records} at once, and nothing keeps them from finishing the later one first"
        processed = [record for record, count in enumerate(consumer.processed, 1) if state[count.name]]
        if len(processed) != 2:
            return "a record was processed although one sent after it had been processed already"
        earlier, later = processed
        return f"record {earlier} was processed although record {later}, sent after it, had been processed already"

    yield Property(
        "processing-order",
        "ordering",
        "Records are processed in the order of sending; repeating records after a restart is allowed.",
        "order of processing in a partition",
        Or(consumer.disorder.is_set, two_with_workers(pipeline)),
        And(*(Not(unprocessed(pipeline, r)) for r in range(len(consumer.processed)))),
        "every record was processed",
        explain_processing,
    )
