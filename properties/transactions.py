"""Transactions: all or nothing, no aborted records, and no reader that waits forever (semantics 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import z3

from proofka.model.language import State
from proofka.model.language.terms import And, Not, Or
from proofka.model.log.holes import kept_as
from proofka.model.log.visibility import is_left_open
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.transactions import Outcome, Status, Transaction
from proofka.model.transactions.coordinator import refuses_markers
from proofka.model.transactions.ending import all_acknowledged
from proofka.model.transactions.sending import batches_of
from proofka.properties.property import Property
from proofka.properties.situations import can_be_given, on_serving_leader, serving_leader, value


def _unless_replaced(pipeline: Pipeline, leader: Replica, batch: Batch) -> tuple[z3.BoolRef, ...]:
    """Build the condition that the cleaner did not remove the batch for a committed one (semantics 10, D3)."""
    if pipeline.compacted is None:
        return ()
    replaced = kept_as(pipeline, leader, [batch.number], removed=True)
    return (Not(replaced),)


def torn(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Build the condition that the consumer can be given only a part of the sent records of the transaction."""
    batches = batches_of(pipeline, transaction)

    def in_part(leader: Replica) -> z3.BoolRef:
        read = [can_be_given(pipeline, leader, batch) for batch in batches]
        missing = [
            And(Not(batch.is_(Fate.UNSENT)), Not(is_read), *_unless_replaced(pipeline, leader, batch))
            for batch, is_read in zip(batches, read, strict=True)
        ]
        return And(Or(*read), Or(*missing))

    return on_serving_leader(pipeline, in_part)


def read_though_aborted(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Build the condition that the application knows the abort, and the consumer can be given a record of it."""
    batches = batches_of(pipeline, transaction)
    read = on_serving_leader(pipeline, lambda leader: Or(*(can_be_given(pipeline, leader, batch) for batch in batches)))
    return And(transaction.is_(Outcome.ABORTED), read)


def is_decided_as_sent(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Build the condition that the coordinator has decided to commit all that the application has sent.

    The application does not know the decision yet: the answer to its request is on the way, or lost.
    """
    transactions = pipeline.transactions
    assert transactions is not None
    decided = And(transactions.is_committed, transactions.current.term == transaction.number)
    return And(decided, transaction.is_(Outcome.OPEN), all_acknowledged(pipeline, transaction))


def read_before_commit(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Build the condition that the consumer can be given a record of a transaction that is begun and not committed."""
    batches = batches_of(pipeline, transaction)
    read = on_serving_leader(pipeline, lambda leader: Or(*(can_be_given(pipeline, leader, batch) for batch in batches)))
    return And(transaction.is_going_on, Not(is_decided_as_sent(pipeline, transaction)), read)


def _written_while_open(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Build the condition that the application has not ended the transaction, and its leader has a record of it."""

    def stands(leader: Replica) -> z3.BoolRef:
        numbers = [batch.number for batch in batches_of(pipeline, transaction)]
        return leader.log.some(lambda _, slot: Or(*(slot["batch"].term == number for number in numbers)))

    return And(transaction.is_going_on, on_serving_leader(pipeline, stands))


def hanging(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that the coordinator has nothing to finish, and the log has an open transaction."""
    transactions = pipeline.transactions
    assert transactions is not None

    def blocks(leader: Replica) -> z3.BoolRef:
        return And(is_left_open(pipeline, leader), leader.high_watermark.term == leader.log.end.term)

    hangs = And(transactions.is_at_rest, on_serving_leader(pipeline, blocks))
    if transactions.own_log is None:
        return hangs

    def refused(leader: Replica) -> z3.BoolRef:
        return And(blocks(leader), refuses_markers(pipeline, leader))

    return Or(hangs, And(transactions.is_ending, on_serving_leader(pipeline, refused)))


def properties(pipeline: Pipeline) -> Iterator[Property]:
    """Yield the properties of a pipeline whose producer uses transactions."""
    transactions = pipeline.transactions
    if transactions is None:
        return
    each = transactions.each
    ended = Or(*(transaction.is_(Outcome.COMMITTED, Outcome.ABORTED) for transaction in each))
    aborted = Or(*(transaction.is_(Outcome.ABORTED) for transaction in each))
    aborted_in_log = And(
        aborted,
        on_serving_leader(
            pipeline, lambda leader: leader.log.some(lambda _, slot: transactions.is_abort(slot["batch"].term))
        ),
    )

    def first_that_is(condition: Callable[[Pipeline, Transaction], z3.BoolRef], state: State) -> Transaction:
        return next((one for one in each if value(condition(pipeline, one), pipeline, state)), each[0])

    def records(transaction: Transaction, state: State, *, read: bool) -> str:
        """Return the records of a transaction that the consumer can be given (``read``), or cannot."""
        leader = serving_leader(pipeline, state)
        chosen = [
            batch.record + 1
            for batch in batches_of(pipeline, transaction)
            if (leader is not None and value(can_be_given(pipeline, leader, batch), pipeline, state)) is read
        ]
        return " and ".join(map(str, chosen))

    rules = pipeline.deployment.producer.transactional
    why_given = ""
    if rules is not None and rules.hands_over_aborted:
        why_given = " (this client skips no aborted record of a compressed batch: librdkafka-3020)"

    def explain_torn(state: State) -> str:
        transaction = first_that_is(torn, state)
        given, rest = records(transaction, state, read=True), records(transaction, state, read=False)
        return f"of {transaction.name} the consumer can be given record {given}, and not record {rest}{why_given}"

    yield Property(
        "atomicity",
        "transactions",
        "The consumer is given every record of a transaction, or none.",
        "atomic transactions",
        Or(*(torn(pipeline, transaction) for transaction in each)),
        ended,
        "a transaction was committed or aborted",
        explain_torn,
    )

    def explain_aborted(state: State) -> str:
        transaction = first_that_is(read_though_aborted, state)
        given = records(transaction, state, read=True)
        return f"{transaction.name} was aborted, and the consumer can be given record {given} of it{why_given}"

    yield Property(
        "no-aborted-read",
        "transactions",
        "The consumer is given no record of a transaction that the application knows to be aborted.",
        "aborted transactions leave nothing behind",
        Or(*(read_though_aborted(pipeline, transaction) for transaction in each)),
        aborted_in_log,
        "a transaction that had written to the log was aborted",
        explain_aborted,
    )

    def explain_open(state: State) -> str:
        transaction = first_that_is(read_before_commit, state)
        given = records(transaction, state, read=True)
        return (
            f"the application has not committed {transaction.name}, and the consumer can be given record {given} of it"
        )

    yield Property(
        "no-uncommitted-read",
        "transactions",
        "The consumer is given no record of a transaction before the transaction is committed.",
        "consumers see no transaction before its commit",
        Or(*(read_before_commit(pipeline, transaction) for transaction in each)),
        Or(*(_written_while_open(pipeline, transaction) for transaction in each)),
        "a record of a transaction that is not over is in the log",
        explain_open,
    )

    def explain_hanging(state: State) -> str:
        leader = serving_leader(pipeline, state)
        where = "the log" if leader is None else f"the log of {leader.name}"
        if state[transactions.status.name] in (Status.PREPARE_COMMIT, Status.PREPARE_ABORT):
            return (
                f"{where} has a record in an open transaction, and refuses the marker that would end it because the "
                "marker's epoch is too old: readers with read_committed wait"
            )
        return (
            f"{where} has a record in an open transaction, which the coordinator does not know and will not end: "
            "readers with read_committed wait"
        )

    yield Property(
        "no-hanging-transaction",
        "transactions",
        "No transaction stays open in the log when its coordinator has nothing to finish.",
        "consumers with read_committed never wait forever",
        hanging(pipeline),
        ended,
        "a transaction was committed or aborted",
        explain_hanging,
    )
