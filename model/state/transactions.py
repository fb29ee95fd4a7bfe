"""The state of transactions: the application's knowledge of each, and the coordinator's decisions (semantics 11).

The producer has one ``transactional.id``. Its coordinator keeps what it decides (docs/semantics.md). Transactions are
numbered in the order in which they begin. The records of a *group* are sent in one transaction, and once more in the
next *attempt* if that was aborted and the application sends them again. The last transaction stands for what the
producer sends later: its records are not followed, only that it is committed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import z3

from proofka.model.deployment.choices import ProducerId
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.coordination import transaction_state_may_be_lost, transactions_split
from proofka.model.faults import OF_BROKERS, Fault
from proofka.model.language import Variable, flag, present, variables_of
from proofka.model.language.terms import Or


class Outcome(IntEnum):
    """The application's knowledge of a transaction.

    ``LOST``: the application crashed before it knew how the transaction ended. ``REFUSED``: its request to end the
    transaction was refused, whatever became of the transaction. ``ABORTING``: it has called abortTransaction().
    """

    UNBEGUN = 0
    OPEN = 1
    ABORTING = 2
    COMMITTED = 3
    ABORTED = 4
    LOST = 5
    REFUSED = 6


class Status(IntEnum):
    """The coordinator's state of the transactional id (semantics 11.1)."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5


class Keeping(IntEnum):
    """The condition of ``__transaction_state``, the coordinator's own log (semantics 11.4).

    ``AT_RISK``: only one broker has what is written from here on. ``LOST``: that is gone, and the producer does not
    agree with the coordinator yet.
    """

    SAFE = 0
    AT_RISK = 1
    LOST = 2


EARLIER = -1
"""The number that stands for a transaction before the first one that is followed."""


@dataclass(frozen=True)
class CoordinatorLog:
    """``__transaction_state``, where it can lose something.

    ``keeping`` says whether its end is at risk, and ``status``, ``epoch`` and ``current`` what it then goes back to (as
    in :class:`Transactions`). ``new_id``: the first producer epoch that belongs to another producer id, because the
    first id was forgotten (0 = none).
    """

    keeping: Variable
    status: Variable
    epoch: Variable
    current: Variable
    new_id: Variable

    def is_(self, keeping: Keeping) -> z3.BoolRef:
        return self.keeping.term == int(keeping)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (self.keeping, self.status, self.epoch, self.current, self.new_id)


@dataclass(frozen=True)
class Transaction:
    """The ``attempt``-th transaction (from 0) with the records of ``group`` (from 0)."""

    number: int
    group: int
    attempt: int
    outcome: Variable

    def is_(self, *outcomes: Outcome) -> z3.BoolRef:
        """Tell whether the outcome is one of these."""
        return Or(*(self.outcome.term == int(outcome) for outcome in outcomes))

    @property
    def is_going_on(self) -> z3.BoolRef:
        """The condition that the application has begun the transaction and does not know how it ends."""
        return self.is_(Outcome.OPEN, Outcome.ABORTING)

    @property
    def name(self) -> str:
        again = f" (attempt {self.attempt + 1})" if self.attempt else ""
        return f"transaction {self.group + 1}{again}"


@dataclass(frozen=True)
class Transactions:
    """All transactions of the producer, and their coordinator.

    ``status`` and ``epoch`` (of the producer) are the coordinator's; ``current`` is the number of the transaction that
    they describe. ``initialised``: initTransactions(), or the client's own bump, is done. ``added``: the client knows
    the partition to be in the transaction. ``late_end``: an abandoned EndTxn that can still be executed (1 commit, 2
    abort), with the epoch it was sent with; None where requests are not delayed. ``disturbed``: some broker was away,
    cut off or slow, or stopped leading, so that the coordinator can be another one since; None where that cannot
    happen. ``elsewhere``: the partition is not in what the coordinator considers the transaction; None with most
    clients. ``own_log``: see :class:`CoordinatorLog`; None where that keeps everything.
    """

    each: tuple[Transaction, ...]
    batches: int
    status: Variable
    epoch: Variable
    current: Variable
    initialised: Variable
    added: Variable
    late_end: Variable | None
    late_end_epoch: Variable | None
    disturbed: Variable | None
    elsewhere: Variable | None
    own_log: CoordinatorLog | None

    def is_(self, *statuses: Status) -> z3.BoolRef:
        """Tell whether the coordinator's state is one of these."""
        return Or(*(self.status.term == int(status) for status in statuses))

    @property
    def is_at_rest(self) -> z3.BoolRef:
        """The condition that the coordinator has nothing to finish."""
        return self.is_(Status.EMPTY, Status.COMPLETE_COMMIT, Status.COMPLETE_ABORT)

    @property
    def is_ending(self) -> z3.BoolRef:
        """The condition that the coordinator has decided how the transaction ends, and writes markers (11.1, T5)."""
        return self.is_(Status.PREPARE_COMMIT, Status.PREPARE_ABORT)

    @property
    def is_committed(self) -> z3.BoolRef:
        """The condition that the coordinator has decided to commit, whether or not all markers are written."""
        return self.is_(Status.PREPARE_COMMIT, Status.COMPLETE_COMMIT)

    @property
    def is_aborted(self) -> z3.BoolRef:
        """The condition that the coordinator has decided to abort, whether or not all markers are written."""
        return self.is_(Status.PREPARE_ABORT, Status.COMPLETE_ABORT)

    def marker(self, transaction: Transaction, *, commits: bool) -> int:
        """Return the number that stands in a log, in place of a batch's number, where the transaction ends."""
        return self.batches + transaction.number + (0 if commits else len(self.each))

    def is_marker(self, entry: z3.ArithRef) -> z3.BoolRef:
        """Tell whether the entry of a log ends a transaction, and is no record."""
        return entry >= self.batches

    def is_abort(self, entry: z3.ArithRef) -> z3.BoolRef:
        """Tell whether the entry of a log aborts a transaction."""
        return entry >= self.batches + len(self.each)

    def name_of(self, number: int) -> str:
        """Return the words for a transaction that the coordinator has."""
        return "an earlier transaction" if number == EARLIER else self.each[number].name

    def of_marker(self, entry: int) -> tuple[Transaction, bool]:
        """Return the transaction that a marker of a concrete log ends, and whether the marker commits it."""
        number = entry - self.batches
        return self.each[number % len(self.each)], number < len(self.each)

    @property
    def variables(self) -> tuple[Variable, ...]:
        outcomes = tuple(transaction.outcome for transaction in self.each)
        own = (self.status, self.epoch, self.current, self.initialised, self.added)
        late = present(self.late_end, self.late_end_epoch, self.disturbed, self.elsewhere)
        return (*outcomes, *own, *late, *variables_of(self.own_log))


def number_of_transactions(deployment: Deployment) -> int:
    """Return the number of transactions that can begin, with one of later records; 0 without transactions."""
    if deployment.producer.transactional is None:
        return 0
    groups = -(-deployment.bounds.records // deployment.producer.transactional.records)
    return groups * deployment.bounds.sends + 1


def declare_transactions(deployment: Deployment) -> Transactions | None:
    """Return the variables of the producer's transactions at the start; None if it has none."""
    bounds, count = deployment.bounds, number_of_transactions(deployment)
    if not count:
        return None
    delayed = Fault.DELAYED_REQUEST in deployment.faults.possible
    epochs = bounds.producer_epochs - 1
    forgets = transaction_state_may_be_lost(deployment)
    goes_on = forgets and deployment.application.producer_id is ProducerId.KNOWN
    status = Variable("coordinator_status", 0, max(Status), Status.COMPLETE_COMMIT if goes_on else Status.EMPTY)
    first = EARLIER if forgets else 0
    current = Variable("coordinator_transaction", first, count - 1, first)
    return Transactions(
        tuple(
            Transaction(
                number,
                number // bounds.sends,
                number % bounds.sends,
                Variable(f"transaction_{number}", 0, max(Outcome), Outcome.UNBEGUN),
            )
            for number in range(count)
        ),
        bounds.records * bounds.sends,
        status,
        Variable("coordinator_epoch", 0, epochs, 0),
        current,
        flag("initialised", True),
        flag("partition_added"),
        Variable("late_end", 0, 2, 0) if delayed else None,
        Variable("late_end_epoch", 0, epochs, 0) if delayed else None,
        flag("disturbed") if forgets or OF_BROKERS & deployment.faults.possible else None,
        flag("elsewhere") if transactions_split(deployment) else None,
        _declare_own_log(epochs, count) if forgets else None,
    )


def _declare_own_log(epochs: int, count: int) -> CoordinatorLog:
    return CoordinatorLog(
        Variable("coordinator_log", 0, max(Keeping), Keeping.SAFE),
        Variable("kept_status", 0, max(Status), Status.EMPTY),
        Variable("kept_epoch", 0, epochs, 0),
        Variable("kept_transaction", EARLIER, count - 1, EARLIER),
        Variable("new_producer_id", 0, epochs, 0),
    )
