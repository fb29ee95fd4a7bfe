"""The recovery of an idempotent producer before 2.5: it takes a new producer id (semantics 3.4).

A numbered record keeps its number and its producer id, so that a retry stays recognisable. A record that was never sent
gets a number of the new id. In 0.11 only one record has a number at a time.
"""

from __future__ import annotations

import z3

from model.deployment.implied.other_partitions import fails_elsewhere
from model.deployment.sequencing import Recovery
from model.language import Effect
from model.state.kept_numbers import Numbering
from model.state.pipeline import Batch, Fate, Pipeline, counts_retries


def numbering_of(batch: Batch) -> Numbering:
    assert batch.numbering is not None
    return batch.numbering


def sequence_of(batch: Batch) -> z3.ArithRef:
    assert batch.sequence is not None
    return batch.sequence.term


def one_by_one(pipeline: Pipeline) -> bool:
    sequencing = pipeline.deployment.producer.sequencing
    return sequencing is not None and sequencing.recovery is Recovery.ONE_BY_ONE


def is_of_current_id(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the batch's number is of the client's current producer id; an epoch bump does not change the id."""
    if batch.numbering is None:
        return z3.BoolVal(True)
    return numbering_of(batch).producer_id.term == pipeline.producer.epoch.term


def is_tracked(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the client tracks the batch's number: it is of the current id, and the batch is not over."""
    return z3.And(batch.incomplete, sequence_of(batch) >= 0, is_of_current_id(pipeline, batch))


def is_next_in_queue(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether a retry can go: no tracked batch, and no waiting one of the same id, has a lower number (3.4)."""
    current = is_of_current_id(pipeline, batch)
    lower = []
    for other in pipeline.producer.batches:
        if other is not batch:
            same_id = numbering_of(other).producer_id.term == numbering_of(batch).producer_id.term
            earlier = z3.And(sequence_of(other) >= 0, sequence_of(other) < sequence_of(batch))
            in_the_way = z3.Or(other.is_(Fate.BUFFERED), z3.And(current, other.in_flight))
            lower.append(z3.And(same_id, earlier, in_the_way))
    return z3.Not(z3.Or(*lower))


def attempts_left(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the failed attempt was not the last one."""
    if not counts_retries(pipeline.deployment):
        return z3.BoolVal(True)
    return batch.retries.term < pipeline.deployment.producer.retries


def take_new_id(pipeline: Pipeline, effect: Effect, when: z3.BoolRef) -> None:
    """Take a new producer id: the client forgets its id and what it knew of its numbers (semantics 3.4)."""
    producer = pipeline.producer
    effect.set_when(when, producer.epoch, producer.epoch.term + 1)
    numbers = (producer.next_sequence, producer.last_acknowledged, producer.unresolved)
    for variable in (*numbers, producer.heard, producer.acknowledged_to):
        if variable is not None:
            effect.set_when(when, variable, variable.initial)
    for batch in producer.batches:
        renumbered = numbering_of(batch).renumbered
        if renumbered is not None:
            effect.set_when(when, renumbered, 0)


def shift_numbers(pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Move the numbers after a failed batch down, as its own counts as free (adjustSequencesDueToFailedBatch; 3.4).

    A number cannot be below 0: the client stops half way then, with an error in its log.
    """
    producer = pipeline.producer
    when = z3.And(when, is_of_current_id(pipeline, batch), producer.next_sequence.term > 0)
    effect.set_when(when, producer.next_sequence, producer.next_sequence.term - 1)
    others = [other for other in producer.batches if other is not batch]
    stops = z3.Or(
        *(z3.And(is_tracked(pipeline, other), sequence_of(other) == 0, sequence_of(batch) == 0) for other in others)
    )
    for other in others:
        later = z3.And(is_tracked(pipeline, other), sequence_of(other) >= sequence_of(batch), sequence_of(other) > 0)
        _renumber(effect, other, z3.And(when, z3.Not(stops), later), sequence_of(other) - 1)


def start_again(pipeline: Pipeline, effect: Effect, when: z3.BoolRef) -> None:
    """Renumber the tracked batches from 0, under the same producer id (startSequencesAtBeginning; 3.4)."""
    producer = pipeline.producer
    tracked = [(batch, z3.And(when, is_tracked(pipeline, batch))) for batch in producer.batches]
    for batch, counts in tracked:
        before = [
            z3.If(z3.And(other_counts, sequence_of(other) < sequence_of(batch)), 1, 0)
            for other, other_counts in tracked
            if other is not batch
        ]
        _renumber(effect, batch, counts, z3.Sum(*before) if before else z3.IntVal(0))
    effect.set_when(when, producer.next_sequence, z3.Sum(*(z3.If(counts, 1, 0) for _, counts in tracked)))
    effect.set_when(when, producer.last_acknowledged, -1)


def _renumber(effect: Effect, batch: Batch, when: z3.BoolRef, sequence: z3.ArithRef) -> None:
    """Give the batch another number, which its request on the way does not have."""
    renumbered = numbering_of(batch).renumbered
    assert batch.sequence is not None and renumbered is not None
    effect.set_when(when, batch.sequence, sequence)
    effect.set_when(z3.And(when, batch.in_flight), renumbered, 1)


def ends_id_when_given_up(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether giving up on the batch ends the producer id: for a retry in 0.11 (semantics 3.4)."""
    return batch.retries.term > 0 if one_by_one(pipeline) else z3.BoolVal(False)


def doubt_number(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Note that a retry was given up on, so that nobody knows whether its number is used (semantics 3.4)."""
    if one_by_one(pipeline):
        take_new_id(pipeline, effect, ends_id_when_given_up(pipeline, batch))
    else:
        effect.set_when(batch.retries.term > 0, pipeline.producer.unresolved, 1)


def give_number_back(pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Give a failed record's number to the next one, in 0.11: only an acknowledgement uses a number up (3.4)."""
    if one_by_one(pipeline):
        used = z3.And(when, sequence_of(batch) >= 0, pipeline.producer.next_sequence.term > 0)
        effect.set_when(used, pipeline.producer.next_sequence, pipeline.producer.next_sequence.term - 1)


def note_offset(pipeline: Pipeline, effect: Effect, batch: Batch, offset: z3.ArithRef) -> None:
    """Note the offset in an answer, if the batch's number is of the current producer id (3.4)."""
    producer = pipeline.producer
    if producer.acknowledged_to is not None:
        further = z3.And(is_of_current_id(pipeline, batch), offset >= producer.acknowledged_to.term)
        effect.set_when(further, producer.acknowledged_to, offset + 1)


def acknowledge_number(pipeline: Pipeline, effect: Effect, batch: Batch, offset: z3.ArithRef) -> None:
    """Note that the broker has the batch's number, which the client uses only if it is of the current producer id."""
    producer, current = pipeline.producer, is_of_current_id(pipeline, batch)
    if not one_by_one(pipeline):
        later = z3.And(current, sequence_of(batch) > producer.last_acknowledged.term)
        effect.set_when(later, producer.last_acknowledged, sequence_of(batch))
    if producer.heard is not None:
        effect.set_when(current, producer.heard, 1)
    note_offset(pipeline, effect, batch, offset)
    assert batch.sequence is not None
    effect[batch.sequence] = -1
    forget_number(effect, batch, z3.BoolVal(True))


def keep_what_was_sent(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Keep the request's numbers: the broker answers when these are replicated, whichever record had them first."""
    changes = batch.numbering is not None or (
        pipeline.deployment.producer.rewinds and fails_elsewhere(pipeline.deployment)
    )
    if changes and batch.sent_epoch is not None and batch.sent_sequence is not None:
        effect[batch.sent_epoch] = batch.sent_epoch.term
        effect[batch.sent_sequence] = batch.sent_sequence.term


def forget_number(effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Reset what the client kept besides the number of a batch that is over."""
    if batch.numbering is not None:
        effect.set_when(when, batch.numbering.producer_id, 0)
        if batch.numbering.renumbered is not None:
            effect.set_when(when, batch.numbering.renumbered, 0)


def is_answered_late(batch: Batch) -> z3.BoolRef:
    """Tell whether the send failed in flight and its connection works: the request will be handled and answered."""
    if batch.late is None:
        return z3.BoolVal(False)
    return z3.And(batch.late.term != 0, batch.late.term != batch.late.high)


def lose_late_answers(pipeline: Pipeline, effect: Effect, broker: z3.ArithRef | int, when: z3.BoolRef) -> None:
    """Turn every late answer over this broker's connection into an error."""
    for batch in pipeline.producer.batches:
        if batch.late is not None:
            late = batch.late
            effect.set_when(z3.And(when, late.term != 0, late.term == broker), late, late.high)
