"""The leader's check of a batch's numbers, of a producer without transactions: every start has an id (semantics 3.5).

An epoch never has more batches in a log than the five that a broker remembers. A broker accepts any sequence number of
a producer id that it does not know.
"""

from __future__ import annotations

import z3

from proofka.model.deployment.implied.forgetting import brokers_forget_deleted, producer_ids_expire
from proofka.model.language.terms import And, If, IntVal
from proofka.model.log.cleaned import cleaning_of
from proofka.model.log.restoring import is_remembered
from proofka.model.state.kept_numbers import FORGOTTEN
from proofka.model.state.pipeline import Batch, Pipeline, Replica
from proofka.model.state.sequence_check import LastBatch, SequenceCheck


def check_alone(
    pipeline: Pipeline, leader: Replica, batch: Batch, epoch: z3.ArithRef, sequence: z3.ArithRef
) -> SequenceCheck:
    """Check a batch's epoch and sequence number against what the leader's log says of its producer id."""
    forgets = producer_ids_expire(pipeline.deployment) or brokers_forget_deleted(pipeline.deployment)
    last_epoch, last_sequence = IntVal(-1), IntVal(-1)
    if leader.knows_producer is not None:
        known = And(leader.knows_producer.is_set, batch.session.term == 0)
        last_epoch = If(known, IntVal(0), last_epoch)
    ours_here, same_here = [], []
    for offset, slot in enumerate(leader.log.slots):
        ours = And(leader.log.has(offset), pipeline.producer.shares_id(slot["batch"].term, batch))
        if forgets:
            ours = And(ours, slot[FORGOTTEN].term == 0)
        for keeps_number in cleaning_of(pipeline).keeps_number(slot):
            ours = And(ours, keeps_number)
        last_epoch = If(ours, slot["producer_epoch"].term, last_epoch)
        last_sequence = If(ours, slot["sequence"].term, last_sequence)
        same = And(slot["producer_epoch"].term == epoch, slot["sequence"].term == sequence)
        ours_here.append(ours)
        same_here.append(And(ours, same))
    last = LastBatch(last_epoch, last_sequence, is_remembered(leader, same_here, ours_here))
    return last.check(epoch, sequence, starts=last.is_unknown)
