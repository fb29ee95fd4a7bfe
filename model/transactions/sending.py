"""The records of each transaction, and its begin: first send(), and the partition is added (semantics 11.1)."""

from __future__ import annotations

from collections.abc import Sequence

import z3

from proofka.model.deployment.choices import OnRestart, OnSendError, Sends
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.cleaning import drops_markers
from proofka.model.language import Effect
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.log.visibility import is_left_open
from proofka.model.state.pipeline import Batch, Fate, Pipeline
from proofka.model.state.transactions import Keeping, Outcome, Status, Transaction
from proofka.model.transactions.epochs import has_epoch, of, recovery_in


def group_of(deployment: Deployment, record: int) -> int:
    """Return the number (from 0) of the group of records that are sent in one transaction, of a record (from 0)."""
    rules = deployment.producer.transactional
    assert rules is not None
    # The first transaction has fewer records than the others, so that a late one of it can split the next.
    return (record + -deployment.bounds.records % rules.records) // rules.records


def transaction_of(pipeline: Pipeline, batch: Batch) -> Transaction:
    """Return the transaction in which a batch is sent."""
    group = group_of(pipeline.deployment, batch.record)
    return of(pipeline)[0].each[group * pipeline.deployment.bounds.sends + batch.attempt]


def batches_of(pipeline: Pipeline, transaction: Transaction) -> Sequence[Batch]:
    """Return the batches that are sent in a transaction, in their order."""
    return [batch for batch in pipeline.producer.batches if transaction_of(pipeline, batch) is transaction]


def words(pipeline: Pipeline, transaction: Transaction) -> str:
    """Return the words for a transaction and its records."""
    batches = batches_of(pipeline, transaction)
    if not batches:
        return f"{transaction.name} (later records)"
    records = " and ".join(str(batch.record + 1) for batch in batches)
    return f"{transaction.name} (record{'s' if len(batches) > 1 else ''} {records})"


def sent_again(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Tell whether the application sends the records of this transaction in another one (semantics 3.1, P12 P13)."""
    again = []
    if pipeline.deployment.application.on_send_error is OnSendError.RESEND:
        again.append(transaction.is_(Outcome.ABORTED, Outcome.REFUSED))
    if pipeline.deployment.application.on_restart is OnRestart.RESEND:
        again.append(transaction.is_(Outcome.LOST))
    return Or(*again)


def _is_over(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Tell whether no record of this transaction will be sent any more, within the bound on sends."""
    ended = transaction.is_(Outcome.COMMITTED, Outcome.ABORTED, Outcome.LOST, Outcome.REFUSED)
    if transaction.attempt == pipeline.deployment.bounds.sends - 1:
        return ended
    return And(ended, Not(sent_again(pipeline, transaction)))


def begins_next(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Tell whether this transaction is next: its records are to be sent now, in this attempt.

    A transaction of later records matters only in three cases. It would end something that is left open in a log,
    something late can still become part of it, or the cleaner then no longer needs the markers before it.
    """
    transactions, rules = of(pipeline)
    each = transactions.each
    conditions = [transaction.is_(Outcome.UNBEGUN)]
    if not batches_of(pipeline, transaction) and not drops_markers(pipeline.deployment):
        there = [is_left_open(pipeline, replica) for replica in pipeline.replicas]
        if not rules.epoch_each:
            there += [batch.delayed.term != 0 for batch in pipeline.producer.batches]
        conditions.append(Or(*there))
    for group in range(transaction.group):
        conditions.append(Or(*(_is_over(pipeline, one) for one in each if one.group == group)))
    if transaction.attempt:
        conditions.append(sent_again(pipeline, each[transaction.number - 1]))
    if pipeline.deployment.application.on_send_error is OnSendError.HALT:
        conditions.append(Not(Or(*(one.is_(Outcome.ABORTED, Outcome.REFUSED) for one in each))))
    return And(*conditions)


def may_send(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the application calls send() for this record next, in a transaction that it begins or has begun."""
    transactions, _ = of(pipeline)
    transaction = transaction_of(pipeline, batch)
    before = [other for other in batches_of(pipeline, transaction) if other.record < batch.record]
    others = [other for other in batches_of(pipeline, transaction) if other is not batch]
    opens = BoolVal(False) if before else begins_next(pipeline, transaction)
    in_order = And(*(Not(other.is_(Fate.UNSENT)) for other in before))
    intact = Not(Or(*(pipeline.sending.fails_transaction(other) for other in others)))
    conditions = [transactions.initialised.is_set, batch.is_(Fate.UNSENT)]
    conditions.append(Or(opens, And(transaction.is_(Outcome.OPEN), in_order, intact)))
    if pipeline.deployment.application.sends is Sends.SYNC:
        conditions.append(Not(Or(*(other.incomplete for other in others))))
    return And(*conditions)


def begin(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Open the transaction of the batch, at its first send()."""
    effect[transaction_of(pipeline, batch).outcome] = int(Outcome.OPEN)


def takes_next(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the coordinator has nothing to finish before it adds the partition to a transaction (11.1, T2).

    If it has forgotten how the transaction before ended, it treats the next as a part of that.
    """
    transactions, _ = of(pipeline)
    if transactions.own_log is None:
        return transactions.is_at_rest
    goes_on = And(transactions.is_(Status.ONGOING), transactions.own_log.is_(Keeping.LOST))
    return Or(transactions.is_at_rest, goes_on)


def _can_be_added(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the coordinator would add the partition to the producer's transaction now (11.1, T2)."""
    return And(takes_next(pipeline), has_epoch(pipeline))


def may_transmit(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the partition is in the transaction, or can be added; aborted records are only retried (11.1)."""
    transactions, _ = of(pipeline)
    transaction = transaction_of(pipeline, batch)
    assert batch.sequence is not None
    retried = And(transaction.is_(Outcome.ABORTING), batch.sequence.term >= 0)
    in_transaction = Or(transactions.added.is_set, _can_be_added(pipeline))
    return And(in_transaction, recovery_in(pipeline).may_send_in(transaction, retried))


def add_partition(pipeline: Pipeline, effect: Effect, transaction: Transaction) -> None:
    """Note at the coordinator that the partition is in the transaction, before its first record goes (11.1, T2)."""
    _add_when(pipeline, effect, transaction, BoolVal(True))


def _add_when(pipeline: Pipeline, effect: Effect, transaction: Transaction, when: z3.BoolRef) -> None:
    transactions, _ = of(pipeline)
    first = And(when, Not(transactions.added.is_set))
    if transactions.own_log is not None:
        first = And(first, Not(transactions.is_(Status.ONGOING)))
    effect.set_when(first, transactions.status, int(Status.ONGOING))
    effect.set_when(first, transactions.current, transaction.number)
    effect.set_when(when, transactions.added, 1)


def add_before_giving_up(pipeline: Pipeline, effect: Effect, batch: Batch) -> z3.BoolRef:
    """Have the partition added before a record is given up, and tell when that is possible (11.1, T2).

    Java's client looks for records that are too old only while no request to the coordinator is unanswered
    (``Sender.runOnce``). A producer whose epoch the coordinator no longer has gets an error, and the send fails.
    """
    added, can_be_added = of(pipeline)[0].added.is_set, _can_be_added(pipeline)
    _add_when(pipeline, effect, transaction_of(pipeline, batch), And(Not(added), can_be_added))
    return Or(added, can_be_added, Not(has_epoch(pipeline)))
