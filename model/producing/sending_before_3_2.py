"""Transactions of Java clients before 3.2: a send() that the client itself refuses leaves them good (semantics 11.1).

Its future fails, and so does nothing else (KAFKA-9279). An application that relies on ``commitTransaction()``, which
Kafka's documentation says reports every failed send, commits without the record.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, Not, Or
from proofka.model.producing.sending_in_transactions import SendingInTransactions
from proofka.model.state.pipeline import Batch, Fate, Pipeline
from proofka.model.state.transactions import Outcome, Transaction
from proofka.model.transactions.ending import let_go, may_commit
from proofka.model.transactions.epochs import of
from proofka.model.transactions.sending import batches_of, words


class SendingBefore32(SendingInTransactions):
    """The sends of an application that does not look at each, with a client that forgets those that it refused."""

    def note_refused(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        effect[batch.unnoticed] = True

    def fails_transaction(self, batch: Batch) -> z3.BoolRef:
        return And(batch.is_(Fate.FAILED), Not(_is_unnoticed(batch)))

    def lets_commit(self, batch: Batch) -> z3.BoolRef:
        return Or(batch.is_(Fate.ACKNOWLEDGED), And(batch.is_(Fate.FAILED), _is_unnoticed(batch)))

    def refusal_in_words(self) -> str:
        return ", and the transaction goes on without it"

    def failure_in_words(self) -> str:
        return "its send() failed in the client, and its transaction does not know"

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        for transaction in of(pipeline)[0].each:
            if batches_of(pipeline, transaction):
                yield commit_nothing(pipeline, transaction)


def _is_unnoticed(batch: Batch) -> z3.BoolRef:
    assert batch.unnoticed is not None
    return batch.unnoticed.is_set


def commit_nothing(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Let commitTransaction() return at once: no record was sent, so the coordinator is not asked (semantics 11.1)."""
    transactions, _ = of(pipeline)
    effect = Effect()
    let_go(pipeline, effect, transaction, Outcome.COMMITTED)
    return Action(
        "commit_nothing",
        "producer",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=And(may_commit(pipeline, transaction), Not(transactions.added.is_set)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"commitTransaction() returns: nothing of {words(pipeline, transaction)} was sent, and the coordinator is "
            "not asked"
        ),
        semantics="11.1",
    )
