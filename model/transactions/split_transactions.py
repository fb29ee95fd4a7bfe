"""A transaction whose later part is another transaction to the coordinator (semantics 4.1, 11.7).

The coordinator has ended what the client treats as one transaction that goes on. What the client adds then, in another
partition or of offsets, begins a new transaction, which this partition is not in.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, If
from proofka.model.state.pipeline import Pipeline
from proofka.model.state.transactions import Outcome, Status, Transaction
from proofka.model.transactions.epochs import has_epoch, of, recovery_in
from proofka.model.transactions.sending import batches_of


def add_elsewhere(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Add another partition, or offsets, to the transaction, which begins one without this partition (4.1, 11.1 T2)."""
    transactions, _ = of(pipeline)
    assert transactions.elsewhere is not None
    effect = Effect()
    effect[transactions.status] = int(Status.ONGOING)
    effect[transactions.current] = transaction.number
    effect[transactions.elsewhere] = True
    goes_on = And(transaction.is_(Outcome.OPEN), transactions.added.is_set, has_epoch(pipeline))
    return Action(
        "add_elsewhere",
        "application",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=And(goes_on, recovery_in(pipeline).was_ended_unnoticed(pipeline, transaction)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the application adds to {transaction.name} what else it holds (a record in another partition, or the "
            "group's offsets): for the coordinator that begins a transaction, which this partition is not in"
        ),
        semantics="4.1, 11.1 T2, 11.7",
    )


def complete_elsewhere(pipeline: Pipeline) -> Action:
    """Complete the transaction without a marker in this partition (semantics 4.1, 11.1 T6)."""
    transactions, _ = of(pipeline)
    assert transactions.elsewhere is not None
    commits = transactions.is_(Status.PREPARE_COMMIT)
    effect = Effect()
    effect[transactions.status] = If(commits, int(Status.COMPLETE_COMMIT), int(Status.COMPLETE_ABORT))
    effect[transactions.elsewhere] = False
    return Action(
        "complete_elsewhere",
        "coordinator",
        lane="brokers",
        arguments={},
        guard=And(transactions.is_ending, transactions.elsewhere.is_set),
        updates=effect.updates,
        sentence=lambda before, after: (
            "the markers are written elsewhere, and none in this partition: the transaction is complete"
        ),
        semantics="4.1, 11.1 T6",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of a transaction whose first part the coordinator has ended."""
    if of(pipeline)[0].elsewhere is None:
        return
    for transaction in of(pipeline)[0].each:
        if batches_of(pipeline, transaction):
            yield add_elsewhere(pipeline, transaction)
    yield complete_elsewhere(pipeline)
