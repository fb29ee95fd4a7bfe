"""A client that asks for a new epoch in the middle of a transaction, and goes on with the transaction (semantics 4.1).

librdkafka 1.7 and 1.8.0 do so. To the coordinator the request ends the transaction. Brokers of 2.5 then give the epoch
to the client, which still treats its transaction as the same one, and its partition as a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from model.language import Action, Effect
from model.sequencing.draining import bump_due
from model.sequencing.idempotence import epoch_left
from model.state.pipeline import Pipeline
from model.state.transactions import Outcome, Status, Transaction
from model.transactions.epochs import has_epoch, of, raise_epoch, take_epoch
from model.transactions.sending import batches_of, words


def ask_within(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Ask for a new epoch, as a number is missing and nothing is in flight: the coordinator aborts (4.1, 11.1 T1')."""
    transactions, _ = of(pipeline)
    effect = Effect()
    effect[transactions.status] = int(Status.PREPARE_ABORT)
    raise_epoch(pipeline, effect)
    ongoing = z3.And(transactions.is_(Status.ONGOING), transactions.current.term == transaction.number)
    asks = z3.And(bump_due(pipeline), transaction.is_going_on, ongoing, has_epoch(pipeline))
    return Action(
        "ask_within",
        "coordinator",
        lane="brokers",
        arguments={"transaction": transaction.number},
        guard=z3.And(asks, epoch_left(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the producer asks for a new epoch, and the coordinator decides to abort {words(pipeline, transaction)}, "
            "which the application does not hear of"
        ),
        semantics="4.1, 11.1 T1'",
    )


def go_on_within(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Give the client the new epoch: it numbers from 0, and goes on with its transaction (semantics 4.1)."""
    transactions, _ = of(pipeline)
    producer = pipeline.producer
    effect = Effect()
    effect[transactions.status] = int(Status.EMPTY)
    take_epoch(pipeline, effect)
    effect[producer.unresolved] = False
    for batch in producer.batches:
        assert batch.sequence is not None
        effect[batch.sequence] = -1
    given = z3.And(transactions.is_at_rest, transactions.epoch.term == producer.epoch.term + 1)
    return Action(
        "go_on_within",
        "coordinator",
        lane="brokers",
        arguments={"transaction": transaction.number},
        guard=z3.And(bump_due(pipeline), transaction.is_going_on, given),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the coordinator gives the producer epoch {after[producer.epoch.name]}: it goes on with {transaction.name}"
        ),
        semantics="4.1",
    )


def ask_before(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Ask for a new epoch where the coordinator knows of no transaction: it raises the epoch at once (4.1, 11.1 T1)."""
    transactions, _ = of(pipeline)
    producer = pipeline.producer
    effect = Effect()
    raise_epoch(pipeline, effect)
    take_epoch(pipeline, effect)
    effect[producer.unresolved] = False
    for batch in producer.batches:
        assert batch.sequence is not None
        effect[batch.sequence] = -1
    at_rest = z3.And(transactions.is_at_rest, has_epoch(pipeline))
    return Action(
        "ask_before",
        "coordinator",
        lane="brokers",
        arguments={"transaction": transaction.number},
        guard=z3.And(bump_due(pipeline), transaction.is_going_on, at_rest, epoch_left(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: f"the coordinator gives the producer epoch {after[transactions.epoch.name]}",
        semantics="4.1, 11.1 T1",
    )


def refuse_unknown_end(pipeline: Pipeline, transaction: Transaction, asked: z3.BoolRef) -> Action:
    """Refuse to end a transaction unknown to the coordinator: INVALID_TXN_STATE, a new producer is needed (11.1 T4)."""
    transactions, _ = of(pipeline)
    effect = Effect()
    effect[transaction.outcome] = int(Outcome.REFUSED)
    effect[transactions.added] = False
    effect[transactions.initialised] = False
    unknown = z3.And(transactions.is_(Status.EMPTY), transactions.added.is_set, has_epoch(pipeline))
    return Action(
        "refuse_unknown_end",
        "coordinator",
        lane="brokers",
        arguments={"transaction": transaction.number},
        guard=z3.And(asked, unknown),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the coordinator does not know {words(pipeline, transaction)} and refuses to end it: INVALID_TXN_STATE, "
            "and the application starts a new producer"
        ),
        semantics="11.1 T4",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of a producer with transactions that bumps its epoch within them."""
    transactions = pipeline.transactions
    if transactions is None or not pipeline.deployment.producer.sender.bumps_within:
        return
    for transaction in transactions.each:
        if batches_of(pipeline, transaction):
            yield ask_within(pipeline, transaction)
            yield ask_before(pipeline, transaction)
            yield go_on_within(pipeline, transaction)
