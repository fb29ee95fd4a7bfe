"""The questions that the model asks of a producer's recovery: what its client does about sequence numbers.

:class:`Recovery` names all of them. Each client that recovers in its own way answers them in one module of
:mod:`model.recovery`. A pipeline has the answers of its client, which :mod:`model.recovery.choosing` chooses.
A default stands here only where most clients do nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import z3

from proofka.model.deployment.deployment import Deployment
from proofka.model.durations import Duration
from proofka.model.language import Action, Effect, State, Variable
from proofka.model.language.terms import And, BoolVal, Or
from proofka.model.state.kept_numbers import KeptByProducer, KeptOfBatch
from proofka.model.state.transactions import Status, Transaction

if TYPE_CHECKING:
    from proofka.model.state.pipeline import Batch, Pipeline, Replica


class Recovery(ABC):
    """The recovery of one producer's client from what happens to its requests (semantics 3.4, 4)."""

    # what depends on it elsewhere

    @property
    def numbers_come_again(self) -> bool:
        """Tell whether a broker can be asked for a number after the record that had it is over (semantics 3.5)."""
        return False

    @property
    def epochs_are_ids(self) -> bool:
        """Tell whether what the model counts as producer epochs are producer ids, without an order (semantics 3.4)."""
        return False

    # what a pass assumes of it

    @property
    def retries_run_out(self) -> bool:
        """Tell whether a limit of its retries ends the send of a record."""
        return True

    @property
    def suffers_elsewhere(self) -> bool:
        """Tell whether a failure in another partition can make the client store a record twice, or lose one (4)."""
        return False

    @property
    def retries_at_any_time(self) -> bool:
        """Tell whether a client without a delivery limit sends stored records again after any outage of brokers."""
        return False

    @property
    def late_errors_renumber(self) -> bool:
        """Tell whether an error at the end of a delivery's time renumbers records that can be stored (3.4)."""
        return False

    # its state

    @property
    def failures_past_retries(self) -> int:
        """Largest number of failures after the last retry that the state of a record can count."""
        return 0

    def numbers_skipped(self, deployment: Deployment) -> int:
        """Return how many numbers an epoch can leave out at its beginning."""
        return 0

    def declare_of_batch(self, deployment: Deployment, name: str) -> KeptOfBatch:
        """Return the variables that the client keeps of the batch of this name."""
        return KeptOfBatch()

    def declare(self, deployment: Deployment) -> KeptByProducer:
        """Return the variables that the client keeps besides its epoch and numbers."""
        return KeptByProducer()

    # the order of sending

    @abstractmethod
    def is_next(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        """Tell whether the client hands this record out next (semantics 3.1, P2 P4)."""

    def may_go_to(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[z3.BoolRef]:
        """Yield the further conditions under which a record goes to this leader."""
        yield from ()

    def has_stopped(self, pipeline: Pipeline) -> z3.BoolRef:
        """Tell whether a fatal error was raised: the client sends nothing any more (semantics 4.1)."""
        return BoolVal(False)

    def look_for_leader(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, due: z3.BoolRef, leaderless: z3.BoolRef
    ) -> tuple[z3.BoolRef, list[z3.BoolRef]]:
        """Return when the client looks for a leader for the record, and what else has to be so, where none is known.

        ``due``: the record is sent next.
        """
        return due, []

    def is_retry(self, batch: Batch, before: State) -> bool:
        """Tell whether the record was transmitted before, for the words of a trace."""
        return before[batch.retries.name] > 0

    def failed_itself(self, batch: Batch) -> Iterator[z3.BoolRef]:
        """Yield the condition that attempts of the record itself failed, if those of others count for it."""
        yield from ()

    def asks_for_id(self, pipeline: Pipeline, restarted: z3.BoolRef) -> z3.BoolRef:
        """Tell whether the client can have asked for a producer id again; ``restarted``: its application was."""
        return restarted

    # the numbers of a record and of its request

    def can_be_numbered(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        """Tell whether the record has its number or one is left; always true, as each record takes one."""
        assert batch.sequence is not None
        next_sequence = pipeline.producer.next_sequence
        return Or(batch.sequence.term >= 0, next_sequence.term < next_sequence.high)

    def numbers_sent(self, batch: Batch) -> tuple[z3.ArithRef | int, z3.ArithRef | int]:
        """Return the producer epoch and the sequence number in the record's request (semantics 3.4)."""
        assert batch.sent_epoch is not None and batch.sent_sequence is not None
        return batch.sent_epoch.term, batch.sent_sequence.term

    def numbers_delayed(self, batch: Batch) -> tuple[z3.ArithRef | int, z3.ArithRef | int]:
        """Return the producer epoch and the sequence number in the record's abandoned request."""
        assert batch.delayed_epoch is not None and batch.delayed_sequence is not None
        return batch.delayed_epoch.term, batch.delayed_sequence.term

    def keep_delayed(self, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
        """Keep the numbers of a request that is abandoned and stays on its way."""
        epoch, sequence = self.numbers_sent(batch)
        effect.set_when(when, batch.delayed_epoch, epoch)
        effect.set_when(when, batch.delayed_sequence, sequence)

    def accepts_delayed(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
        """Tell whether the leader accepts the numbers of an abandoned request (semantics 3.5, 11.5)."""
        epoch, sequence = self.numbers_delayed(batch)
        accepted = pipeline.sending.check_sequence(pipeline, leader, batch, epoch, sequence).in_sequence
        for verified in pipeline.sending.verifies(pipeline, leader, epoch):
            accepted = And(accepted, verified)
        return accepted

    @abstractmethod
    def assign_number(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Give a record its number where it has none yet, and note the numbers of its request (3.1, P2)."""

    def start_transmitting(self, pipeline: Pipeline, effect: Effect, batch: Batch, epoch: z3.ArithRef) -> None:
        """Note that the record goes to the leader of this ``epoch``."""
        return

    def keep_request(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Keep the request's numbers, where the broker's answer depends on them and the client can change its own."""
        return

    def forget_request(self, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
        """Reset the numbers of a request that is over."""
        return

    @abstractmethod
    def forget_numbers(self, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
        """Reset the numbers of a record that is over."""

    def is_copy(self, pipeline: Pipeline, batch: Batch, slot: Mapping[str, Variable], itself: z3.BoolRef) -> z3.BoolRef:
        """Tell whether a leader takes the entry of ``slot`` for the record; ``itself``: the entry is the record."""
        return itself

    def is_of_one_id(self, same: z3.BoolRef, epoch: z3.ArithRef, other: z3.ArithRef | int) -> z3.BoolRef:
        """Tell whether entries of these epochs have one producer id; ``same``: one start of the producer sent both."""
        return same

    # answers and failures

    @abstractmethod
    def acknowledge(self, pipeline: Pipeline, effect: Effect, batch: Batch, leader: Replica) -> None:
        """Note what an acknowledgement says of the record's number."""

    def takes_answer(self, pipeline: Pipeline, batch: Batch) -> Iterator[z3.BoolRef]:
        """Yield what has to be so before the client takes the answer to this record."""
        yield from ()

    def fail_of_earlier_id(self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> z3.BoolRef:
        """Fail the send of a record that has the number of an earlier producer id; return when an attempt is left."""
        return when

    @abstractmethod
    def spend_attempt(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, counts: bool
    ) -> tuple[z3.BoolRef, z3.ArithRef]:
        """Count a failed attempt, unless it does not count; return when the record is retried, and its attempts."""

    def expect_retry(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, answered: bool
    ) -> None:
        """Prepare the retry of a record whose attempt failed: by an answer with an error, or without an answer."""
        return

    def has_attempt_left(self, pipeline: Pipeline, batch: Batch, state: State) -> bool:
        """Tell whether a record that waits after a failed attempt has another one left, for the words of a trace."""
        return True

    @abstractmethod
    def leave_gap(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, out_of_retries: bool
    ) -> None:
        """Note the gap among the numbers that a failed record can leave, after its last retry or before (3.4, 4)."""

    @abstractmethod
    def fail_permanently(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, *, fenced: bool
    ) -> tuple[z3.BoolRef, ...]:
        """Fail a record for an error that is not retried; return what has to be so (semantics 3.1 P6, 3.4).

        ``fenced``: the error says that another epoch of the producer has begun.
        """

    def give_up(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> tuple[z3.BoolRef, ...]:
        """Note that the time of a delivery is over, stored or not; return what has to be so (3.1, P7 P8)."""
        return ()

    # the client's own actions

    def forget_late_answers(self, pipeline: Pipeline, effect: Effect) -> None:
        """Reset what a former producer waited for, when another process starts: the new producer hears no answer."""
        return

    def refusals(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[Action]:
        """Yield the refusals of a record for its number or epoch (semantics 3.5)."""
        yield from ()

    def actions_after_stop(
        self, pipeline: Pipeline, batch: Batch, refuse: Callable[[Pipeline, Batch], Action]
    ) -> Iterator[Action]:
        """Yield what becomes of a send() after a fatal error; ``refuse`` fails it."""
        yield from ()

    def actions_of_waiting(
        self, pipeline: Pipeline, batch: Batch, give_up: Callable[[Pipeline, Batch], Action]
    ) -> Iterator[Action]:
        """Yield what can become of a record that waits, besides that it is sent; ``give_up`` ends its delivery."""
        yield give_up(pipeline, batch)

    def actions_at_rest(self, pipeline: Pipeline) -> Iterator[Action]:
        """Yield what the client does about its numbers when nothing is in flight."""
        yield from ()

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        """Yield the other actions: late answers, unknown producers, and failures at another partition (3.4, 4)."""
        yield from ()

    def bumps_due(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        """Yield the conditions under which the client would bump its epoch, or take another producer id."""
        yield from ()


class RecoveryInTransactions(Recovery):
    """The recovery of a client whose records are all sent in transactions (semantics 4.1, 11.1)."""

    @property
    def ends_in_time(self) -> bool:
        """Tell whether the client gives up a request to end a transaction when request.timeout.ms is over."""
        return True

    @property
    def pause_before_adding(self) -> Duration:
        """The pause before the client adds a partition to its transaction again, besides the pause before a retry."""
        return Duration(())

    @abstractmethod
    def may_send_in(self, transaction: Transaction, retried: z3.BoolRef) -> z3.BoolRef:
        """Tell whether the client sends a record of this transaction; ``retried``: of an aborted one, again."""

    @abstractmethod
    def fail_unsent(self, pipeline: Pipeline, effect: Effect, transaction: Transaction) -> None:
        """Fail what an aborted transaction does not send any more."""

    @abstractmethod
    def may_abort(self, pipeline: Pipeline) -> tuple[z3.BoolRef, ...]:
        """Return what has to be so before the application can call abortTransaction()."""

    @abstractmethod
    def may_ask_to_abort(self, pipeline: Pipeline) -> tuple[z3.BoolRef, ...]:
        """Return what has to be so before the client asks the coordinator to abort."""

    @abstractmethod
    def end_aborted(
        self, pipeline: Pipeline, effect: Effect, transaction: Transaction, *, anew: bool
    ) -> tuple[z3.BoolRef, ...]:
        """Return what has to be so for an abort after which the client asks for a new epoch, or not (``anew``)."""

    @abstractmethod
    def learn_aborted(self, pipeline: Pipeline, effect: Effect, decided: z3.BoolRef) -> None:
        """Let the client keep its epoch, where it can; ``decided``: the coordinator had aborted before."""

    def was_ended_unnoticed(self, pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
        """Tell whether the coordinator has ended the transaction unknown to the client: as it timed out."""
        transactions = pipeline.transactions
        assert transactions is not None
        return And(transactions.is_(Status.COMPLETE_ABORT), transactions.current.term == transaction.number)

    @abstractmethod
    def hear_success(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Learn from an acknowledgement which numbers the broker has."""

    def wants_epoch(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        """Yield the conditions under which the client asks for a new epoch within a transaction."""
        yield from ()

    def actions_in(self, pipeline: Pipeline, transaction: Transaction, ends: z3.BoolRef) -> Iterator[Action]:
        """Yield the client's own actions in a transaction; ``ends``: it asks the coordinator to end it."""
        yield from ()
