"""The recovery of librdkafka's idempotent producer: it waits until nothing is in flight (semantics 4.1).

Its sequence numbers follow the order of sending, so a record keeps its number in all retries of an epoch.
"""

from __future__ import annotations

import z3

from model.faults import Fault
from model.language import Action, Effect
from model.sequencing.idempotence import epoch_left
from model.sequencing.network import complete
from model.state.pipeline import Batch, Fate, Pipeline, Replica


def has_stopped(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether a fatal error was raised: the producer sends nothing any more."""
    fatal = pipeline.producer.fatal
    return z3.BoolVal(False) if fatal is None else fatal.is_set


def has_drained(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether nothing keeps the client from sending: no fatal error, epoch bump due, or batch to wait for.

    The client waits for everything in flight before it retries, and for what is in flight to another leader.
    """
    producer = pipeline.producer
    assert producer.draining is not None
    others = [other for other in producer.batches if other is not batch]
    elsewhere = z3.Or(*(z3.And(other.in_flight, other.target.term != leader.number) for other in others))
    waits = z3.And(producer.draining.is_set, _is_something_in_flight(pipeline))
    return z3.Not(z3.Or(has_stopped(pipeline), producer.unresolved.is_set, waits, elsewhere))


def _is_something_in_flight(pipeline: Pipeline) -> z3.BoolRef:
    return z3.Or(*(batch.in_flight for batch in pipeline.producer.batches))


def bump_due(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether an epoch bump is wanted and nothing is in flight any more."""
    wanted = z3.And(pipeline.producer.unresolved.is_set, z3.Not(has_stopped(pipeline)))
    return z3.And(wanted, z3.Not(_is_something_in_flight(pipeline)))


def bump_when_drained(pipeline: Pipeline) -> Action:
    """Bump the producer epoch once nothing is in flight; the next record sent gets the number 0 (4.1)."""
    producer = pipeline.producer
    effect = Effect()
    effect[producer.epoch] = producer.epoch.term + 1
    effect[producer.next_sequence] = 0
    effect[producer.last_acknowledged] = -1
    effect[producer.unresolved] = False
    if producer.moved_on is not None:
        effect[producer.moved_on] = 0
    assert producer.draining is not None
    effect[producer.draining] = pipeline.deployment.producer.rewinds
    for batch in producer.batches:
        assert batch.sequence is not None
        effect[batch.sequence] = -1
    return Action(
        "bump_when_drained",
        "producer",
        lane="producer",
        arguments={},
        guard=z3.And(bump_due(pipeline), epoch_left(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: "the producer bumps its epoch, now that nothing is in flight",
        semantics="4.1",
    )


def forget_topic(pipeline: Pipeline) -> Action:
    """Let the metadata lack the topic for a moment: queued records fail, and the numbers begin again (4.1).

    The producer keeps its id and epoch, so that brokers treat new records as old ones.
    """
    producer = pipeline.producer
    effect = Effect()
    for batch in producer.batches:
        # The client forgets its numbers, and so the gap that the failed batches leave.
        complete(pipeline, effect, batch, Fate.FAILED, batch.is_(Fate.BUFFERED), out_of_retries=True)
    effect[producer.next_sequence] = 0
    return Action(
        "forget_topic",
        "producer",
        lane="producer",
        arguments={},
        guard=z3.And(producer.next_sequence.term > 0, z3.Not(has_stopped(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            "a broker that has just started says that the topic does not exist: the producer fails what it has queued, "
            "and when the topic is there again it numbers from 0, in the same epoch"
        ),
        semantics="4.1",
        fault=Fault.UNKNOWN_TOPIC,
    )


def stop_for_good(pipeline: Pipeline, effect: Effect, when: z3.BoolRef) -> None:
    """Raise a fatal error: queued records fail; requests in flight can still be answered (semantics 4.1)."""
    assert pipeline.producer.fatal is not None
    for batch in pipeline.producer.batches:
        complete(pipeline, effect, batch, Fate.FAILED, z3.And(when, batch.is_(Fate.BUFFERED)))
    effect.set_when(when, pipeline.producer.fatal, 1)


def acknowledge_what_came_before(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Acknowledge earlier records that wait for a retry: the client treats them as delivered with a later one (4.1)."""
    assert batch.sequence is not None
    for other in pipeline.producer.batches:
        if other is not batch and other.sequence is not None:
            earlier = z3.And(other.sequence.term >= 0, other.sequence.term < batch.sequence.term)
            complete(pipeline, effect, other, Fate.ACKNOWLEDGED, z3.And(other.is_(Fate.BUFFERED), earlier))
