"""Conditions for a produce request at a broker: its turn on the connection, a leader, an ISR (1.1, 3.2, 3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import z3

from proofka.model.language import Variable
from proofka.model.language.terms import And, If, Implies, IntVal, Not, Or
from proofka.model.sequencing.idempotence import check_sequence, numbers_sent
from proofka.model.state.acknowledging import acknowledging
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.sequence_check import SequenceCheck
from proofka.model.state.shared_terms import shared


@shared
def is_at(pipeline: Pipeline, batch: Batch, broker: Replica) -> z3.BoolRef:
    """Tell whether the request is the next that a running broker handles: all before it are answered (1.1)."""
    before = [ahead.is_set for ahead in batch.ahead.values()]
    before += acknowledging(pipeline).waiting_for_isr(
        And(waits_at(other, broker), Not(replicated(pipeline, other, broker)))
        for other in pipeline.producer.batches
        if other is not batch
    )
    before += [is_ahead for other in pipeline.producer.batches for is_ahead in _answered_late(pipeline, other, broker)]
    return And(batch.is_(Fate.SENT), batch.target.term == broker.number, broker.up.is_set, Not(Or(*before)))


def _answered_late(pipeline: Pipeline, other: Batch, broker: Replica) -> Iterator[z3.BoolRef]:
    """Yield the condition that ``other``, whose send has failed, still blocks the connection (clients 2.1 to 3.5).

    Its request is unread, or waits for the ISR.
    """
    if other.late is not None:
        unread = other.delayed.term == broker.number
        waits = Or(unread, Not(replicated(pipeline, other, broker)))
        yield And(other.late.term == broker.number, waits)


@shared
def arrives(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the request is at a broker that considers itself the leader."""
    return And(is_at(pipeline, batch, leader), leader.presumes_leadership)


@shared
def checked(pipeline: Pipeline, batch: Batch, leader: Replica) -> SequenceCheck | None:
    """Return the leader's check of the producer epoch and sequence number in the request; None without idempotence."""
    if batch.sequence is None:
        return None
    return check_sequence(pipeline, leader, batch, *numbers_sent(pipeline, batch))


def accepts(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """Tell whether the leader accepts writes: with acks=all its ISR must reach ``min.insync.replicas`` first (3.2)."""
    return acknowledging(pipeline).accepts(pipeline, leader)


def _is_copy(pipeline: Pipeline, batch: Batch, slot: Mapping[str, Variable]) -> z3.BoolRef:
    """Tell whether the leader treats the entry of ``slot`` as a copy of the batch.

    The entry can be another record with the same producer epoch and sequence number (semantics 3.4, 4.1 to 4.3).
    """
    itself = slot["batch"].term == batch.number
    return pipeline.recovery.is_copy(pipeline, batch, slot, itself)


def has_numbers(
    pipeline: Pipeline, batch: Batch, slot: Mapping[str, Variable], numbers: tuple[z3.ArithRef, z3.ArithRef]
) -> z3.BoolRef:
    """Tell whether the entry of ``slot`` has this producer epoch and sequence number, and the batch's producer id."""
    epoch, sequence = numbers
    same_numbers = And(slot["producer_epoch"].term == epoch, slot["sequence"].term == sequence)
    return And(pipeline.producer.shares_id(slot["batch"].term, batch), same_numbers)


def has_numbers_sent(pipeline: Pipeline, batch: Batch, slot: Mapping[str, Variable]) -> z3.BoolRef:
    """Tell whether the entry of ``slot`` has the numbers of the batch's request."""
    return has_numbers(pipeline, batch, slot, numbers_sent(pipeline, batch))


@shared
def replicated(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the leader's log has the batch, and its high watermark is past every copy of it."""
    below = leader.log.every(
        lambda offset, slot: Implies(_is_copy(pipeline, batch, slot), leader.high_watermark.term > offset)
    )
    return And(leader.log.some(lambda _, slot: _is_copy(pipeline, batch, slot)), below)


def offset_of(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.ArithRef:
    """Return the offset that the leader answers with: the last one of the batch, or of what it treats as the batch."""
    offset = IntVal(0)
    for place, slot in enumerate(leader.log.slots):
        offset = If(And(leader.log.has(place), _is_copy(pipeline, batch, slot)), place, offset)
    return offset


def waits_at(batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the record is appended at this broker and its request is not answered yet."""
    return And(batch.is_(Fate.APPENDED), batch.target.term == leader.number, leader.up.is_set)


def answered_in_order(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether no other appended batch waits at the leader for its answer: answers keep the order of requests."""
    others = [other for other in pipeline.producer.batches if other is not batch]
    return Not(Or(*(waits_at(other, leader) for other in others)))


@shared
def held_up(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the appended batch waits for an ISR member that does not fetch, or for a large enough ISR."""
    silent = Or(
        *(
            And(
                leader.isr[follower.number].is_set,
                follower.does_not_fetch_from(leader),
            )
            for follower in pipeline.followers_of(leader)
        )
    )
    stuck = Or(silent, Not(pipeline.enough_in_sync(leader)))
    return And(waits_at(batch, leader), Not(replicated(pipeline, batch, leader)), stuck)


def queues_at(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the request waits behind one that is held up at the leader, which reads no further (1.1)."""
    others = [held_up(pipeline, other, leader) for other in pipeline.producer.batches if other is not batch]
    return And(batch.is_(Fate.SENT), batch.target.term == leader.number, Or(*others))
