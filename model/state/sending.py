"""The questions that the model asks of the way in which records are sent: each for itself, or in transactions.

:class:`Sending` names all of them. Its defaults are what a producer without a ``transactional.id`` adds: nothing.
:mod:`model.producing.sending_alone` and :mod:`model.producing.sending_in_transactions` answer the questions, and a
pipeline has the answers of its producer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

import z3

from proofka.model.language import Action, Effect, State
from proofka.model.state.pipeline import Fate

if TYPE_CHECKING:
    from proofka.model.state.pipeline import Batch, Pipeline, Replica
    from proofka.model.state.sequence_check import SequenceCheck


class Sending(ABC):
    """The way in which the application's records are sent (semantics 3.1, 11.1)."""

    # the application

    @abstractmethod
    def may_send(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        """Tell whether the application calls send() for this record next (semantics 3.1, P1 P13)."""

    def begin(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Begin the transaction of a record that is sent."""
        return

    def note_refused(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Note that the client's full buffer refused a record."""
        return

    def fails_transaction(self, batch: Batch) -> z3.BoolRef:
        """Tell whether the send of the record failed, and the application hears of the failure (semantics 11.1)."""
        return batch.is_(Fate.FAILED)

    def lets_commit(self, batch: Batch) -> z3.BoolRef:
        """Tell whether the client would commit the record's transaction as far as this record goes (11.1, T4)."""
        return batch.is_(Fate.ACKNOWLEDGED)

    @abstractmethod
    def resend_due(self, pipeline: Pipeline, previous: Batch) -> z3.BoolRef:
        """Tell whether the application will send the record of ``previous`` again (semantics 3.1, P12 P13)."""

    @abstractmethod
    def is_going_on(self, pipeline: Pipeline) -> z3.BoolRef:
        """Tell whether the application has begun something that a crash would cut short."""

    @abstractmethod
    def start_process(self, pipeline: Pipeline, effect: Effect) -> None:
        """Start the application's next process, with its producer id and epoch (semantics 3.1 P12, 11.1 T1)."""

    # the client

    def may_transmit(self, pipeline: Pipeline, batch: Batch) -> Iterator[z3.BoolRef]:
        """Yield what else has to be so before the client sends a record to its leader."""
        yield from ()

    def add_partition(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Note at the coordinator that the record's partition is in the transaction, before the record goes."""
        return

    def is_added_between(self, pipeline: Pipeline, before: State, after: State) -> bool:
        """Tell whether the partition is added to the transaction between two states."""
        return False

    def waits_for_coordinator(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        """Yield the condition that a request in flight can have waited for a coordinator."""
        yield from ()

    def stop_in_words(self, pipeline: Pipeline, before: State, after: State) -> str:
        """Return the words for a producer that stops permanently as it gives a record up; empty if it does not."""
        return ""

    def refusal_in_words(self) -> str:
        """Return what a trace adds to a record that the client's full buffer refused."""
        return ""

    def failure_in_words(self) -> str:
        """Return the words for a failed send of which the application does not hear."""
        return "it failed, and the application ignores errors"

    @abstractmethod
    def epoch_left(self, pipeline: Pipeline) -> z3.BoolRef:
        """Tell whether the bound on producer epochs leaves room for another."""

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        """Yield the ends of transactions that only this client has."""
        yield from ()

    # the brokers

    @abstractmethod
    def check_sequence(
        self, pipeline: Pipeline, leader: Replica, batch: Batch, epoch: z3.ArithRef, sequence: z3.ArithRef
    ) -> SequenceCheck:
        """Check a batch's producer epoch and sequence number against what the leader's log says (semantics 3.5)."""

    def verifies(self, pipeline: Pipeline, leader: Replica, epoch: z3.ArithRef | int) -> Iterator[z3.BoolRef]:
        """Yield what the leader verifies before it appends a record of this producer epoch (semantics 11.5)."""
        yield from ()

    def is_itself(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[z3.BoolRef]:
        """Yield the condition that the leader has the record where it has its number, if another can have had that."""
        yield from ()

    def refusals(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[Action]:
        """Yield the leader's answers to records that only transactions have."""
        yield from ()

    def markers_due(self, pipeline: Pipeline) -> Iterator[tuple[Replica, z3.BoolRef]]:
        """Yield each leader with a condition under which it would append a marker if its log had room."""
        yield from ()

    # the logs

    def first_open(self, pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
        """Return the offset of the first record of an open transaction, or the high watermark (semantics 11.2)."""
        return leader.high_watermark.term

    def end_of_reading(self, pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
        """Return the end of what the leader shows to a consumer."""
        return leader.high_watermark.term

    def is_passed_over(self, pipeline: Pipeline, leader: Replica, offset: int) -> Iterator[z3.BoolRef]:
        """Yield the condition that the consumer is not given a readable entry (semantics 11.2)."""
        yield from ()

    def is_left_open(self, pipeline: Pipeline, leader: Replica) -> Iterator[z3.BoolRef]:
        """Yield the condition that some record of the log is in a transaction that the log does not end."""
        yield from ()

    def is_marker(self, pipeline: Pipeline, replica: Replica, offset: int) -> Iterator[z3.BoolRef]:
        """Yield the condition that an entry is a marker and no record."""
        yield from ()

    def is_of_one_id(self, pipeline: Pipeline, other: z3.ArithRef, batch: Batch) -> Iterator[z3.BoolRef]:
        """Yield the condition that the batch of number ``other`` has the producer id of ``batch``, if it may differ."""
        yield pipeline.producer.shares_id(other, batch)

    def is_value(self, pipeline: Pipeline, replica: Replica, offset: int) -> Iterator[z3.BoolRef]:
        """Yield the conditions that an entry is, or was, of a value of its key: markers and aborted records are not."""
        yield from ()

    def keeps_record(self, pipeline: Pipeline, replica: Replica, record: int) -> z3.BoolRef:
        """Tell whether the replica's log has the record and does not abort it."""
        return pipeline.holds_record(replica, record)

    def note_disturbance(self, pipeline: Pipeline, effect: Effect) -> None:
        """Remember that some broker was away, slow or replaced, where the coordinator can have been on that broker."""
        return
