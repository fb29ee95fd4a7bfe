"""The steps that explain what is seen of transactions: the coordinator's records, and the ends that calls tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from proofka.checker.conformance.asked_event import AskedEvent, Explanation
from proofka.checker.conformance.errors import UnknownEvent
from proofka.model.language.terms import And, Not
from proofka.model.state.transactions import Outcome, Status, Transaction, Transactions

STATUSES: Mapping[str, Status] = MappingProxyType(
    {
        "Empty": Status.EMPTY,
        "Ongoing": Status.ONGOING,
        "PrepareCommit": Status.PREPARE_COMMIT,
        "PrepareAbort": Status.PREPARE_ABORT,
        "CompleteCommit": Status.COMPLETE_COMMIT,
        "CompleteAbort": Status.COMPLETE_ABORT,
    }
)
"""Kafka's name of a coordinator's state -> the model's state."""


def _transactions(asked: AskedEvent) -> Transactions:
    transactions = asked.pipeline.transactions
    if transactions is None:
        raise UnknownEvent(f"{asked.event} needs a deployment with transactional.id")
    return transactions


def _transaction(asked: AskedEvent) -> Transaction:
    number: int = asked.argument("transaction")
    if number < 0:
        raise IndexError(f"transaction {number}")
    return _transactions(asked).each[number]


def coordinated(asked: AskedEvent) -> Explanation:
    """Explain a record of the coordinator: its step, after which status and producer epoch are these.

    A new producer gets its epoch in the model only before a transaction. So the record for a producer that begins none
    needs no step.
    """
    transactions, status = _transactions(asked), STATUSES[asked.argument("status")]
    steps, has_epoch = asked.steps(lambda _: True), transactions.epoch.term == asked.argument("epoch")
    if status is not Status.EMPTY:
        return Explanation(steps, after=And(transactions.is_(status), has_epoch))
    unneeded = And(Not(transactions.initialised.is_set), transactions.is_at_rest)
    return Explanation(steps, after=And(transactions.is_at_rest, has_epoch), stays=unneeded)


def ended_transaction(asked: AskedEvent) -> Explanation:
    """Explain a call that returned: the application knows this end of the transaction."""
    outcome = Outcome.COMMITTED if asked.argument("commits") else Outcome.ABORTED
    return Explanation(stays=_transaction(asked).is_(outcome))


def delayed_end(asked: AskedEvent) -> Explanation:
    """Explain a request to end a transaction that its client has given up, and that the coordinator can get later."""
    return Explanation(asked.steps())


def replaced_producer(asked: AskedEvent) -> Explanation:
    """Explain a producer that the application has given up after an error, and another one in its place."""
    gone = Not(_transactions(asked).initialised.is_set)
    return Explanation(asked.steps(), stays=gone)


WAYS: Mapping[str, Callable[[AskedEvent], Explanation]] = MappingProxyType(
    {
        "coordinated": coordinated,
        "ended_transaction": ended_transaction,
        "delayed_end": delayed_end,
        "replaced_producer": replaced_producer,
    }
)
"""Kind of event -> the function that explains it."""
