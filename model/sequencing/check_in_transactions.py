"""The leader's check of a batch's numbers, of a producer with transactions: one id, and markers (semantics 3.5, 11.2).

The producer keeps its id and gets new epochs. A marker has no number: in the epoch of the entries before it the numbers
go on, in a newer one they begin at 0. A broker accepts any sequence number of a producer id that it does not know,
unless its release requires 0 (semantics 11.5).
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.deployment.implied.forgetting import brokers_forget_fenced
from proofka.model.deployment.older_transactions import OlderTransactions
from proofka.model.deployment.sequencing import Unknown
from proofka.model.deployment.transactional import Transactional
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or
from proofka.model.log.cleaned import cleaning_of
from proofka.model.log.early_expiry import is_forgotten
from proofka.model.log.markers import has_seen
from proofka.model.log.restoring import is_remembered
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.sequence_check import LastBatch, SequenceCheck
from proofka.model.state.transactions import Transactions


def check_in_transactions(
    pipeline: Pipeline,
    leader: Replica,
    of: tuple[Transactions, Transactional],
    epoch: z3.ArithRef,
    sequence: z3.ArithRef,
) -> SequenceCheck:
    """Check an epoch and a sequence number against what the leader's log says of the producer."""
    transactions, rules = of
    older = rules.older
    remembers_one = older is not None and older.remembers_one
    last = _last_batch(pipeline, leader, transactions, epoch, sequence, remembers_one=remembers_one)
    if older is not None and older.unknown is not Unknown.APPENDED:
        return _check_by_old_broker(leader, older, last, epoch, sequence)
    unknown = last.is_unknown
    if rules.first_is_zero:
        unknown = And(unknown, sequence == 0)
    return last.check(epoch, sequence, starts=unknown)


def _last_batch(
    pipeline: Pipeline,
    leader: Replica,
    transactions: Transactions,
    epoch: z3.ArithRef,
    sequence: z3.ArithRef,
    *,
    remembers_one: bool,
) -> LastBatch:
    """Return the producer's last batch as the leader knows it from its log, and from before the modelled log."""
    last_epoch, last_sequence = IntVal(-1), IntVal(-1)
    if leader.knows_producer is not None:
        known = leader.knows_producer.is_set
        for kept in _is_kept(pipeline, leader, 0):
            known = And(known, kept)
        last_epoch = If(known, IntVal(0), last_epoch)
    numbered_here, same_here = [], []
    for offset, slot in enumerate(leader.log.slots):
        is_marker = transactions.is_marker(slot["batch"].term)
        ours = And(leader.log.has(offset), BoolVal(True))
        for kept in _is_kept(pipeline, leader, offset):
            ours = And(ours, kept)
        numbered = And(ours, Not(And(is_marker, slot["producer_epoch"].term == last_epoch)))
        for keeps_number in cleaning_of(pipeline).keeps_number(slot):
            left = Or(keeps_number, And(is_marker, has_seen(pipeline, leader, offset)))
            ours, numbered = And(ours, left), And(numbered, left)
        last_epoch = If(ours, slot["producer_epoch"].term, last_epoch)
        last_sequence = If(numbered, slot["sequence"].term, last_sequence)
        same = And(slot["producer_epoch"].term == epoch, slot["sequence"].term == sequence)
        numbered_here.append(numbered)
        same_here.append(And(ours, And(same, Not(is_marker))))
    seen = is_remembered(leader, same_here, numbered_here, remembers_one=remembers_one)
    return LastBatch(last_epoch, last_sequence, seen)


def _is_kept(pipeline: Pipeline, leader: Replica, offset: int) -> Iterator[z3.BoolRef]:
    """Yield the condition that the broker has not forgotten the producer since it had the entry at ``offset``."""
    if brokers_forget_fenced(pipeline.deployment):
        yield Not(is_forgotten(pipeline, leader, offset))


def _check_by_old_broker(
    leader: Replica, older: OlderTransactions, last: LastBatch, epoch: z3.ArithRef, sequence: z3.ArithRef
) -> SequenceCheck:
    """Check as brokers before 2.5 do: of a producer that they do not know they accept the number 0 only (3.5).

    The numbers of a producer that the partition knows continue those from before the run, so they are not the first
    ones.
    """
    unknown = last.is_unknown
    if not older.knows_by_marker:
        begun = BoolVal(True) if leader.knows_producer is None else epoch > 0
        unknown = Or(unknown, And(epoch == last.epoch, last.sequence == -1, begun))
    is_first = sequence == 0 if leader.knows_producer is None else And(sequence == 0, epoch > 0)
    goes_on = Or(last.follows(epoch, sequence), last.restarts(epoch, sequence))
    fenced, duplicate = last.fences(epoch), last.is_duplicate(epoch)
    in_sequence = And(Not(duplicate), If(unknown, is_first, goes_on))
    if older.unknown is not Unknown.UNKNOWN_PRODUCER_ID:
        return SequenceCheck(duplicate, in_sequence, Not(Or(fenced, duplicate, in_sequence)), fenced)
    told = And(unknown, Not(is_first))
    return SequenceCheck(duplicate, in_sequence, Not(Or(fenced, duplicate, in_sequence, told)), fenced, told)
