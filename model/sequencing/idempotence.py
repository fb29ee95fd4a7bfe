"""The idempotent producer: sequence numbers at the client, the duplicate check at the broker (semantics 3.4, 3.5)."""

from __future__ import annotations

import z3

from model.deployment.implied.forgetting import brokers_forget_deleted, brokers_forget_fenced, producer_ids_expire
from model.deployment.sequencing import Unknown
from model.language import Effect
from model.log.early_expiry import is_forgotten
from model.log.markers import has_seen
from model.log.restoring import is_remembered
from model.log.sequence_check import SequenceCheck, check_by_release
from model.state.kept_numbers import FORGOTTEN
from model.state.pipeline import Batch, Pipeline, Replica


def check_sequence(
    pipeline: Pipeline, leader: Replica, batch: Batch, epoch: z3.ArithRef, sequence: z3.ArithRef
) -> SequenceCheck:
    """Check a batch's producer epoch and sequence number against what the leader's log says of its producer id.

    Every session has its own producer id, except that a producer with transactions keeps its id and gets a new epoch.
    An epoch never has more batches in a log than the five that a broker remembers. A broker accepts any sequence number
    of a producer id that it does not know, unless its release requires 0 (semantics 11.5).
    """
    transactions, rules = pipeline.transactions, pipeline.deployment.producer.transactional
    if pipeline.deployment.producer.sequencing is not None:
        return check_by_release(pipeline, pipeline.deployment.producer.sequencing, leader, batch, epoch, sequence)

    def same_producer(slot_batch: z3.ArithRef) -> z3.BoolRef:
        if transactions is not None:
            return z3.BoolVal(True)
        return pipeline.producer.shares_id(slot_batch, batch)

    last_epoch, last_sequence = z3.IntVal(-1), z3.IntVal(-1)
    if leader.knows_producer is not None:
        known = leader.knows_producer.is_set
        if transactions is None:
            known = z3.And(known, batch.session.term == 0)
        elif brokers_forget_fenced(pipeline.deployment):
            known = z3.And(known, z3.Not(is_forgotten(pipeline, leader, 0)))
        last_epoch = z3.If(known, z3.IntVal(0), last_epoch)
    numbered_here, same_here = [], []
    for offset, slot in enumerate(leader.log.slots):
        ours = z3.And(leader.log.has(offset), same_producer(slot["batch"].term))
        if brokers_forget_fenced(pipeline.deployment):
            ours = z3.And(ours, z3.Not(is_forgotten(pipeline, leader, offset)))
        if producer_ids_expire(pipeline.deployment) or brokers_forget_deleted(pipeline.deployment):
            ours = z3.And(ours, slot[FORGOTTEN].term == 0)
        numbered = ours
        if transactions is not None:
            # A marker has no number: in the epoch of the entries before it the numbers go on, in a newer one from 0.
            same_epoch = slot["producer_epoch"].term == last_epoch
            numbered = z3.And(ours, z3.Not(z3.And(transactions.is_marker(slot["batch"].term), same_epoch)))
        if pipeline.compacted is not None:
            # The broker does not know a record that the cleaner had removed before the broker copied the log.
            left = slot["sequence"].term >= 0
            if transactions is None:
                ours = numbered = z3.And(ours, left)
            else:
                seen = z3.And(transactions.is_marker(slot["batch"].term), has_seen(pipeline, leader, offset))
                ours, numbered = (z3.And(one, z3.Or(left, seen)) for one in (ours, numbered))
        last_epoch = z3.If(ours, slot["producer_epoch"].term, last_epoch)
        last_sequence = z3.If(numbered, slot["sequence"].term, last_sequence)
        same = z3.And(slot["producer_epoch"].term == epoch, slot["sequence"].term == sequence)
        if transactions is not None:
            same = z3.And(same, z3.Not(transactions.is_marker(slot["batch"].term)))
        numbered_here.append(numbered)
        same_here.append(z3.And(ours, same))
    older = pipeline.deployment.producer.older_transactions
    seen = is_remembered(leader, same_here, numbered_here, remembers_one=older is not None and older.remembers_one)
    fenced = epoch < last_epoch
    duplicate = z3.And(epoch == last_epoch, seen)
    follows = z3.And(epoch == last_epoch, sequence == last_sequence + 1)
    restarts = z3.And(epoch > last_epoch, sequence == 0)
    unknown = last_epoch == -1
    if rules is not None and rules.first_is_zero:
        unknown = z3.And(unknown, sequence == 0)
    if older is not None and older.unknown is not Unknown.APPENDED:
        if not older.knows_by_marker:
            begun = z3.BoolVal(True) if leader.knows_producer is None else epoch > 0
            unknown = z3.Or(unknown, z3.And(epoch == last_epoch, last_sequence == -1, begun))
        return _check_unknown(leader, older.unknown, epoch, sequence, (unknown, fenced, duplicate, follows, restarts))
    in_sequence = z3.And(z3.Not(duplicate), z3.Or(unknown, follows, restarts))
    out_of_order = z3.Not(z3.Or(fenced, duplicate, in_sequence))
    return SequenceCheck(duplicate, in_sequence, out_of_order, fenced)


def _check_unknown(
    leader: Replica,
    answer: Unknown,
    epoch: z3.ArithRef,
    sequence: z3.ArithRef,
    found: tuple[z3.BoolRef, z3.BoolRef, z3.BoolRef, z3.BoolRef, z3.BoolRef],
) -> SequenceCheck:
    """Check as brokers before 2.5 do: of a producer that they do not know they accept the number 0 only (3.5).

    The numbers of a producer that the partition knows continue those from before the run, so they are not the first
    ones. ``found``: the conditions that the producer is unknown, and that the batch is fenced, a duplicate, the next
    one, or the first of a new epoch.
    """
    unknown, fenced, duplicate, follows, restarts = found
    is_first = sequence == 0 if leader.knows_producer is None else z3.And(sequence == 0, epoch > 0)
    in_sequence = z3.And(z3.Not(duplicate), z3.If(unknown, is_first, z3.Or(follows, restarts)))
    told = z3.And(unknown, z3.Not(is_first)) if answer is Unknown.UNKNOWN_PRODUCER_ID else None
    others = (fenced, duplicate, in_sequence) if told is None else (fenced, duplicate, in_sequence, told)
    return SequenceCheck(duplicate, in_sequence, z3.Not(z3.Or(*others)), fenced, told)


def is_first_in_flight(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether no incomplete batch has a lower sequence number: only then can a retry be sent (semantics 3.4)."""
    assert batch.sequence is not None
    lower = []
    for other in pipeline.producer.batches:
        if other is not batch and other.sequence is not None:
            earlier = z3.And(other.sequence.term >= 0, other.sequence.term < batch.sequence.term)
            lower.append(z3.And(other.incomplete, earlier))
    return z3.Not(z3.Or(*lower))


def can_be_numbered(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the batch has its sequence number or one is left; always true, as each batch takes one."""
    if batch.sequence is None:
        return z3.BoolVal(True)
    next_sequence = pipeline.producer.next_sequence
    return z3.Or(batch.sequence.term >= 0, next_sequence.term < next_sequence.high)


def assign_sequence(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Give a batch its sequence number at its first transmission, and note the request's numbers (3.1, P2)."""
    if batch.sequence is None or batch.sent_epoch is None or batch.sent_sequence is None:
        return
    fresh = batch.sequence.term < 0
    producer = pipeline.producer
    effect.set_when(fresh, batch.sequence, producer.next_sequence.term)
    effect.set_when(fresh, producer.next_sequence, producer.next_sequence.term + 1)
    effect[batch.sent_epoch] = producer.epoch.term
    effect[batch.sent_sequence] = z3.If(fresh, producer.next_sequence.term, batch.sequence.term)


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
    return z3.Or(epoch != pipeline.producer.epoch.term, sequence != batch.sequence.term)


def number_from_zero(
    pipeline: Pipeline, effect: Effect, when: z3.BoolRef, *, failed: Batch | None = None
) -> z3.ArithRef:
    """Renumber what is in flight from 0, except for the ``failed`` batch; return how many batches that are (3.4)."""
    producer = pipeline.producer
    numbered = [
        (batch, batch.sequence, z3.And(batch.incomplete, batch.sequence.term >= 0))
        for batch in producer.batches
        if batch.sequence is not None and batch is not failed
    ]
    for batch, sequence, counts in numbered:
        rank = [
            z3.If(z3.And(other_counts, other_sequence.term < sequence.term), 1, 0)
            for other, other_sequence, other_counts in numbered
            if other is not batch
        ]
        effect.set_when(z3.And(when, counts), sequence, z3.Sum(*rank) if rank else 0)
    return z3.Sum(*(z3.If(counts, 1, 0) for _, _, counts in numbered)) if numbered else z3.IntVal(0)


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
    numbered = batch.sequence.term >= 0 if when is None else z3.And(when, batch.sequence.term >= 0)
    for other in producer.batches:
        if other is not batch and other.sequence is not None:
            later = z3.And(numbered, other.incomplete, other.sequence.term > batch.sequence.term)
            effect.set_when(later, other.sequence, other.sequence.term - 1)
    effect.set_when(numbered, producer.next_sequence, producer.next_sequence.term - 1)


def epoch_left(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the bound on producer epochs leaves room for another."""
    return pipeline.sending.epoch_left(pipeline)
