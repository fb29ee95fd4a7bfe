"""Errors in a transaction with a client that drains: it sends nothing more, and queued records fail (semantics 4.1).

A record purged from its queue gives its number back, stored or not; a record that a broker refused keeps its number.
"""

from __future__ import annotations

import z3

from model.language import Action, Effect, State
from model.sequencing.draining import has_stopped
from model.sequencing.network import abandon, complete
from model.state.pipeline import Batch, Fate, Pipeline
from model.state.transactions import Outcome, Transaction
from model.state.wording import record_name
from model.transactions.epochs import of
from model.transactions.sending import batches_of, transaction_of, words


def purge(pipeline: Pipeline, effect: Effect, when: z3.BoolRef, *, spared: Batch | None = None) -> None:
    """Fail the queued records, except for ``spared``, and give their numbers back."""
    next_sequence, count = pipeline.producer.next_sequence, z3.IntVal(0)
    for batch in pipeline.producer.batches:
        if batch is not spared:
            assert batch.sequence is not None
            waits = z3.And(when, batch.is_(Fate.BUFFERED))
            count = count + z3.If(z3.And(waits, batch.sequence.term >= 0), 1, 0)
            complete(pipeline, effect, batch, Fate.FAILED, waits)
    left = next_sequence.term - count
    effect[next_sequence] = z3.If(left < 0, z3.IntVal(0), left)


def only_abort_is_left(pipeline: Pipeline, effect: Effect, batch: Batch, *, bumps: bool) -> None:
    """Note an abortable error after a failed send; with ``bumps``, abortTransaction() asks for a new epoch (4.1).

    Some clients ask for the epoch at once instead, and raise no error but that of the send.
    """
    if bumps:
        effect[pipeline.producer.unresolved] = True
    if bumps and pipeline.deployment.producer.sender.bumps_within:
        return
    transaction = transaction_of(pipeline, batch)
    effect.set_when(transaction.is_(Outcome.OPEN), transaction.outcome, int(Outcome.ABORTING))
    purge(pipeline, effect, transaction.is_(Outcome.OPEN), spared=batch)


def purge_returned(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Purge, in abortTransaction(), what came back to be retried after the transaction had failed (semantics 4.1)."""
    waiting = batches_of(pipeline, transaction)
    effect = Effect()
    purge(pipeline, effect, z3.BoolVal(True))
    comes_back = z3.Or(*(batch.is_(Fate.BUFFERED) for batch in waiting))

    def sentence(before: State, after: State) -> str:
        purged = " and ".join(record_name(batch) for batch in waiting if before[batch.fate.name] == Fate.BUFFERED)
        return f"the application aborts {transaction.name}: the producer does not send {purged} again"

    return Action(
        "purge_returned",
        "application",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=z3.And(transaction.is_(Outcome.ABORTING), comes_back, z3.Not(has_stopped(pipeline))),
        updates=effect.updates,
        sentence=sentence,
        semantics="4.1, 11.1",
    )


def replace_producer(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Replace a producer after a fatal error: the application makes another one (semantics 4.1, 11.1)."""
    transactions, _ = of(pipeline)
    producer = pipeline.producer
    assert producer.fatal is not None and producer.draining is not None
    effect = Effect()
    for batch in producer.batches:
        abandon(pipeline, effect, batch, batch.is_(Fate.SENT))
        complete(pipeline, effect, batch, Fate.FAILED, batch.incomplete)
    effect[transaction.outcome] = int(Outcome.REFUSED)
    effect[transactions.initialised] = False
    effect[transactions.added] = False
    effect[producer.unresolved] = False
    effect[producer.draining] = False
    effect[producer.fatal] = False
    return Action(
        "replace_producer",
        "application",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=z3.And(transaction.is_going_on, has_stopped(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the application gives up {words(pipeline, transaction)} with the producer, and starts a new one"
        ),
        semantics="4.1, 11.1",
    )
