"""The leader's question to the coordinator whether a transaction is going on, before it opens one in its log (11.5)."""

from __future__ import annotations

import z3

from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.log.visibility import is_left_open
from proofka.model.sequencing.arrival import accepts, arrives, checked
from proofka.model.sequencing.idempotence import numbers_sent
from proofka.model.state.pipeline import Batch, Pipeline, Replica
from proofka.model.state.transactions import Keeping, Status
from proofka.model.state.wording import record_name
from proofka.model.transactions.epochs import of


def is_verified(pipeline: Pipeline, leader: Replica, epoch: z3.ArithRef | int) -> z3.BoolRef:
    """Tell whether the log has an open transaction of this producer epoch, or the coordinator has one (KIP-890)."""
    transactions, rules = of(pipeline)
    if not rules.verified:
        return BoolVal(True)
    last = leader.log.at(leader.log.end.term - 1, "producer_epoch")
    open_here = And(is_left_open(pipeline, leader), last == epoch)
    return Or(open_here, And(transactions.is_(Status.ONGOING), transactions.epoch.term == epoch))


def can_be_added_again(pipeline: Pipeline, leader: Replica, epoch: z3.ArithRef) -> z3.BoolRef:
    """Tell whether the leader adds the partition, which the coordinator forgot to be in the transaction (TV2, 11.5)."""
    transactions, rules = of(pipeline)
    if transactions.own_log is None or not rules.epoch_each:
        return BoolVal(False)
    forgotten = And(transactions.own_log.is_(Keeping.LOST), transactions.is_at_rest)
    open_here = is_left_open(pipeline, leader)
    return And(forgotten, transactions.added.is_set, transactions.epoch.term == epoch, Not(open_here))


def reject_unverified(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a record, as no such transaction is going on: INVALID_TXN_STATE, and the send fails (semantics 11.5)."""
    check, (epoch, _) = checked(pipeline, batch, leader), numbers_sent(pipeline, batch)
    assert check is not None
    arrived = And(arrives(pipeline, batch, leader), accepts(pipeline, leader), check.in_sequence)
    verified = is_verified(pipeline, leader, epoch)
    if of(pipeline)[0].own_log is not None:
        verified = Or(verified, can_be_added_again(pipeline, leader, epoch))
    effect = Effect()
    refused = [arrived, Not(verified), *pipeline.recovery.fail_permanently(pipeline, effect, batch, fenced=False)]
    return Action(
        "reject_unverified",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(*refused),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} asks the coordinator, which knows of no such transaction, and refuses "
            f"{record_name(batch)}: INVALID_TXN_STATE"
        ),
        semantics="11.5",
    )
