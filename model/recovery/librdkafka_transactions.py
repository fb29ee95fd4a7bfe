"""librdkafka with transactions: after an error it sends nothing more, and queued records fail (semantics 4.1, 11.1).

A record purged from its queue gives its number back, stored or not; a record that a broker refused keeps its number.
The client asks for a new epoch when the transaction is aborted. librdkafka 1.7 and 1.8.0 ask in the middle of the
transaction, and go on with it: to the coordinator the request ends the transaction. Brokers of 2.5 then give the epoch
to the client, which still treats its transaction as the same one, and its partition as a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import z3

from proofka.model.durations import ADDS_AGAIN, Duration
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or
from proofka.model.recovery.librdkafka import Librdkafka
from proofka.model.sequencing.idempotence import epoch_left
from proofka.model.sequencing.network import abandon, complete
from proofka.model.state.pipeline import Batch, Fate, Pipeline
from proofka.model.state.recovery import RecoveryInTransactions
from proofka.model.state.transactions import Outcome, Status, Transaction
from proofka.model.state.wording import record_name
from proofka.model.transactions.coordinator import epoch_wanted
from proofka.model.transactions.epochs import has_epoch, of, raise_epoch, take_epoch
from proofka.model.transactions.sending import batches_of, transaction_of, words


@dataclass(frozen=True)
class LibrdkafkaTransactions(Librdkafka, RecoveryInTransactions):
    """The client with transactions, from 1.8.2 on.

    ``bump_aborts``: its request for a new epoch is what aborts (before 2.0); otherwise it aborts first.
    """

    bump_aborts: bool = False
    ends_in_time = False
    pause_before_adding = Duration.of(ADDS_AGAIN)

    def leave_gap(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, out_of_retries: bool
    ) -> None:
        """Note no gap: the abort closes it."""

    def fail_permanently(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, *, fenced: bool
    ) -> tuple[z3.BoolRef, ...]:
        """Fail the record: only an abort is left, or nothing if another epoch of the producer has begun."""
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
        if fenced:
            self.stop_for_good(pipeline, effect, BoolVal(True))
        else:
            self.leave_only_abort(pipeline, effect, batch)
        return ()

    def give_up(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> tuple[z3.BoolRef, ...]:
        self.want_epoch(pipeline, effect, batch)
        return ()

    def want_epoch(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Want a new epoch, for which abortTransaction() asks: only an abort is left (semantics 4.1)."""
        effect[pipeline.producer.unresolved] = True
        self.leave_only_abort(pipeline, effect, batch)

    def want_epoch_after_gap(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> str:
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
        self.want_epoch(pipeline, effect, batch)
        return "the send fails, and only an abort is left, with a new epoch"

    def leave_only_abort(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Note an abortable error after a failed send (semantics 4.1)."""
        transaction = transaction_of(pipeline, batch)
        effect.set_when(transaction.is_(Outcome.OPEN), transaction.outcome, int(Outcome.ABORTING))
        purge(pipeline, effect, transaction.is_(Outcome.OPEN), spared=batch)

    def actions_after_stop(
        self, pipeline: Pipeline, batch: Batch, refuse: Callable[[Pipeline, Batch], Action]
    ) -> Iterator[Action]:
        """Refuse nothing: the application makes another producer."""
        yield from ()

    def actions_at_rest(self, pipeline: Pipeline) -> Iterator[Action]:
        """Do nothing at rest: only the end of the transaction brings a new epoch."""
        yield from ()

    def bumps_due(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        yield epoch_wanted(pipeline)

    def may_send_in(self, transaction: Transaction, retried: z3.BoolRef) -> z3.BoolRef:
        """Send records of an open transaction; the client does not retry those of an aborted one (4.1)."""
        return transaction.is_(Outcome.OPEN)

    def fail_unsent(self, pipeline: Pipeline, effect: Effect, transaction: Transaction) -> None:
        """Purge everything that waits, sent before or not."""
        purge(pipeline, effect, BoolVal(True))

    def may_abort(self, pipeline: Pipeline) -> tuple[z3.BoolRef, ...]:
        return (Not(self.has_stopped(pipeline)),)

    def may_ask_to_abort(self, pipeline: Pipeline) -> tuple[z3.BoolRef, ...]:
        return (Not(self.has_stopped(pipeline)),)

    def end_aborted(
        self, pipeline: Pipeline, effect: Effect, transaction: Transaction, *, anew: bool
    ) -> tuple[z3.BoolRef, ...]:
        """Ask for a new epoch if one is wanted, and keep the epoch otherwise (semantics 4.1)."""
        unresolved = pipeline.producer.unresolved.is_set
        if not anew:
            return (Not(unresolved),)
        if not self.bump_aborts:
            return (unresolved,)
        raise_epoch(pipeline, effect)
        return (epoch_left(pipeline), unresolved)

    def learn_aborted(self, pipeline: Pipeline, effect: Effect, decided: z3.BoolRef) -> None:
        """Keep the epoch, unless a new one is wanted or the coordinator had aborted before."""
        initialised = of(pipeline)[0].initialised
        anew = Or(decided, pipeline.producer.unresolved.is_set)
        effect[initialised] = If(anew, 0, initialised.term)

    def actions_in(self, pipeline: Pipeline, transaction: Transaction, ends: z3.BoolRef) -> Iterator[Action]:
        if batches_of(pipeline, transaction):
            yield purge_returned(pipeline, transaction)
            yield replace_producer(pipeline, transaction)


@dataclass(frozen=True)
class LibrdkafkaWithin(LibrdkafkaTransactions):
    """librdkafka 1.7 and 1.8.0: it asks for a new epoch within a transaction, and goes on with the transaction."""

    bump_aborts: bool = True

    def want_epoch(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Want a new epoch at once, and raise no error but that of the send."""
        effect[pipeline.producer.unresolved] = True

    def want_epoch_after_gap(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> str:
        return Librdkafka.want_epoch_after_gap(self, pipeline, effect, batch)

    def was_ended_unnoticed(self, pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
        """Tell whether the coordinator has given the client a new epoch, which ended the transaction."""
        return of(pipeline)[0].is_(Status.EMPTY)

    def wants_epoch(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        yield pipeline.producer.unresolved.is_set

    def actions_in(self, pipeline: Pipeline, transaction: Transaction, ends: z3.BoolRef) -> Iterator[Action]:
        yield from super().actions_in(pipeline, transaction, ends)
        yield refuse_unknown_end(pipeline, transaction, ends)

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        """Yield the requests for a new epoch within a transaction."""
        for transaction in of(pipeline)[0].each:
            if batches_of(pipeline, transaction):
                yield self.ask_within(pipeline, transaction)
                yield self.ask_before(pipeline, transaction)
                yield self.go_on_within(pipeline, transaction)

    def ask_within(self, pipeline: Pipeline, transaction: Transaction) -> Action:
        """Ask for a new epoch, as a number is missing: the coordinator aborts (4.1, 11.1 T1')."""
        transactions, _ = of(pipeline)
        effect = Effect()
        effect[transactions.status] = int(Status.PREPARE_ABORT)
        raise_epoch(pipeline, effect)
        ongoing = And(transactions.is_(Status.ONGOING), transactions.current.term == transaction.number)
        asks = And(self.bump_due(pipeline), transaction.is_going_on, ongoing, has_epoch(pipeline))
        return Action(
            "ask_within",
            "coordinator",
            lane="brokers",
            arguments={"transaction": transaction.number},
            guard=And(asks, epoch_left(pipeline)),
            updates=effect.updates,
            sentence=lambda before, after: (
                f"the producer asks for a new epoch, and the coordinator decides to abort "
                f"{words(pipeline, transaction)}, which the application does not hear of"
            ),
            semantics="4.1, 11.1 T1'",
        )

    def go_on_within(self, pipeline: Pipeline, transaction: Transaction) -> Action:
        """Give the client the new epoch: it numbers from 0, and goes on with its transaction (semantics 4.1)."""
        transactions, _ = of(pipeline)
        producer = pipeline.producer
        effect = Effect()
        effect[transactions.status] = int(Status.EMPTY)
        go_on_in_epoch(pipeline, effect)
        given = And(transactions.is_at_rest, transactions.epoch.term == producer.epoch.term + 1)
        return Action(
            "go_on_within",
            "coordinator",
            lane="brokers",
            arguments={"transaction": transaction.number},
            guard=And(self.bump_due(pipeline), transaction.is_going_on, given),
            updates=effect.updates,
            sentence=lambda before, after: (
                f"the coordinator gives the producer epoch {after[producer.epoch.name]}: it goes on with "
                f"{transaction.name}"
            ),
            semantics="4.1",
        )

    def ask_before(self, pipeline: Pipeline, transaction: Transaction) -> Action:
        """Ask for a new epoch where the coordinator knows of no transaction: it gives one at once (4.1, 11.1 T1)."""
        transactions, _ = of(pipeline)
        effect = Effect()
        raise_epoch(pipeline, effect)
        go_on_in_epoch(pipeline, effect)
        at_rest = And(transactions.is_at_rest, has_epoch(pipeline))
        return Action(
            "ask_before",
            "coordinator",
            lane="brokers",
            arguments={"transaction": transaction.number},
            guard=And(self.bump_due(pipeline), transaction.is_going_on, at_rest, epoch_left(pipeline)),
            updates=effect.updates,
            sentence=lambda before, after: f"the coordinator gives the producer epoch {after[transactions.epoch.name]}",
            semantics="4.1, 11.1 T1",
        )


def go_on_in_epoch(pipeline: Pipeline, effect: Effect) -> None:
    """Take the epoch that the coordinator gives, and number every record anew (semantics 4.1)."""
    producer = pipeline.producer
    take_epoch(pipeline, effect)
    effect[producer.unresolved] = False
    for _, sequence in producer.numbered():
        effect[sequence] = -1


def purge(pipeline: Pipeline, effect: Effect, when: z3.BoolRef, *, spared: Batch | None = None) -> None:
    """Fail the queued records, except for ``spared``, and give their numbers back."""
    next_sequence, count = pipeline.producer.next_sequence, IntVal(0)
    for batch in pipeline.producer.batches:
        if batch is not spared:
            assert batch.sequence is not None
            waits = And(when, batch.is_(Fate.BUFFERED))
            count = count + If(And(waits, batch.sequence.term >= 0), 1, 0)
            complete(pipeline, effect, batch, Fate.FAILED, waits)
    left = next_sequence.term - count
    effect[next_sequence] = If(left < 0, IntVal(0), left)


def purge_returned(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Purge, in abortTransaction(), what came back to be retried after the transaction had failed (semantics 4.1)."""
    waiting = batches_of(pipeline, transaction)
    effect = Effect()
    purge(pipeline, effect, BoolVal(True))
    comes_back = Or(*(batch.is_(Fate.BUFFERED) for batch in waiting))

    def sentence(before: State, after: State) -> str:
        purged = " and ".join(record_name(batch) for batch in waiting if before[batch.fate.name] == Fate.BUFFERED)
        return f"the application aborts {transaction.name}: the producer does not send {purged} again"

    return Action(
        "purge_returned",
        "application",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=And(transaction.is_(Outcome.ABORTING), comes_back, Not(pipeline.recovery.has_stopped(pipeline))),
        updates=effect.updates,
        sentence=sentence,
        semantics="4.1, 11.1",
    )


def replace_producer(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Replace a producer after a fatal error: the application makes another one (semantics 4.1, 11.1)."""
    transactions, _ = of(pipeline)
    producer = pipeline.producer
    assert producer.fatal is not None and producer.draining is not None
    effect = Effect()
    for batch in producer.batches:
        abandon(pipeline, effect, batch, batch.is_(Fate.SENT))
        complete(pipeline, effect, batch, Fate.FAILED, batch.incomplete)
    effect[transaction.outcome] = int(Outcome.REFUSED)
    effect[transactions.initialised] = False
    effect[transactions.added] = False
    effect[producer.unresolved] = False
    effect[producer.draining] = False
    effect[producer.fatal] = False
    return Action(
        "replace_producer",
        "application",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=And(transaction.is_going_on, pipeline.recovery.has_stopped(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the application gives up {words(pipeline, transaction)} with the producer, and starts a new one"
        ),
        semantics="4.1, 11.1",
    )


def refuse_unknown_end(pipeline: Pipeline, transaction: Transaction, asked: z3.BoolRef) -> Action:
    """Refuse to end a transaction unknown to the coordinator: INVALID_TXN_STATE, a new producer is needed (11.1 T4)."""
    transactions, _ = of(pipeline)
    effect = Effect()
    effect[transaction.outcome] = int(Outcome.REFUSED)
    effect[transactions.added] = False
    effect[transactions.initialised] = False
    unknown = And(transactions.is_(Status.EMPTY), transactions.added.is_set, has_epoch(pipeline))
    return Action(
        "refuse_unknown_end",
        "coordinator",
        lane="brokers",
        arguments={"transaction": transaction.number},
        guard=And(asked, unknown),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the coordinator does not know {words(pipeline, transaction)} and refuses to end it: INVALID_TXN_STATE, "
            "and the application starts a new producer"
        ),
        semantics="11.1 T4",
    )
