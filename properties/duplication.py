"""Duplication: no record is repeated in the log, in processing or at the sink."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import z3

from proofka.model.deployment.choices import Sink
from proofka.model.faults import Fault
from proofka.model.language import State
from proofka.model.language.terms import And, BoolVal, If, Not, Or, Sum
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.sink import Applied
from proofka.properties.loss import consumer_restarted, expired_unread, unprocessed_for_good, without_effect
from proofka.properties.property import Property
from proofka.properties.situations import (
    both_can_be_read,
    first,
    on_serving_leader,
    records_of_log,
    restarted_after_append,
    retry_of_appended_batch,
    serving_leader,
    value,
)


def twice_in_log(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that two entries below the serving leader's high watermark are the same record."""

    def repeated(leader: Replica) -> z3.BoolRef:
        slots = leader.log.slots
        pairs = [
            And(
                both_can_be_read(pipeline, leader, earlier, later),
                pipeline.record_of(slots[earlier]["batch"].term) == pipeline.record_of(slots[later]["batch"].term),
            )
            for later in range(len(slots))
            for earlier in range(later)
        ]
        return Or(*pairs)

    return on_serving_leader(pipeline, repeated)


def repeated(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that the record was processed more than once.

    Records of running workers and of an evicted member count as processed.
    """
    consumer = pipeline.consumer
    with_workers = [And(consumer.running.is_set, queued.term == record + 1) for queued in consumer.queued]
    with_workers += [late.term == record + 1 for late in consumer.late]
    times = Sum(consumer.processed[record].term, *(If(has, 1, 0) for has in with_workers))
    return times > 1


def _applied_twice(pipeline: Pipeline, applied: Applied, record: int) -> z3.BoolRef:
    """Build the condition that a sink that identifies records by offset applies the record from two offsets."""
    consumer = pipeline.consumer
    offsets = range(len(applied.seen))
    queued = {at: And(consumer.running.is_set, one.term == record + 1) for at, one in enumerate(consumer.queued)}
    late = {at: one.term == record + 1 for at, one in enumerate(consumer.late)}
    held = [[has[at] for has in (queued, late) if at in has] for at in offsets]
    to_come = [And(Or(*has), Not(applied.knows(at))) for at, has in enumerate(held)]
    return Sum(applied.effects[record].term, *(If(one, 1, 0) for one in to_come)) > 1


def repeated_effect(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that the effect of the record happens more than once, for this sink (semantics 12.1)."""
    if pipeline.deployment.application.sink is Sink.IDEMPOTENT:
        return BoolVal(False)
    if pipeline.applied is not None:
        return _applied_twice(pipeline, pipeline.applied, record)
    return repeated(pipeline, record)


def properties(pipeline: Pipeline) -> Iterator[Property]:
    """Yield the duplication properties of a pipeline."""
    records = range(pipeline.deployment.bounds.records)

    def explain_log(state: State) -> str:
        leader = serving_leader(pipeline, state)
        if leader is None:
            return "a record stands in the log twice"
        log = records_of_log(pipeline, state, leader)
        pairs = [(one, other) for one, other in combinations(log, 2) if log[one] == log[other]]
        if not pairs:
            return "a record stands in the log twice"
        earlier, later = pairs[0]
        return f"record {log[later] + 1} stands in the log of {leader.name} twice, at offsets {earlier} and {later}"

    stops = pipeline.upstream is not None or Fault.PRODUCER_STOP in pipeline.deployment.faults.possible
    or_restarted = ", or the producer application was started again" if stops else ""
    yield Property(
        "no-log-duplicate",
        "duplication",
        "A record stands once in the committed log.",
        "exactly-once writing into a partition",
        twice_in_log(pipeline),
        Or(retry_of_appended_batch(pipeline), restarted_after_append(pipeline)),
        "a batch that was appended is sent again" + or_restarted,
        explain_log,
    )

    def explain_processing(state: State) -> str:
        record = first(records, lambda r: value(repeated(pipeline, r), pipeline, state))
        if state[pipeline.consumer.processed[record].name] > 1 or not pipeline.consumer.queued:
            return f"record {record + 1} was processed more than once"
        return f"record {record + 1} was processed before and is with a worker again"

    redone = Or(consumer_restarted(pipeline), retry_of_appended_batch(pipeline))
    yield Property(
        "no-reprocessing",
        "duplication",
        "A record is processed once.",
        "at-most-once processing in the consumer group",
        Or(*(repeated(pipeline, record) for record in records)),
        redone,
        "the consumer was restarted after work on a record had begun, or an appended batch is sent again",
        explain_processing,
    )

    def explain_effect(state: State) -> str:
        for record in records:
            if value(repeated_effect(pipeline, record), pipeline, state):
                return f"the effect of record {record + 1} happened more than once"
        record = first(records, lambda r: value(unprocessed_for_good(pipeline, r, without_effect), pipeline, state))
        why = "no failure was reported"
        if pipeline.applied is not None and state[pipeline.consumer.processed[record].name]:
            if pipeline.applied.is_memory:
                deleted = value(expired_unread(pipeline, record, without_effect), pipeline, state)
                left = "retention has deleted the record" if deleted else "the group does not read the record again"
                return f"the effect of record {record + 1} was in the memory of a consumer that ended, and {left}"
            why = "the sink has applied another record with the same offset"
        return f"the effect of record {record + 1} never happens, and {why}"

    wrong = [Or(repeated_effect(pipeline, r), unprocessed_for_good(pipeline, r, without_effect)) for r in records]
    yield Property(
        "exactly-once-effect",
        "duplication",
        "The sink's effect of every record happens exactly once, unless the record's failure was reported.",
        "exactly-once effect from end to end, given the declared sink",
        Or(*wrong),
        redone,
        "the consumer was restarted after work on a record had begun, or an appended batch is sent again",
        explain_effect,
    )
