"""The readable part of a log with transactions: the last stable offset, and aborted records (semantics 11.2).

Without transactions everything below the high watermark can be read, except what the cleaner removed in a compacted
topic.
"""

from __future__ import annotations

import z3

from proofka.model.deployment.implied.cleaning import drops_markers
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or
from proofka.model.log.cleaned import cleaning_of
from proofka.model.log.markers import ends_it, has_seen, is_aborted, is_marker, is_taken_for_aborted, may_have_other_ids
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.shared_terms import shared


def _is_open(pipeline: Pipeline, leader: Replica, offset: int, end: z3.ArithRef) -> z3.BoolRef:
    """Tell whether the record at the offset is in a transaction that no marker below ``end`` ends."""
    after = range(offset + 1, leader.log.capacity)
    ended = [And(end > later, is_marker(pipeline, leader, later)) for later in after]
    if may_have_other_ids(pipeline):
        ended = [And(one, ends_it(pipeline, leader, later, offset)) for one, later in zip(ended, after, strict=True)]
    if drops_markers(pipeline.deployment):
        ended = [And(one, has_seen(pipeline, leader, later)) for one, later in zip(ended, after, strict=True)]
    is_open = And(end > offset, Not(is_marker(pipeline, leader, offset)), Not(Or(*ended)))
    for stands in cleaning_of(pipeline).stands(leader, offset):
        is_open = And(is_open, stands)
    return is_open


def is_left_open(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """Tell whether some record of the log is in a transaction that the log does not end."""
    end = leader.log.end.term
    return Or(*(_is_open(pipeline, leader, offset, end) for offset in range(leader.log.capacity)))


@shared
def last_stable_offset(pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
    """Return the offset of the first record of an open transaction, or the high watermark (semantics 11.2)."""
    return pipeline.sending.first_open(pipeline, leader)


def first_open(pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
    """Return the same offset for a log that can have transactions."""
    end = stable = leader.high_watermark.term
    for offset in reversed(range(leader.log.capacity)):
        stable = If(_is_open(pipeline, leader, offset, end), IntVal(offset), stable)
    return stable


@shared
def end_of_reading(pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
    """Return the end of reading: the last stable offset with read_committed, else the high watermark."""
    return pipeline.sending.end_of_reading(pipeline, leader)


@shared
def can_be_read(pipeline: Pipeline, leader: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the consumer can be given the record at the offset."""
    readable = end_of_reading(pipeline, leader) > offset
    for passed in pipeline.sending.is_passed_over(pipeline, leader, offset):
        readable = And(readable, Not(passed))
    return readable


@shared
def is_passed_over(pipeline: Pipeline, leader: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the entry at the offset is a marker, or with read_committed an aborted record."""
    transactional = pipeline.deployment.producer.transactional
    assert transactional is not None
    filters = transactional.read_committed and not transactional.hands_over_aborted
    aborted = And(is_taken_for_aborted(pipeline, leader, offset), BoolVal(filters))
    return Or(is_marker(pipeline, leader, offset), aborted)


def can_be_passed_over(pipeline: Pipeline, leader: Replica, position: z3.ArithRef) -> z3.BoolRef:
    """Tell whether the entry at the position is readable, but the consumer is not given it."""
    here = [And(position == offset, is_passed_over(pipeline, leader, offset)) for offset in range(leader.log.capacity)]
    passed = And(position < end_of_reading(pipeline, leader), Or(*here))
    for stands in cleaning_of(pipeline).all_stand(leader, position, 1):
        passed = And(passed, stands)
    return passed


def can_all_be_read(pipeline: Pipeline, leader: Replica, position: z3.ArithRef, count: int) -> z3.BoolRef:
    """Tell whether the consumer can be given all ``count`` entries from the position on."""
    below = position + count <= end_of_reading(pipeline, leader)
    for stand in cleaning_of(pipeline).all_stand(leader, position, count):
        below = And(below, stand)
    passed = [
        And(position <= offset, position + count > offset, here)
        for offset in range(leader.log.capacity)
        for here in pipeline.sending.is_passed_over(pipeline, leader, offset)
    ]
    return And(below, Not(Or(*passed))) if passed else below


def keeps_record(pipeline: Pipeline, replica: Replica, record: int) -> z3.BoolRef:
    """Tell whether the replica's log has the record and does not abort it, or the cleaner has rightly removed it."""
    return cleaning_of(pipeline).keeps_record(pipeline, replica, record)


def keeps_unaborted(pipeline: Pipeline, replica: Replica, record: int) -> z3.BoolRef:
    """Tell whether the replica's log has the record in a transaction that the log does not abort."""
    batches = [batch.number for batch in pipeline.producer.of_record(record)]
    return replica.log.some(
        lambda offset, slot: And(
            Or(*(slot["batch"].term == number for number in batches)),
            Not(is_aborted(pipeline, replica, offset)),
        )
    )
