"""Kafka's own client with transactions where it or the brokers are before 2.5: it asks for no new epoch (11.7).

After an abort it goes on in the same epoch, and its numbers go on. Where it cannot know whether a number is used it
stops permanently; only clients of 0.11 give the number to the next record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import z3

from proofka.model.deployment.choices import ProducerId
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.older_transactions import OlderTransactions
from proofka.model.deployment.sequencing import Unknown
from proofka.model.language import Action, Effect, State, flag
from proofka.model.language.terms import And, BoolVal, If, Not, Or
from proofka.model.recovery.java import is_something_numbered, no_number_is_missing, refused_as_unknown
from proofka.model.recovery.java_transactions import JavaTransactions
from proofka.model.recovery.late_errors import give_ups
from proofka.model.sequencing.idempotence import close_gap, is_renumbered, number_from_zero
from proofka.model.sequencing.network import abandon, attempts_left, complete, end_send, fail_attempt
from proofka.model.state.kept_numbers import KeptByProducer
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.transactions import Outcome
from proofka.model.state.wording import record_name
from proofka.model.transactions.epochs import has_epoch, of


def _older(deployment: Deployment) -> OlderTransactions:
    assert deployment.producer.older_transactions is not None
    return deployment.producer.older_transactions


@dataclass(frozen=True)
class JavaTransactionsStopping(JavaTransactions):
    """The client from 1.0 to 2.4: it stops permanently when it gives up on a retry, which can be stored."""

    def declare(self, deployment: Deployment) -> KeptByProducer:
        """Keep whether a record was acknowledged, where brokers can answer UNKNOWN_PRODUCER_ID (1.0 to 2.4)."""
        if _older(deployment).unknown is not Unknown.UNKNOWN_PRODUCER_ID:
            return KeptByProducer()
        return KeptByProducer(heard=flag("heard", deployment.application.producer_id is ProducerId.KNOWN))

    def hear_success(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Note as well that a number of this producer id was acknowledged."""
        super().hear_success(pipeline, effect, batch)
        effect[pipeline.producer.heard] = True

    def fail_permanently(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, *, fenced: bool
    ) -> tuple[z3.BoolRef, ...]:
        """Fail the record, which gives its number back unless this was the last retry."""
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
        self.free_number(pipeline, effect, batch, is_free(pipeline, batch))
        return ()

    def free_number(self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
        """Give the number of a record back: the numbers of later records move up."""
        close_gap(pipeline, effect, batch, when)

    def free_refused(self, pipeline: Pipeline, effect: Effect, batch: Batch, fails: z3.BoolRef) -> None:
        """Give the number of a record that failed to the next one, unless this was the last retry."""
        self.free_number(pipeline, effect, batch, And(fails, is_free(pipeline, batch)))

    def give_up(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> tuple[z3.BoolRef, ...]:
        stop_producer(pipeline, effect, self.stops_when_given_up(batch), spared=batch)
        return super().give_up(pipeline, effect, batch)

    def stops_when_given_up(self, batch: Batch) -> z3.BoolRef:
        """Tell whether the client stops after it gave up on the record: on a retry, which can be stored (11.7)."""
        assert batch.sequence is not None
        return And(batch.retries.term > 0, batch.sequence.term >= 0)

    def may_ask_to_abort(self, pipeline: Pipeline) -> tuple[z3.BoolRef, ...]:
        return (Not(self.is_in_doubt(pipeline)),)

    def is_in_doubt(self, pipeline: Pipeline) -> z3.BoolRef:
        """Tell whether some number is in doubt, so that the client waits until it knows more."""
        return BoolVal(False)

    def learn_aborted(self, pipeline: Pipeline, effect: Effect, decided: z3.BoolRef) -> None:
        """Keep the epoch, unless the coordinator has another one."""
        initialised = of(pipeline)[0].initialised
        effect[initialised] = If(has_epoch(pipeline), initialised.term, 0)

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        """Yield the errors at the end of a delivery's time, and the refusals of an unknown producer (11.7)."""
        if _older(pipeline.deployment).errors_free_numbers:
            for batch in pipeline.producer.batches:
                yield from give_ups(pipeline, batch, self._frees(pipeline, batch), out_of_retries=True)
        if _older(pipeline.deployment).unknown is Unknown.UNKNOWN_PRODUCER_ID:
            for batch, leader in product(pipeline.producer.batches, pipeline.replicas):
                yield self.refuse_unknown(pipeline, batch, leader)

    def _frees(self, pipeline: Pipeline, batch: Batch) -> Callable[[Effect], None]:
        return lambda effect: self.free_number(pipeline, effect, batch, is_free(pipeline, batch))

    def refuse_unknown(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
        """Refuse a record, as the broker does not know its producer (semantics 3.4, 3.5).

        The client numbers from 0 what it has in flight, or the send fails.
        """
        again = _starts_again(pipeline, batch)
        effect = Effect()
        self.renumber(pipeline, effect, batch)
        fail_attempt(pipeline, effect, batch, again)
        complete(pipeline, effect, batch, Fate.FAILED, Not(again))
        self.free_refused(pipeline, effect, batch, Not(again))

        def sentence(before: State, after: State) -> str:
            words = f"{leader.name} refuses {record_name(batch)}: UNKNOWN_PRODUCER_ID"
            if after[batch.fate.name] == Fate.FAILED:
                return f"{words}; the send fails"
            return f"{words}; the producer numbers what it has in flight from 0"

        return Action(
            "refuse_unknown",
            leader.name,
            lane="brokers",
            arguments={"batch": batch.number, "leader": leader.number},
            guard=refused_as_unknown(pipeline, batch, leader),
            updates=effect.updates,
            sentence=sentence,
            semantics="3.4, 3.5, 11.7",
        )

    def renumber(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Number from 0 what is in flight, as nothing that the client sent was ever acknowledged (3.4)."""
        producer = pipeline.producer
        renumbers = And(_starts_again(pipeline, batch), Not(is_renumbered(pipeline, batch)))
        total = number_from_zero(pipeline, effect, renumbers)
        effect.set_when(renumbers, producer.next_sequence, total)
        effect.set_when(renumbers, producer.last_acknowledged, -1)


@dataclass(frozen=True)
class JavaTransactionsWaiting(JavaTransactionsStopping):
    """The client from 2.5 on with brokers before 2.5: it stops once nothing is in flight and a number is missing."""

    def stops_when_given_up(self, batch: Batch) -> z3.BoolRef:
        return BoolVal(False)

    def is_in_doubt(self, pipeline: Pipeline) -> z3.BoolRef:
        return pipeline.producer.unresolved.is_set

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        yield self.resolve_in_transaction(pipeline)
        yield from super().actions(pipeline)

    def resolve_in_transaction(self, pipeline: Pipeline) -> Action:
        """Resolve the numbers once none is in flight: go on if none is missing, else stop permanently (11.7)."""
        producer = pipeline.producer
        continues = no_number_is_missing(pipeline)
        effect = Effect()
        effect[producer.unresolved] = False
        stop_producer(pipeline, effect, Not(continues))
        transactions, _ = of(pipeline)
        return Action(
            "resolve_in_transaction",
            "producer",
            lane="producer",
            arguments={},
            guard=And(self.is_in_doubt(pipeline), Not(is_something_numbered(pipeline))),
            updates=effect.updates,
            sentence=lambda before, after: (
                "the producer finds that no sequence is missing"
                if before[transactions.initialised.name] == after[transactions.initialised.name]
                else "the producer cannot know whether a sequence that it gave up on is used: it stops permanently (a "
                "fatal error), and the application starts a new producer"
            ),
            semantics="11.7",
        )


@dataclass(frozen=True)
class JavaTransactions011(JavaTransactionsStopping):
    """The client of 0.11: the next record gets a failed one's number, stored or not."""

    def declare(self, deployment: Deployment) -> KeptByProducer:
        """Keep nothing: the client does not know the error of an unknown producer."""
        return KeptByProducer()

    def leave_gap(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, out_of_retries: bool
    ) -> None:
        """Leave the number to the next record."""
        assert batch.sequence is not None
        left = pipeline.producer.next_sequence
        used = And(when, batch.sequence.term >= 0, left.term > 0)
        effect.set_when(used, left, left.term - 1)

    def free_number(self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
        """Free nothing more: the next record has the number already."""

    def stops_when_given_up(self, batch: Batch) -> z3.BoolRef:
        return BoolVal(False)

    def fails_out_of_order(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
        """Fail the send: the client has one request in flight, so that no gap can close."""
        return BoolVal(True)

    def renumber(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Keep the numbers as they are."""


def stop_producer(pipeline: Pipeline, effect: Effect, when: z3.BoolRef, *, spared: Batch | None = None) -> None:
    """Raise a fatal error: all that the producer has fails, and the application makes another producer (11.7)."""
    transactions, _ = of(pipeline)
    for batch in pipeline.producer.batches:
        if batch is not spared:
            abandon(pipeline, effect, batch, And(when, batch.is_(Fate.SENT)))
            end_send(pipeline, effect, batch, Fate.FAILED, And(when, batch.incomplete))
    for transaction in transactions.each:
        effect.set_when(And(when, transaction.is_going_on), transaction.outcome, int(Outcome.REFUSED))
    for known in (transactions.initialised, transactions.added, pipeline.producer.unresolved):
        effect.set_when(when, known, 0)


def _starts_again(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the client can number from 0 what is in flight: nothing it sent was ever acknowledged (3.4)."""
    heard = pipeline.producer.heard
    if heard is None:
        return BoolVal(False)
    return And(attempts_left(pipeline, batch), Or(is_renumbered(pipeline, batch), Not(heard.is_set)))


def is_free(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether a refused record gives its number to the next one: not after the last retry (11.7)."""
    return And(attempts_left(pipeline, batch), pipeline.producer.next_sequence.term > 0)
