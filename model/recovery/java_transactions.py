"""Kafka's own client with transactions: a number in doubt ends with the transaction (semantics 11.1).

A record that was refused gives its number back, and the numbers after it move up. After a failed send the application
can only abort. What was sent is retried all the same until the transaction ends; the client then asks for a new epoch
where it can. Where it or the brokers are before 2.5 it cannot (see java_transactions_before_2_5.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import z3

from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.recovery.accumulator import Accumulator
from proofka.model.recovery.java import is_lost_data
from proofka.model.sequencing.idempotence import close_gap
from proofka.model.sequencing.network import complete, fail_attempt
from proofka.model.sequencing.refusing import refused_as_out_of_order, reject_old_epoch
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.recovery import RecoveryInTransactions
from proofka.model.state.transactions import Outcome, Transaction
from proofka.model.state.wording import record_name
from proofka.model.transactions.coordinator import epoch_wanted
from proofka.model.transactions.epochs import may_ask_anew, of
from proofka.model.transactions.sending import add_before_giving_up, batches_of


@dataclass(frozen=True)
class JavaTransactions(Accumulator, RecoveryInTransactions):
    """The client with transactions, from 2.5 on and with such brokers."""

    def leave_gap(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, out_of_retries: bool
    ) -> None:
        """Doubt the number of a record whose time ran out after a retry; after the last retry take it for used."""
        assert batch.sequence is not None
        if not out_of_retries:
            retried = And(when, batch.retries.term > 0, batch.sequence.term >= 0)
            effect.set_when(retried, pipeline.producer.unresolved, 1)

    def fail_permanently(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, *, fenced: bool
    ) -> tuple[z3.BoolRef, ...]:
        """Fail the record, which gives its number back (semantics 11.1)."""
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
        close_gap(pipeline, effect, batch)
        return (pipeline.producer.next_sequence.term > 0,)

    def give_up(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> tuple[z3.BoolRef, ...]:
        """Give a record up after the partition is in the transaction; with TV2 its leader adds that (11.1 T2, 11.5)."""
        conditions = super().give_up(pipeline, effect, batch)
        if of(pipeline)[1].epoch_each:
            return conditions
        return (*conditions, add_before_giving_up(pipeline, effect, batch))

    def refusals(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[Action]:
        yield self.refuse_in_transaction(pipeline, batch, leader)
        yield reject_old_epoch(pipeline, batch, leader)

    def refuse_in_transaction(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
        """Refuse a record after a gap: the client retries, or the send fails if it was next due (3.4, 11.1)."""
        fails = self.fails_out_of_order(pipeline, batch, leader)
        effect = Effect()
        fail_attempt(pipeline, effect, batch, Not(fails))
        complete(pipeline, effect, batch, Fate.FAILED, fails)
        self.free_refused(pipeline, effect, batch, fails)
        return Action(
            "refuse_in_transaction",
            leader.name,
            lane="brokers",
            arguments={"batch": batch.number, "leader": leader.number},
            guard=refused_as_out_of_order(pipeline, batch, leader),
            updates=effect.updates,
            sentence=lambda before, after: (
                f"{leader.name} refuses {record_name(batch)}: OUT_OF_ORDER_SEQUENCE_NUMBER"
                + ("; the send fails" if after[batch.fate.name] == Fate.FAILED else "")
            ),
            semantics="3.4, 3.5, 11.1",
        )

    def fails_out_of_order(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
        """Tell whether the send of a record that is refused for its number fails."""
        return is_lost_data(pipeline, batch, leader)

    def free_refused(self, pipeline: Pipeline, effect: Effect, batch: Batch, fails: z3.BoolRef) -> None:
        """Leave the number of a record that is refused for its number as it is: a new epoch follows."""

    def bumps_due(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        yield epoch_wanted(pipeline)

    def may_send_in(self, transaction: Transaction, retried: z3.BoolRef) -> z3.BoolRef:
        """Send records of an open transaction, and retry those of an aborted one (semantics 11.1, T2)."""
        return Or(transaction.is_(Outcome.OPEN), retried)

    def fail_unsent(self, pipeline: Pipeline, effect: Effect, transaction: Transaction) -> None:
        """Fail the records that were never sent; those that were sent are retried."""
        for batch in batches_of(pipeline, transaction):
            assert batch.sequence is not None
            undrained = And(batch.is_(Fate.BUFFERED), batch.sequence.term < 0)
            complete(pipeline, effect, batch, Fate.FAILED, undrained)

    def may_abort(self, pipeline: Pipeline) -> tuple[z3.BoolRef, ...]:
        return ()

    def may_ask_to_abort(self, pipeline: Pipeline) -> tuple[z3.BoolRef, ...]:
        return ()

    def end_aborted(
        self, pipeline: Pipeline, effect: Effect, transaction: Transaction, *, anew: bool
    ) -> tuple[z3.BoolRef, ...]:
        """Keep the epoch only if the send failed while commitTransaction() waited for it (semantics 11.1).

        All records had been sent by then. A number whose fate is unknown leads to a new epoch all the same.
        """
        if anew or not may_ask_anew(pipeline):
            return ()
        sent = [Not(batch.is_(Fate.UNSENT)) for batch in batches_of(pipeline, transaction)]
        return (And(*sent, Not(pipeline.producer.unresolved.is_set)),)

    def learn_aborted(self, pipeline: Pipeline, effect: Effect, decided: z3.BoolRef) -> None:
        """Leave it at that: the client asks for a new epoch."""
