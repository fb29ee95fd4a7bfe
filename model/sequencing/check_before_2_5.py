"""The leader's check of a batch's numbers where the client or the brokers are older than 2.5 (semantics 3.5)."""

from __future__ import annotations

import z3

from proofka.model.deployment.implied.forgetting import brokers_forget_deleted
from proofka.model.deployment.sequencing import Sequencing, Unknown
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or
from proofka.model.log.cleaned import cleaning_of
from proofka.model.log.restoring import is_remembered
from proofka.model.state.kept_numbers import FORGOTTEN
from proofka.model.state.pipeline import Batch, Pipeline, Replica
from proofka.model.state.sequence_check import SequenceCheck


def check_before_2_5(
    pipeline: Pipeline,
    sequencing: Sequencing,
    leader: Replica,
    batch: Batch,
    epoch: z3.ArithRef,
    sequence: z3.ArithRef,
) -> SequenceCheck:
    """Check a batch's producer id, epoch and sequence number against what the leader's log says of the producer id.

    The numbers of a producer that the partition knows continue those from before the run, so they are not the first
    ones.
    """

    def same_producer(slot_batch: z3.ArithRef, slot_epoch: z3.ArithRef) -> z3.BoolRef:
        sent = pipeline.producer.shares_id(slot_batch, batch)
        return pipeline.recovery.is_of_one_id(sent, slot_epoch, epoch)

    goes_on = BoolVal(False)
    last_epoch, last_sequence = IntVal(-1), IntVal(-1)
    if leader.knows_producer is not None:
        goes_on = And(batch.session.term == 0, epoch == 0)
        of_this = pipeline.recovery.is_of_one_id(batch.session.term == 0, epoch, 0)
        last_epoch = If(And(leader.knows_producer.is_set, of_this), IntVal(0), last_epoch)
    ours_here, same_here = [], []
    for offset, slot in enumerate(leader.log.slots):
        ours = And(leader.log.has(offset), same_producer(slot["batch"].term, slot["producer_epoch"].term))
        for keeps_number in cleaning_of(pipeline).keeps_number(slot):
            ours = And(ours, keeps_number)
        if brokers_forget_deleted(pipeline.deployment):
            ours = And(ours, slot[FORGOTTEN].term == 0)
        last_epoch = If(ours, slot["producer_epoch"].term, last_epoch)
        last_sequence = If(ours, slot["sequence"].term, last_sequence)
        same = And(slot["producer_epoch"].term == epoch, slot["sequence"].term == sequence)
        ours_here.append(ours)
        same_here.append(And(ours, same))
    seen = is_remembered(leader, same_here, ours_here, remembers_one=sequencing.remembers_one)
    known = last_epoch >= 0
    starts = And(sequence == 0, Not(goes_on))
    if sequencing.unknown is Unknown.APPENDED:
        starts = Or(starts, Not(known))
    fenced = epoch < last_epoch
    duplicate = And(epoch == last_epoch, seen)
    follows = And(epoch == last_epoch, sequence == last_sequence + 1)
    in_sequence = And(Not(duplicate), Or(follows, And(epoch > last_epoch, starts)))
    unknown = And(Not(known), Not(in_sequence))
    if sequencing.unknown is not Unknown.UNKNOWN_PRODUCER_ID:
        return SequenceCheck(duplicate, in_sequence, Not(Or(fenced, duplicate, in_sequence)), fenced)
    out_of_order = Not(Or(fenced, duplicate, in_sequence, unknown))
    return SequenceCheck(duplicate, in_sequence, out_of_order, fenced, unknown)
