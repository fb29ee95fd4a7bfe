"""Records that are sent in transactions, and what the coordinator has to know of them (semantics 11.1, 11.5)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import z3

from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import Not, Or
from proofka.model.log import markers, visibility
from proofka.model.sequencing.check_in_transactions import check_in_transactions
from proofka.model.state.pipeline import Batch, Pipeline, Replica
from proofka.model.state.sending import Sending
from proofka.model.state.sequence_check import SequenceCheck
from proofka.model.transactions import ending, recurrence, sending, verification
from proofka.model.transactions.coordinator import coordinator_is_at_hand, marker_due
from proofka.model.transactions.epochs import of
from proofka.model.transactions.sending import transaction_of


class SendingInTransactions(Sending):
    """The sends of an application whose producer has a ``transactional.id``."""

    def may_send(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        return sending.may_send(pipeline, batch)

    def begin(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        sending.begin(pipeline, effect, batch)

    def resend_due(self, pipeline: Pipeline, previous: Batch) -> z3.BoolRef:
        return sending.sent_again(pipeline, transaction_of(pipeline, previous))

    def is_going_on(self, pipeline: Pipeline) -> z3.BoolRef:
        """Tell whether a transaction is going on."""
        return Or(*(transaction.is_going_on for transaction in of(pipeline)[0].each))

    def start_process(self, pipeline: Pipeline, effect: Effect) -> None:
        ending.crash_with_transactions(pipeline, effect)

    def may_transmit(self, pipeline: Pipeline, batch: Batch) -> Iterator[z3.BoolRef]:
        yield sending.may_transmit(pipeline, batch)

    def add_partition(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        sending.add_partition(pipeline, effect, transaction_of(pipeline, batch))

    def is_added_between(self, pipeline: Pipeline, before: State, after: State) -> bool:
        added = of(pipeline)[0].added.name
        return after[added] > before[added]

    def waits_for_coordinator(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        """Yield the condition that the coordinator can have been on a broker that had a fault."""
        yield Not(coordinator_is_at_hand(pipeline))

    def stop_in_words(self, pipeline: Pipeline, before: State, after: State) -> str:
        """Return the words for a client before 2.5 that stops permanently in a transaction."""
        initialised = of(pipeline)[0].initialised.name
        stops = "; it may be stored, so the producer stops permanently: the application starts a new one"
        return stops if before[initialised] > after[initialised] else ""

    def epoch_left(self, pipeline: Pipeline) -> z3.BoolRef:
        epoch = of(pipeline)[0].epoch
        return epoch.term < epoch.high

    def check_sequence(
        self, pipeline: Pipeline, leader: Replica, batch: Batch, epoch: z3.ArithRef, sequence: z3.ArithRef
    ) -> SequenceCheck:
        return check_in_transactions(pipeline, leader, of(pipeline), epoch, sequence)

    def verifies(self, pipeline: Pipeline, leader: Replica, epoch: z3.ArithRef | int) -> Iterator[z3.BoolRef]:
        yield verification.is_verified(pipeline, leader, epoch)

    def is_itself(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[z3.BoolRef]:
        yield recurrence.is_itself(pipeline, batch, leader)

    def refusals(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[Action]:
        yield verification.reject_unverified(pipeline, batch, leader)
        yield recurrence.take_for_another(pipeline, batch, leader)

    def markers_due(self, pipeline: Pipeline) -> Iterator[tuple[Replica, z3.BoolRef]]:
        for transaction, leader, commits in product(of(pipeline)[0].each, pipeline.replicas, (True, False)):
            yield leader, marker_due(pipeline, leader, transaction, commits=commits)

    def first_open(self, pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
        return visibility.first_open(pipeline, leader)

    def end_of_reading(self, pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
        """Return the last stable offset with read_committed, else the high watermark (semantics 11.2)."""
        if not of(pipeline)[1].read_committed:
            return leader.high_watermark.term
        return visibility.last_stable_offset(pipeline, leader)

    def is_passed_over(self, pipeline: Pipeline, leader: Replica, offset: int) -> Iterator[z3.BoolRef]:
        yield visibility.is_passed_over(pipeline, leader, offset)

    def is_left_open(self, pipeline: Pipeline, leader: Replica) -> Iterator[z3.BoolRef]:
        yield visibility.is_left_open(pipeline, leader)

    def is_marker(self, pipeline: Pipeline, replica: Replica, offset: int) -> Iterator[z3.BoolRef]:
        yield markers.is_marker(pipeline, replica, offset)

    def is_of_one_id(self, pipeline: Pipeline, other: z3.ArithRef, batch: Batch) -> Iterator[z3.BoolRef]:
        """Yield nothing: the producer keeps its id."""
        yield from ()

    def is_value(self, pipeline: Pipeline, replica: Replica, offset: int) -> Iterator[z3.BoolRef]:
        yield Not(markers.is_marker(pipeline, replica, offset))
        yield Not(markers.is_aborted(pipeline, replica, offset))

    def keeps_record(self, pipeline: Pipeline, replica: Replica, record: int) -> z3.BoolRef:
        return visibility.keeps_unaborted(pipeline, replica, record)

    def note_disturbance(self, pipeline: Pipeline, effect: Effect) -> None:
        effect[of(pipeline)[0].disturbed] = True
