"""The idempotent producer: sequence numbers at the client, the duplicate check at the broker (semantics 3.4, 3.5)."""

from __future__ import annotations

import z3

from proofka.model.language import Effect
from proofka.model.language.terms import And, If, IntVal, Not, Or, Sum
from proofka.model.state.pipeline import Batch, Pipeline, Replica
from proofka.model.state.sequence_check import SequenceCheck


def check_sequence(
    pipeline: Pipeline, leader: Replica, batch: Batch, epoch: z3.ArithRef, sequence: z3.ArithRef
) -> SequenceCheck:
    """Check a batch's producer epoch and sequence number against what the leader's log says of its producer id.

    Every session has its own producer id, except that a producer with transactions keeps its id and gets a new epoch.
    """
    return pipeline.sending.check_sequence(pipeline, leader, batch, epoch, sequence)


def is_first_in_flight(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether no incomplete batch has a lower sequence number: only then can a retry be sent (semantics 3.4)."""
    assert batch.sequence is not None
    lower = []
    for other, sequence in pipeline.producer.numbered(but=batch):
        earlier = And(sequence.term >= 0, sequence.term < batch.sequence.term)
        lower.append(And(other.incomplete, earlier))
    return Not(Or(*lower))


def assign_sequence(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Give a batch its sequence number at its first transmission, and note the request's numbers (3.1, P2)."""
    assert batch.sequence is not None
    fresh = batch.sequence.term < 0
    producer = pipeline.producer
    effect.set_when(fresh, batch.sequence, producer.next_sequence.term)
    effect.set_when(fresh, producer.next_sequence, producer.next_sequence.term + 1)
    effect[batch.sent_epoch] = producer.epoch.term
    effect[batch.sent_sequence] = If(fresh, producer.next_sequence.term, batch.sequence.term)


def reset_numbers(effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Reset the number of a batch that is over: nothing reads it any more."""
    effect.reset_when(when, batch.sequence)


def reset_request(effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Reset the numbers of a request that is over."""
    effect.reset_when(when, batch.sent_epoch, batch.sent_sequence)


def numbers_sent(pipeline: Pipeline, batch: Batch) -> tuple[z3.ArithRef, z3.ArithRef]:
    """Return the producer epoch and the sequence number in the batch's request (semantics 3.4)."""
    assert batch.sent_epoch is not None and batch.sent_sequence is not None
    return batch.sent_epoch.term, batch.sent_sequence.term


def is_renumbered(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the batch got other numbers while its request was on its way (semantics 3.4)."""
    assert batch.sequence is not None
    epoch, sequence = numbers_sent(pipeline, batch)
    return Or(epoch != pipeline.producer.epoch.term, sequence != batch.sequence.term)


def number_from_zero(
    pipeline: Pipeline, effect: Effect, when: z3.BoolRef, *, failed: Batch | None = None
) -> z3.ArithRef:
    """Renumber what is in flight from 0, except for the ``failed`` batch; return how many batches that are (3.4)."""
    producer = pipeline.producer
    numbered = [
        (batch, sequence, And(batch.incomplete, sequence.term >= 0))
        for batch, sequence in producer.numbered(but=failed)
    ]
    for batch, sequence, counts in numbered:
        rank = [
            If(And(other_counts, other_sequence.term < sequence.term), 1, 0)
            for other, other_sequence, other_counts in numbered
            if other is not batch
        ]
        effect.set_when(And(when, counts), sequence, Sum(*rank) if rank else 0)
    return Sum(*(If(counts, 1, 0) for _, _, counts in numbered)) if numbered else IntVal(0)


def bump_epoch(pipeline: Pipeline, effect: Effect, when: z3.BoolRef, *, failed: Batch | None = None) -> None:
    """Bump the producer epoch, and renumber what is in flight from 0, except for the ``failed`` batch (3.4)."""
    producer = pipeline.producer
    total = number_from_zero(pipeline, effect, when, failed=failed)
    effect.set_when(when, producer.epoch, producer.epoch.term + 1)
    effect.set_when(when, producer.next_sequence, total)
    effect.set_when(when, producer.last_acknowledged, -1)
    effect.set_when(when, producer.unresolved, 0)
    effect.reset_when(when, producer.moved_on)


def close_gap(pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef | None = None) -> None:
    """Give the number of a refused record back, in a transaction: the numbers of later records move up (11.1)."""
    producer = pipeline.producer
    assert batch.sequence is not None
    numbered = batch.sequence.term >= 0 if when is None else And(when, batch.sequence.term >= 0)
    for other, sequence in producer.numbered(but=batch):
        later = And(numbered, other.incomplete, sequence.term > batch.sequence.term)
        effect.set_when(later, sequence, sequence.term - 1)
    effect.set_when(numbered, producer.next_sequence, producer.next_sequence.term - 1)


def epoch_left(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the bound on producer epochs leaves room for another."""
    return pipeline.sending.epoch_left(pipeline)
