"""Answers: what an acknowledgement or an error tells the application (semantics 3.2, 3.3)."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.consuming.consumer import unprocessed
from proofka.model.deployment.choices import Acks
from proofka.model.language import State
from proofka.model.language.terms import And, If, Not, Or, Sum
from proofka.model.log.visibility import keeps_record
from proofka.model.producing.produce import acknowledge
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.properties.property import Property
from proofka.properties.situations import (
    acknowledged,
    can_be_given,
    failed,
    first,
    on_serving_leader,
    pending,
    tries_again,
    value,
)


def failed_for_good(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that a send failed, no send of the record succeeded, and none is to come."""
    over = Not(Or(pending(pipeline, record), tries_again(pipeline, record)))
    return And(failed(pipeline, record), Not(acknowledged(pipeline, record)), over)


def stored_though_failed(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that a record whose send failed is in the log of the serving leader."""
    stored = on_serving_leader(pipeline, lambda leader: keeps_record(pipeline, leader, record))
    return And(failed_for_good(pipeline, record), stored)


def given_though_failed(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that the group has processed, or the consumer can be given, a record whose send failed."""
    sends = pipeline.producer.of_record(record)
    to_come = on_serving_leader(pipeline, lambda leader: Or(*(can_be_given(pipeline, leader, b) for b in sends)))
    given = Or(Not(unprocessed(pipeline, record)), to_come)
    return And(failed_for_good(pipeline, record), given)


def copies(pipeline: Pipeline, record: int) -> z3.ArithRef:
    """Build the number of replicas, running or not, whose log has the record."""
    return Sum(*(If(keeps_record(pipeline, replica, record), 1, 0) for replica in pipeline.replicas))


def about_to_be_acknowledged(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Build the condition that the leader can acknowledge the batch now; with acks=0 the client needs no leader."""
    if pipeline.deployment.producer.acks is Acks.NONE:
        return And(batch.is_(Fate.SENT), batch.target.term == leader.number)
    return acknowledge(pipeline, batch, leader).guard


def _acknowledged_by_few(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    few = copies(pipeline, batch.record) < pipeline.deployment.cluster.min_insync_replicas
    due = Or(*(about_to_be_acknowledged(pipeline, batch, leader) for leader in pipeline.replicas))
    return And(due, few)


def _answer_of_small_isr(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that a leader whose ISR lacks a replica has a send to answer."""
    return Or(
        *(
            And(
                leader.presumes_leadership,
                leader.isr_size < len(pipeline.replicas),
                Or(*(And(b.in_flight, b.target.term == leader.number) for b in pipeline.producer.batches)),
            )
            for leader in pipeline.replicas
        )
    )


def properties(pipeline: Pipeline) -> Iterator[Property]:
    """Yield the properties of answers."""
    records = range(pipeline.deployment.bounds.records)
    batches = pipeline.producer.batches
    retried = Or(*(batch.retries.term > 0 for batch in batches))
    over = Or(*(failed_for_good(pipeline, record) for record in records))

    def explain_failed(state: State) -> str:
        record = first(records, lambda r: value(failed_for_good(pipeline, r), pipeline, state))
        return f"the send of record {record + 1} failed, and nobody sends it again"

    yield Property(
        "no-failed-send",
        "answers",
        "Every send is acknowledged in the end: none is reported as failed.",
        "the application is told of no failure, not even of a record that is stored",
        over,
        Or(retried, on_serving_leader(pipeline, lambda leader: leader.epoch.term > 1)),
        "a send is to be retried, or the leader was replaced",
        explain_failed,
    )

    def explain_stored(state: State) -> str:
        record = first(records, lambda r: value(stored_though_failed(pipeline, r), pipeline, state))
        return f"the send of record {record + 1} failed, and the record is in the log"

    yield Property(
        "no-stored-failure",
        "answers",
        "A record whose send failed is not in the log.",
        "an error means that the record was not stored",
        Or(*(stored_though_failed(pipeline, record) for record in records)),
        over,
        "a send failed for good",
        explain_stored,
    )

    def explain_given(state: State) -> str:
        record = first(records, lambda r: value(given_though_failed(pipeline, r), pipeline, state))
        was = not value(unprocessed(pipeline, record), pipeline, state)
        how = "the consumer was given the record" if was else "the consumer can be given the record"
        return f"the send of record {record + 1} failed, and {how}"

    yield Property(
        "no-failed-read",
        "answers",
        "The consumer is given no record whose send failed.",
        "an error means that nobody reads the record",
        Or(*(given_though_failed(pipeline, record) for record in records)),
        over,
        "a send failed for good",
        explain_given,
    )

    def explain_copies(state: State) -> str:
        due = first(
            range(len(batches)), lambda number: value(_acknowledged_by_few(pipeline, batches[number]), pipeline, state)
        )
        batch = batches[due]
        having_it = [(one, keeps_record(pipeline, one, batch.record)) for one in pipeline.replicas]
        there = [one.name for one, has in having_it if value(has, pipeline, state)]
        having = f"only {' and '.join(there)} has the record" if there else "no replica has the record"
        if len(there) > 1:
            having = f"only {' and '.join(there)} have the record"
        least = pipeline.deployment.cluster.min_insync_replicas
        return f"the send of record {batch.record + 1} is acknowledged next, and {having} (min.insync.replicas={least})"

    yield Property(
        "enough-copies",
        "answers",
        "A send is acknowledged only while min.insync.replicas replicas have its record in their logs.",
        "an acknowledgement tells of min.insync.replicas copies",
        Or(*(_acknowledged_by_few(pipeline, batch) for batch in batches)),
        _answer_of_small_isr(pipeline),
        "a leader whose ISR lacks a replica has a send to answer",
        explain_copies,
    )
