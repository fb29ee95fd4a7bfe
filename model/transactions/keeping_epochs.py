"""A client that asks for no new epoch: one before 2.5, or any with brokers before 2.5 (semantics 11.7).

After an abort it goes on in the same epoch, and its numbers go on. Where it cannot know whether a number is used it
stops permanently; only clients of 0.11 give the number to the next record.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import z3

from model.deployment.older_transactions import InDoubt
from model.deployment.sequencing import Unknown
from model.language import Action, Effect, State
from model.sequencing.arrival import accepts, arrives, checked
from model.sequencing.idempotence import close_gap, is_renumbered, leaves_number_to_next, number_from_zero
from model.sequencing.network import abandon, attempts_left, complete, end_send, fail_attempt
from model.state.pipeline import Batch, Fate, Pipeline, Replica
from model.state.transactions import Outcome
from model.state.wording import record_name
from model.transactions.epochs import of


def _makes(pipeline: Pipeline, in_doubt: InDoubt) -> bool:
    older = pipeline.deployment.older_transactions
    return older is not None and older.in_doubt is in_doubt


def stops_when_given_up(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the client stops after it gave up on a retry, which can be stored: clients 1.0 to 2.4 (11.7)."""
    if not _makes(pipeline, InDoubt.STOPS):
        return z3.BoolVal(False)
    assert batch.sequence is not None
    return z3.And(batch.retries.term > 0, batch.sequence.term >= 0)


def stop_producer(pipeline: Pipeline, effect: Effect, when: z3.BoolRef, *, spared: Batch | None = None) -> None:
    """Raise a fatal error: all that the producer has fails, and the application makes another producer (11.7)."""
    transactions, _ = of(pipeline)
    for batch in pipeline.producer.batches:
        if batch is not spared:
            abandon(pipeline, effect, batch, z3.And(when, batch.is_(Fate.SENT)))
            end_send(pipeline, effect, batch, Fate.FAILED, z3.And(when, batch.incomplete))
    for transaction in transactions.each:
        effect.set_when(z3.And(when, transaction.is_going_on), transaction.outcome, int(Outcome.REFUSED))
    for known in (transactions.initialised, transactions.added, pipeline.producer.unresolved):
        effect.set_when(when, known, 0)


def is_in_doubt(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether some number is in doubt, so that the client waits until it knows more (clients from 2.5 on)."""
    if not _makes(pipeline, InDoubt.STOPS_WHEN_DRAINED):
        return z3.BoolVal(False)
    return pipeline.producer.unresolved.is_set


def _something_is_numbered(pipeline: Pipeline) -> z3.BoolRef:
    numbered = [
        z3.And(batch.incomplete, batch.sequence.term >= 0)
        for batch in pipeline.producer.batches
        if batch.sequence is not None
    ]
    return z3.Or(*numbered)


def resolve_in_transaction(pipeline: Pipeline) -> Action:
    """Resolve the numbers once none is in flight: go on if none is missing, else stop permanently (11.7)."""
    producer = pipeline.producer
    continues = producer.next_sequence.term == producer.last_acknowledged.term + 1
    effect = Effect()
    effect[producer.unresolved] = False
    stop_producer(pipeline, effect, z3.Not(continues))
    transactions, _ = of(pipeline)
    return Action(
        "resolve_in_transaction",
        "producer",
        lane="producer",
        arguments={},
        guard=z3.And(is_in_doubt(pipeline), z3.Not(_something_is_numbered(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            "the producer finds that no sequence is missing"
            if before[transactions.initialised.name] == after[transactions.initialised.name]
            else "the producer cannot know whether a sequence that it gave up on is used: it stops permanently (a "
            "fatal error), and the application starts a new producer"
        ),
        semantics="11.7",
    )


def _starts_again(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the client can number from 0 what is in flight: nothing it sent was ever acknowledged (3.4)."""
    heard = pipeline.producer.heard
    if heard is None:
        return z3.BoolVal(False)
    return z3.And(attempts_left(pipeline, batch), z3.Or(is_renumbered(pipeline, batch), z3.Not(heard.is_set)))


def refuse_unknown(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a record, as the broker does not know its producer (semantics 3.4, 3.5).

    The client numbers from 0 what it has in flight, or the send fails.
    """
    check, producer = checked(pipeline, batch, leader), pipeline.producer
    assert check is not None and check.unknown is not None
    again = _starts_again(pipeline, batch)
    effect = Effect()
    if not leaves_number_to_next(pipeline):
        renumbers = z3.And(again, z3.Not(is_renumbered(pipeline, batch)))
        total = number_from_zero(pipeline, effect, renumbers)
        effect.set_when(renumbers, producer.next_sequence, total)
        effect.set_when(renumbers, producer.last_acknowledged, -1)
    fail_attempt(pipeline, effect, batch, again)
    complete(pipeline, effect, batch, Fate.FAILED, z3.Not(again))
    close_gap(pipeline, effect, batch, z3.And(z3.Not(again), is_free(pipeline, batch)))

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
        guard=z3.And(arrives(pipeline, batch, leader), accepts(pipeline, leader), check.unknown),
        updates=effect.updates,
        sentence=sentence,
        semantics="3.4, 3.5, 11.7",
    )


def is_free(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether a refused record gives its number to the next one: not after the last retry (11.7)."""
    return z3.And(attempts_left(pipeline, batch), pipeline.producer.next_sequence.term > 0)


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of a client and brokers on numbers in doubt, where the epoch stays unchanged."""
    older = pipeline.deployment.older_transactions
    if older is None:
        return
    if older.in_doubt is InDoubt.STOPS_WHEN_DRAINED:
        yield resolve_in_transaction(pipeline)
    if older.unknown is Unknown.UNKNOWN_PRODUCER_ID:
        for batch, leader in product(pipeline.producer.batches, pipeline.replicas):
            yield refuse_unknown(pipeline, batch, leader)
