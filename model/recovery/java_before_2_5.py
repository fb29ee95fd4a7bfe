"""Kafka's own client before 2.5, without transactions: it takes a new producer id (semantics 3.4).

A numbered record keeps its number and its producer id, so that a retry stays recognisable. A record that was never sent
gets a number of the new id (0.11: see java_0_11.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import z3

from proofka.model.deployment.choices import ProducerId
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.forgetting import brokers_forget_deleted
from proofka.model.language import Action, Effect, State, Variable, flag
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or, Sum
from proofka.model.recovery.elsewhere import fail_elsewhere
from proofka.model.recovery.java import no_number_is_missing, refused_as_unknown, some_do_not_know
from proofka.model.recovery.late_errors import (
    HearsLateErrors,
    expect_late_answer,
    give_ups,
    heard_late,
    late_answers,
    late_bumps_due,
    waits_for_late_answer,
)
from proofka.model.sequencing.arrival import has_numbers_sent, offset_of
from proofka.model.sequencing.idempotence import epoch_left
from proofka.model.sequencing.network import attempts_left, complete, fail_attempt
from proofka.model.sequencing.refusing import refused_as_out_of_order
from proofka.model.state.kept_numbers import KeptByProducer, KeptOfBatch, Numbering
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.sequence_check import SequenceCheck
from proofka.model.state.wording import record_name


@dataclass(frozen=True)
class JavaBefore25(HearsLateErrors):
    """The client from 1.0 to 2.4."""

    new_epoch = "the producer takes a new producer id"
    numbers_come_again = epochs_are_ids = True

    def declare_of_batch(self, deployment: Deployment, name: str) -> KeptOfBatch:
        """Keep the producer id of the number, whether the number has changed, and what is answered late (3.4)."""
        producer_id = Variable(f"{name}_producer_id", 0, deployment.bounds.producer_epochs - 1, 0)
        numbering = Numbering(producer_id, self.declare_renumbered(name))
        return KeptOfBatch(numbering=numbering, late=self.declare_late(deployment, name, alone_counts=True))

    def declare_renumbered(self, name: str) -> Variable | None:
        return flag(f"{name}_renumbered")

    def declare(self, deployment: Deployment) -> KeptByProducer:
        """Keep what the client compares when a broker does not know its producer (UNKNOWN_PRODUCER_ID; 3.4).

        It compares the broker's log start offset, which matters only where brokers forget what they delete.
        """
        if not some_do_not_know(deployment):
            return KeptByProducer()
        if brokers_forget_deleted(deployment):
            return KeptByProducer(acknowledged_to=Variable("acknowledged_to", 0, deployment.bounds.log, 0))
        return KeptByProducer(heard=flag("heard"))

    def may_overtake(
        self, pipeline: Pipeline, batch: Batch, retried: z3.BoolRef, fresh_may_go: z3.BoolRef
    ) -> z3.BoolRef:
        """Tell whether a retry has no lower number of its id before it; new records wait for a number in doubt."""
        fresh_may_go = And(fresh_may_go, Not(pipeline.producer.unresolved.is_set))
        return If(retried, is_next_in_queue(pipeline, batch), fresh_may_go)

    def may_go_to(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[z3.BoolRef]:
        """Yield that no answer to a failed send is missing, for a client with one request in flight."""
        if pipeline.deployment.producer.max_in_flight == 1:
            yield Not(waits_for_late_answer(pipeline))

    def asks_for_id(self, pipeline: Pipeline, restarted: z3.BoolRef) -> z3.BoolRef:
        return Or(restarted, pipeline.producer.epoch.term > 0)

    def assign_number(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Give the record the next number of the current id at its first transmission; retries keep both."""
        super().assign_number(pipeline, effect, batch)
        producer, numbered_by = pipeline.producer, numbering_of(batch).producer_id
        assert batch.sent_epoch is not None
        by = If(sequence_of(batch) < 0, producer.epoch.term, numbered_by.term)
        effect[batch.sent_epoch] = effect[numbered_by] = by

    def keep_request(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Keep the request's numbers: the broker answers when these are replicated, whichever record had them first."""
        keep_what_was_sent(effect, batch)

    def forget_numbers(self, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
        super().forget_numbers(effect, batch, when)
        forget_number(effect, batch, when)

    def is_copy(self, pipeline: Pipeline, batch: Batch, slot: Mapping[str, Variable], itself: z3.BoolRef) -> z3.BoolRef:
        """Tell whether the entry is the record, or has the numbers of its request."""
        return Or(itself, has_numbers_sent(pipeline, batch, slot))

    def is_of_one_id(self, same: z3.BoolRef, epoch: z3.ArithRef, other: z3.ArithRef | int) -> z3.BoolRef:
        """Tell whether the entries have one producer id: what other clients have as an epoch, counts ids here."""
        return And(same, epoch == other)

    def is_current(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        return is_of_current_id(pipeline, batch)

    def is_refused(self, check: SequenceCheck) -> z3.BoolRef:
        return check.out_of_order

    def uses_up_number(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Note the number of an acknowledged record, where that is of the current producer id."""
        producer = pipeline.producer
        later = And(is_of_current_id(pipeline, batch), sequence_of(batch) > producer.last_acknowledged.term)
        effect.set_when(later, producer.last_acknowledged, sequence_of(batch))

    def acknowledge(self, pipeline: Pipeline, effect: Effect, batch: Batch, leader: Replica) -> None:
        """Note that the broker has the number, which the client uses only if it is of the current producer id."""
        assert batch.sequence is not None
        offset = offset_of(pipeline, batch, leader)
        self.uses_up_number(pipeline, effect, batch)
        effect.set_when(is_of_current_id(pipeline, batch), pipeline.producer.heard, 1)
        self.note_offset(pipeline, effect, batch, offset)
        effect[batch.sequence] = -1
        forget_number(effect, batch, BoolVal(True))

    def note_offset(self, pipeline: Pipeline, effect: Effect, batch: Batch, offset: z3.ArithRef) -> None:
        """Note the offset in an answer, if the record's number is of the current producer id (3.4)."""
        producer = pipeline.producer
        if producer.acknowledged_to is not None:
            further = And(is_of_current_id(pipeline, batch), offset >= producer.acknowledged_to.term)
            effect.set_when(further, producer.acknowledged_to, offset + 1)

    def fail_of_earlier_id(self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> z3.BoolRef:
        """Fail the send of a record whose number is of an earlier producer id: it is not retried (3.4)."""
        current, renumbered = is_of_current_id(pipeline, batch), numbering_of(batch).renumbered
        complete(pipeline, effect, batch, Fate.FAILED, And(when, Not(current)))
        when = And(when, current)
        effect.reset_when(when, renumbered)
        return when

    def leave_gap(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, out_of_retries: bool
    ) -> None:
        """Leave the number as it is: :meth:`give_up` and :meth:`fail_permanently` say what becomes of it."""

    def fail_permanently(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, *, fenced: bool
    ) -> tuple[z3.BoolRef, ...]:
        """Fail the record, and give its number to the next one, unless this was the last retry (semantics 3.4)."""
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
        shift_numbers(pipeline, effect, batch, attempts_left(pipeline, batch))
        return ()

    def ends_id_when_given_up(self, batch: Batch) -> z3.BoolRef:
        """Tell whether giving up on the record ends the producer id at once."""
        return BoolVal(False)

    def doubt_number(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Note that a retry was given up on, so that nobody knows whether its number is used (semantics 3.4)."""
        effect.set_when(batch.retries.term > 0, pipeline.producer.unresolved, 1)

    def give_up(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> tuple[z3.BoolRef, ...]:
        expect_late_answer(pipeline, effect, batch)
        self.doubt_number(pipeline, effect, batch)
        return (Or(Not(self.ends_id_when_given_up(batch)), epoch_left(pipeline)),)

    def hear_error(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> tuple[z3.BoolRef, ...]:
        shift_numbers(pipeline, effect, batch, BoolVal(True))
        return ()

    def hear_refusal(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        take_new_id(pipeline, effect, is_of_current_id(pipeline, batch))

    def retries_out_of_order(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        """Tell whether the client retries a record refused as out of order: the gap before it can still close (3.4).

        That is so if the record is not the next one due, or has another number by now.
        """
        renumbered, producer = numbering_of(batch).renumbered, pipeline.producer
        assert renumbered is not None
        not_next = Or(renumbered.is_set, sequence_of(batch) != producer.last_acknowledged.term + 1)
        may_close = And(Not(producer.unresolved.is_set), not_next)
        return And(is_of_current_id(pipeline, batch), attempts_left(pipeline, batch), may_close)

    def out_of_order_ends_id(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
        """Tell whether the refusal means lost data to the client, which takes another producer id (semantics 3.4)."""
        refused = refused_as_out_of_order(pipeline, batch, leader)
        ends = And(is_of_current_id(pipeline, batch), Not(self.retries_out_of_order(pipeline, batch)))
        return And(refused, ends)

    def retries_unknown(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
        """Tell whether the client retries a record of a producer that the broker does not know, as number 0 (3.4)."""
        renumbered = numbering_of(batch).renumbered
        assert renumbered is not None
        again = Or(renumbered.is_set, _may_start_again(pipeline, leader))
        return And(is_of_current_id(pipeline, batch), attempts_left(pipeline, batch), again)

    def unknown_ends_id(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
        """Tell whether the broker has lost the producer and what it acknowledged: the client takes another id (3.4)."""
        refused = refused_as_unknown(pipeline, batch, leader)
        retries = self.retries_unknown(pipeline, batch, leader)
        return And(refused, is_of_current_id(pipeline, batch), Not(retries))

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        yield resolve_with_new_id(pipeline)
        yield from self.answers(pipeline)

    def answers(self, pipeline: Pipeline) -> Iterator[Action]:
        """Yield the refusals of numbers, late answers, and failures at another partition."""
        for batch, leader in product(pipeline.producer.batches, pipeline.replicas):
            yield refuse_out_of_order(pipeline, self, batch, leader)
            if some_do_not_know(pipeline.deployment):
                yield refuse_unknown(pipeline, self, batch, leader)
        for batch in heard_late(pipeline):
            yield from give_ups(pipeline, batch, _frees(pipeline, batch))
            yield from late_answers(pipeline, self, batch)
        effect = Effect()
        take_new_id(pipeline, effect, BoolVal(True))
        yield fail_elsewhere(pipeline, effect, epoch_left(pipeline), "takes a new producer id")

    def bumps_due(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        yield resolution_due(pipeline)
        for batch in pipeline.producer.batches:
            yield And(batch.is_(Fate.BUFFERED), self.ends_id_when_given_up(batch))
        for batch, leader in product(pipeline.producer.batches, pipeline.replicas):
            yield self.out_of_order_ends_id(pipeline, batch, leader)
            if some_do_not_know(pipeline.deployment):
                yield self.unknown_ends_id(pipeline, batch, leader)
        yield from late_bumps_due(pipeline, self)


def numbering_of(batch: Batch) -> Numbering:
    assert batch.numbering is not None
    return batch.numbering


def sequence_of(batch: Batch) -> z3.ArithRef:
    assert batch.sequence is not None
    return batch.sequence.term


def is_of_current_id(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the batch's number is of the client's current producer id; an epoch bump does not change the id."""
    if batch.numbering is None:
        return BoolVal(True)
    return numbering_of(batch).producer_id.term == pipeline.producer.epoch.term


def is_tracked(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the client tracks the batch's number: it is of the current id, and the batch is not over."""
    return And(batch.incomplete, sequence_of(batch) >= 0, is_of_current_id(pipeline, batch))


def is_next_in_queue(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether a retry can go: no tracked batch, and no waiting one of the same id, has a lower number (3.4)."""
    current = is_of_current_id(pipeline, batch)
    lower = []
    for other in pipeline.producer.batches:
        if other is not batch:
            same_id = numbering_of(other).producer_id.term == numbering_of(batch).producer_id.term
            earlier = And(sequence_of(other) >= 0, sequence_of(other) < sequence_of(batch))
            in_the_way = Or(other.is_(Fate.BUFFERED), And(current, other.in_flight))
            lower.append(And(same_id, earlier, in_the_way))
    return Not(Or(*lower))


def take_new_id(pipeline: Pipeline, effect: Effect, when: z3.BoolRef) -> None:
    """Take a new producer id: the client forgets its id and what it knew of its numbers (semantics 3.4)."""
    producer = pipeline.producer
    effect.set_when(when, producer.epoch, producer.epoch.term + 1)
    numbers = (producer.next_sequence, producer.last_acknowledged, producer.unresolved)
    effect.reset_when(when, *numbers, producer.heard, producer.acknowledged_to)
    effect.reset_when(when, *(numbering_of(batch).renumbered for batch in producer.batches))


def shift_numbers(pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Move the numbers after a failed batch down, as its own counts as free (adjustSequencesDueToFailedBatch; 3.4).

    A number cannot be below 0: the client stops half way then, with an error in its log.
    """
    producer = pipeline.producer
    when = And(when, is_of_current_id(pipeline, batch), producer.next_sequence.term > 0)
    effect.set_when(when, producer.next_sequence, producer.next_sequence.term - 1)
    others = [other for other in producer.batches if other is not batch]
    stops = Or(
        *(And(is_tracked(pipeline, other), sequence_of(other) == 0, sequence_of(batch) == 0) for other in others)
    )
    for other in others:
        later = And(is_tracked(pipeline, other), sequence_of(other) >= sequence_of(batch), sequence_of(other) > 0)
        _renumber(effect, other, And(when, Not(stops), later), sequence_of(other) - 1)


def start_again(pipeline: Pipeline, effect: Effect, when: z3.BoolRef) -> None:
    """Renumber the tracked batches from 0, under the same producer id (startSequencesAtBeginning; 3.4)."""
    producer = pipeline.producer
    tracked = [(batch, And(when, is_tracked(pipeline, batch))) for batch in producer.batches]
    for batch, counts in tracked:
        before = [
            If(And(other_counts, sequence_of(other) < sequence_of(batch)), 1, 0)
            for other, other_counts in tracked
            if other is not batch
        ]
        _renumber(effect, batch, counts, Sum(*before) if before else IntVal(0))
    effect.set_when(when, producer.next_sequence, Sum(*(If(counts, 1, 0) for _, counts in tracked)))
    effect.set_when(when, producer.last_acknowledged, -1)


def _renumber(effect: Effect, batch: Batch, when: z3.BoolRef, sequence: z3.ArithRef) -> None:
    """Give the batch another number, which its request on the way does not have."""
    renumbered = numbering_of(batch).renumbered
    assert batch.sequence is not None and renumbered is not None
    effect.set_when(when, batch.sequence, sequence)
    effect.set_when(And(when, batch.in_flight), renumbered, 1)


def forget_number(effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Reset what the client kept besides the number of a batch that is over."""
    if batch.numbering is not None:
        effect.reset_when(when, batch.numbering.producer_id, batch.numbering.renumbered)


def keep_what_was_sent(effect: Effect, batch: Batch) -> None:
    """Keep the request's numbers, with which the broker's answer comes."""
    assert batch.sent_epoch is not None and batch.sent_sequence is not None
    effect[batch.sent_epoch] = batch.sent_epoch.term
    effect[batch.sent_sequence] = batch.sent_sequence.term


def _frees(pipeline: Pipeline, batch: Batch) -> Callable[[Effect], None]:
    """Return what counts the record's number as unused after an error, unless this was the last retry."""
    return lambda effect: shift_numbers(pipeline, effect, batch, attempts_left(pipeline, batch))


def _may_start_again(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """Tell whether all records acknowledged with this producer id are below the leader's log start offset.

    Then the client concludes that the broker can have forgotten the producer for that reason (3.4). Where no broker
    forgets what it deletes, the condition is that nothing was acknowledged with this id.
    """
    acknowledged_to = pipeline.producer.acknowledged_to
    if acknowledged_to is not None and leader.log_start is not None:
        return acknowledged_to.term <= leader.log_start.term
    heard = pipeline.producer.heard
    assert heard is not None
    nothing = Not(heard.is_set)
    if pipeline.deployment.application.producer_id is ProducerId.KNOWN:
        goes_on = And(pipeline.producer.session.term == 0, pipeline.producer.epoch.term == 0)
        nothing = And(nothing, Not(goes_on))
    return nothing


def refuse_out_of_order(pipeline: Pipeline, client: JavaBefore25, batch: Batch, leader: Replica) -> Action:
    """Refuse a batch after a gap: the client retries, or fails the send and takes a new producer id (3.4, 3.5)."""
    ends, retries = client.out_of_order_ends_id(pipeline, batch, leader), client.retries_out_of_order(pipeline, batch)
    return _refusal(
        pipeline,
        batch,
        leader,
        ("refuse_out_of_order", "OUT_OF_ORDER_SEQUENCE_NUMBER"),
        (refused_as_out_of_order(pipeline, batch, leader), retries, ends),
        Effect(),
    )


def refuse_unknown(pipeline: Pipeline, client: JavaBefore25, batch: Batch, leader: Replica) -> Action:
    """Refuse a batch of an unknown producer id: the client starts again at 0, or the send fails (3.4, 3.5)."""
    retries = client.retries_unknown(pipeline, batch, leader)
    effect = Effect()
    renumbered = numbering_of(batch).renumbered
    if renumbered is not None:
        start_again(pipeline, effect, And(retries, Not(renumbered.is_set)))
    return _refusal(
        pipeline,
        batch,
        leader,
        ("refuse_unknown", "UNKNOWN_PRODUCER_ID"),
        (refused_as_unknown(pipeline, batch, leader), retries, client.unknown_ends_id(pipeline, batch, leader)),
        effect,
    )


def _refusal(
    pipeline: Pipeline,
    batch: Batch,
    leader: Replica,
    named: tuple[str, str],
    conditions: tuple[z3.BoolRef, z3.BoolRef, z3.BoolRef],
    effect: Effect,
) -> Action:
    """Build a refusal: the batch is retried, or its send fails, which ends the producer id unless that ended before.

    ``named``: the action's name and the error. ``conditions``: the broker refuses, the client retries, the producer id
    ends.
    """
    name, error = named
    refused, retries, ends = conditions
    fail_attempt(pipeline, effect, batch, retries)
    complete(pipeline, effect, batch, Fate.FAILED, Not(retries))
    take_new_id(pipeline, effect, ends)

    def sentence(before: State, after: State) -> str:
        new_id = after[pipeline.producer.epoch.name] > before[pipeline.producer.epoch.name]
        words = f"{leader.name} refuses {record_name(batch)}: {error}"
        words += "; the send fails" if after[batch.fate.name] == Fate.FAILED else ""
        return words + (", and the producer takes a new producer id" if new_id else "")

    return Action(
        name,
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(refused, Or(Not(ends), epoch_left(pipeline))),
        updates=effect.updates,
        sentence=sentence,
        semantics="3.4, 3.5",
    )


def resolution_due(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the client gave up on a number, tracks nothing any more, and a number is missing (3.4)."""
    return And(_drained(pipeline), Not(no_number_is_missing(pipeline)))


def _drained(pipeline: Pipeline) -> z3.BoolRef:
    tracked = [is_tracked(pipeline, batch) for batch in pipeline.producer.batches]
    return And(pipeline.producer.unresolved.is_set, Not(Or(*tracked)))


def resolve_with_new_id(pipeline: Pipeline) -> Action:
    """Resolve the sequence once nothing is tracked: go on if no number is missing, else take a new id (3.4)."""
    producer = pipeline.producer
    continues = no_number_is_missing(pipeline)
    effect = Effect()
    take_new_id(pipeline, effect, Not(continues))
    effect[producer.unresolved] = False
    return Action(
        "resolve_with_new_id",
        "producer",
        lane="producer",
        arguments={},
        guard=And(_drained(pipeline), Or(continues, epoch_left(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            "the producer takes a new producer id, as it cannot know whether the sequence it gave up on is used"
            if after[producer.epoch.name] > before[producer.epoch.name]
            else "the producer finds that no sequence is missing"
        ),
        semantics="3.4",
    )
