"""Kafka's own client from 2.5 on, without transactions: it bumps its producer epoch (semantics 3.4).

A failure that leaves a number in doubt, or that means lost data to the client, takes the producer to a new epoch, in
which what is in flight is numbered from 0. Nothing waits for that, and a record that is stored and waits to be sent
again gets a number that no broker knows. See java_elsewhere.py for failures in another partition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import z3

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.sequencing import Unknown
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.recovery.late_errors import (
    HearsLateErrors,
    heard_late,
    late_answers,
    late_bumps_due,
    late_errors_due,
)
from proofka.model.sequencing.arrival import accepts, answered_in_order, arrives, checked
from proofka.model.sequencing.idempotence import bump_epoch, epoch_left, is_renumbered
from proofka.model.sequencing.network import attempts_left, complete, fail_attempt
from proofka.model.sequencing.refusing import refused_as_out_of_order, reject_old_epoch
from proofka.model.state.kept_numbers import KeptOfBatch
from proofka.model.state.pipeline import UNLIMITED_ATTEMPTS, Batch, Fate, Pipeline, Replica, counts_retries
from proofka.model.state.wording import record_name


@dataclass(frozen=True)
class Java(HearsLateErrors):
    """The client from 2.7.1 on."""

    late_errors_renumber = True

    def declare_of_batch(self, deployment: Deployment, name: str) -> KeptOfBatch:
        """Keep what is answered late: an error renumbers what else is in flight or waits to be sent again (3.4)."""
        return KeptOfBatch(late=self.declare_late(deployment, name, alone_counts=False))

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
        """Fail the record, and bump the epoch, whatever else is in flight (semantics 3.4)."""
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
        bumps = self.bumps_after_failure(pipeline, batch)
        bump_epoch(pipeline, effect, bumps, failed=batch)
        return (Or(Not(bumps), epoch_left(pipeline)),)

    def bumps_after_failure(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        """Tell whether the client bumps its epoch after a permanent failure: not after the last retry (3.4)."""
        return _bumps_after_failure(pipeline, batch)

    def hear_error(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> tuple[z3.BoolRef, ...]:
        bump_epoch(pipeline, effect, BoolVal(True), failed=batch)
        return (epoch_left(pipeline),)

    def hear_refusal(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        bump_epoch(pipeline, effect, BoolVal(True), failed=batch)

    def refusals(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[Action]:
        yield reject_out_of_order(pipeline, batch, leader)
        yield reject_old_epoch(pipeline, batch, leader)

    def actions_at_rest(self, pipeline: Pipeline) -> Iterator[Action]:
        yield resolve_sequences(pipeline)

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        if some_do_not_know(pipeline.deployment):
            for batch, leader in product(pipeline.producer.batches, pipeline.replicas):
                yield reject_unknown(pipeline, batch, leader)
        for batch in heard_late(pipeline):
            yield from late_answers(pipeline, self, batch)

    def bumps_due(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        yield from late_bumps_due(pipeline, self)
        yield from late_errors_due(pipeline)
        yield resolution_due(pipeline)
        yield from self.follows_due(pipeline)
        for batch, leader in product(pipeline.producer.batches, pipeline.replicas):
            yield bump_due(pipeline, batch, leader)
            if some_do_not_know(pipeline.deployment):
                yield bump_for_unknown_due(pipeline, batch, leader)
            if Fault.REFUSED_RECORD in pipeline.deployment.faults.possible:
                answered = answered_in_order(pipeline, batch, leader)
                yield And(arrives(pipeline, batch, leader), answered, _bumps_after_failure(pipeline, batch))

    def follows_due(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        """Yield the condition that this partition would follow the producer's epoch, where another one can fail."""
        yield from ()


def _bumps_after_failure(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the client bumps its epoch after a permanent failure: not after the last retry (semantics 3.4)."""
    retries = pipeline.deployment.producer.retries
    return BoolVal(True) if retries > UNLIMITED_ATTEMPTS else batch.retries.term < retries


def bump_due(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the client bumps its epoch: it treats the refusal as lost data, or a sequence is unresolved (3.4).

    After the last retry the client fails the send and bumps its epoch, whichever sequence is due next.
    """
    lost = is_lost_data(pipeline, batch, leader)
    if not counts_retries(pipeline.deployment):
        return lost
    refused = refused_as_out_of_order(pipeline, batch, leader)
    return Or(lost, And(refused, Not(attempts_left(pipeline, batch))))


def is_lost_data(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the refusal means lost data to the client: the record was next, or what came before is in doubt."""
    check = checked(pipeline, batch, leader)
    assert check is not None and batch.sequence is not None
    producer = pipeline.producer
    next_due = batch.sequence.term == producer.last_acknowledged.term + 1
    next_due = And(next_due, Not(is_renumbered(pipeline, batch)))
    cause = And(check.out_of_order, Or(producer.unresolved.is_set, next_due))
    return And(refused_as_out_of_order(pipeline, batch, leader), cause)


def reject_out_of_order(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a batch after a gap: the client retries, or bumps its epoch if the batch was the next one due (3.4).

    After the last retry the send fails, and the client bumps its epoch as well.
    """
    producer = pipeline.producer
    bumps, again = bump_due(pipeline, batch, leader), attempts_left(pipeline, batch)
    effect = Effect()
    if counts_retries(pipeline.deployment):
        bump_epoch(pipeline, effect, And(bumps, again))
        bump_epoch(pipeline, effect, Not(again), failed=batch)
    else:
        bump_epoch(pipeline, effect, bumps)
    fail_attempt(pipeline, effect, batch, BoolVal(True))
    return Action(
        "reject_out_of_order",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(refused_as_out_of_order(pipeline, batch, leader), Or(Not(bumps), epoch_left(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} refuses {record_name(batch)}: OUT_OF_ORDER_SEQUENCE_NUMBER"
            + ("; no retry is left, and the send fails" if after[batch.fate.name] == Fate.FAILED else "")
            + ("; the producer bumps its epoch" if after[producer.epoch.name] > before[producer.epoch.name] else "")
        ),
        semantics="3.4, 3.5",
    )


def some_do_not_know(deployment: Deployment) -> bool:
    """Tell whether brokers answer UNKNOWN_PRODUCER_ID to a producer that they do not know (1.0 to 2.4)."""
    sequencing = deployment.producer.sequencing
    return sequencing is not None and sequencing.unknown is Unknown.UNKNOWN_PRODUCER_ID


def refused_as_unknown(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the leader refuses the record, as it does not know the producer (semantics 3.5)."""
    check = checked(pipeline, batch, leader)
    assert check is not None and check.unknown is not None
    return And(arrives(pipeline, batch, leader), accepts(pipeline, leader), check.unknown)


def bump_for_unknown_due(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the client bumps its epoch as a broker before 2.5 does not know the producer (3.4)."""
    return And(refused_as_unknown(pipeline, batch, leader), Not(is_renumbered(pipeline, batch)))


def reject_unknown(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a batch of an unknown producer id: a client from 2.5 on bumps its epoch and retries (3.4, 3.5)."""
    bumps, producer = bump_for_unknown_due(pipeline, batch, leader), pipeline.producer
    effect = Effect()
    bump_epoch(pipeline, effect, bumps)
    fail_attempt(pipeline, effect, batch, BoolVal(True))
    return Action(
        "reject_unknown",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(refused_as_unknown(pipeline, batch, leader), Or(Not(bumps), epoch_left(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} refuses {record_name(batch)}: UNKNOWN_PRODUCER_ID"
            + ("; the producer bumps its epoch" if after[producer.epoch.name] > before[producer.epoch.name] else "")
        ),
        semantics="3.4, 3.5",
    )


def resolution_due(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether a sequence was given up on, nothing numbered is in flight any more, and one is missing (3.4)."""
    return And(_drained(pipeline), Not(no_number_is_missing(pipeline)))


def _drained(pipeline: Pipeline) -> z3.BoolRef:
    return And(pipeline.producer.unresolved.is_set, Not(is_something_numbered(pipeline)))


def no_number_is_missing(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the last number that was given out was acknowledged."""
    producer = pipeline.producer
    return producer.next_sequence.term == producer.last_acknowledged.term + 1


def resolve_sequences(pipeline: Pipeline) -> Action:
    """Resolve the sequence once nothing numbered is in flight: go on if the last was acknowledged, else bump (3.4)."""
    producer = pipeline.producer
    continues = no_number_is_missing(pipeline)
    effect = Effect()
    bump_epoch(pipeline, effect, Not(continues))
    effect[producer.unresolved] = False
    return Action(
        "resolve_sequences",
        "producer",
        lane="producer",
        arguments={},
        guard=And(_drained(pipeline), Or(continues, epoch_left(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            "the producer bumps its epoch to get past the sequence it gave up on"
            if after[producer.epoch.name] > before[producer.epoch.name]
            else "the producer finds that no sequence is missing"
        ),
        semantics="3.4",
    )


def is_something_numbered(pipeline: Pipeline, but: Batch | None = None) -> z3.BoolRef:
    """Tell whether a batch, besides ``but``, has a number and is not over."""
    numbered = [And(batch.incomplete, sequence.term >= 0) for batch, sequence in pipeline.producer.numbered(but=but)]
    return Or(*numbered)
