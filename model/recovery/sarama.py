"""sarama's idempotent producer: numbers are given before a record is sent, and kept permanently (semantics 4.2).

A record gets its number on its way to the connection, and then waits there until the record before it is over. A record
that fails takes the producer to a new epoch, in which the numbers begin again at 0. A waiting record keeps its number,
and is put into a batch of the epoch in which it was numbered, or of a later one. Only attempts end a send, and the
attempts of the first record count for the records behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import z3

from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State, Variable
from proofka.model.language.terms import And, BoolVal, If, Not, Or
from proofka.model.recovery.accumulator import is_called_before
from proofka.model.recovery.elsewhere import fail_elsewhere
from proofka.model.sequencing.arrival import accepts, answered_in_order, arrives, checked, has_numbers_sent
from proofka.model.sequencing.idempotence import epoch_left
from proofka.model.sequencing.network import complete
from proofka.model.sequencing.refusing import refused_as_out_of_order, reject_old_epoch
from proofka.model.state.kept_numbers import KeptOfBatch
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.recovery import Recovery
from proofka.model.state.wording import record_name


@dataclass(frozen=True)
class Sarama(Recovery):
    """The client without transactions."""

    failures_past_retries = 1
    numbers_come_again = suffers_elsewhere = True

    def declare_of_batch(self, deployment: Deployment, name: str) -> KeptOfBatch:
        """Keep the epoch in which the record got its number."""
        return KeptOfBatch(Variable(f"{name}_numbered_in", 0, deployment.bounds.producer_epochs - 1, 0))

    def is_next(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        return is_due(pipeline, batch)

    def look_for_leader(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, due: z3.BoolRef, leaderless: z3.BoolRef
    ) -> tuple[z3.BoolRef, list[z3.BoolRef]]:
        """Give the record its number if the leader is only away; without any leader the send fails, in a new epoch."""
        keep_numbers(pipeline, effect, batch, Not(leaderless))
        due = If(leaderless, finds_no_leader(pipeline, batch), due)
        return due, [If(leaderless, epoch_left(pipeline), self.can_be_numbered(pipeline, batch))]

    def is_retry(self, batch: Batch, before: State) -> bool:
        assert batch.sent_sequence is not None
        return before[batch.sent_sequence.name] >= 0

    def failed_itself(self, batch: Batch) -> Iterator[z3.BoolRef]:
        yield was_tried(batch)

    def assign_number(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        keep_numbers(pipeline, effect, batch, BoolVal(True))

    def forget_numbers(self, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
        """Reset the record's number and epoch, and those of the batch that it was put into."""
        for number in (batch.sequence, batch.numbered_in, batch.sent_epoch, batch.sent_sequence):
            assert number is not None
            effect.set_when(when, number, number.initial)

    def is_copy(self, pipeline: Pipeline, batch: Batch, slot: Mapping[str, Variable], itself: z3.BoolRef) -> z3.BoolRef:
        """Tell whether the entry has the numbers of the request, which another record can have had."""
        return has_numbers_sent(pipeline, batch, slot)

    def acknowledge(self, pipeline: Pipeline, effect: Effect, batch: Batch, leader: Replica) -> None:
        assert batch.sequence is not None
        effect[batch.sequence] = -1
        self.forget_numbers(effect, batch, BoolVal(True))

    def spend_attempt(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, counts: bool
    ) -> tuple[z3.BoolRef, z3.ArithRef]:
        """Count the attempt; a record that has failed once more often than there are retries is not tried again."""
        left = batch.retries.term < batch.retries.high
        return when, If(left, batch.retries.term + 1, batch.retries.term)

    def expect_retry(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, answered: bool
    ) -> None:
        """Take one attempt from what waits behind the failed record."""
        for other, sequence in pipeline.producer.numbered(but=batch):
            left = other.retries.term < other.retries.high
            waits = And(other.is_(Fate.BUFFERED), sequence.term >= 0)
            effect.set_when(And(when, waits, left), other.retries, other.retries.term + 1)

    def has_attempt_left(self, pipeline: Pipeline, batch: Batch, state: State) -> bool:
        return state[batch.retries.name] <= pipeline.deployment.producer.retries

    def leave_gap(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, out_of_retries: bool
    ) -> None:
        """Bump the epoch for each failed record that has a number; the numbers begin again at 0."""
        assert batch.sequence is not None
        numbered = And(when, batch.sequence.term >= 0)
        effect.set_when(numbered, pipeline.producer.epoch, pipeline.producer.epoch.term + 1)
        effect.set_when(numbered, pipeline.producer.next_sequence, 0)

    def fail_permanently(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, *, fenced: bool
    ) -> tuple[z3.BoolRef, ...]:
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
        return (epoch_left(pipeline),)

    def refusals(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[Action]:
        yield refuse_gap(pipeline, batch, leader)
        yield reject_old_epoch(pipeline, batch, leader)

    def actions_of_waiting(
        self, pipeline: Pipeline, batch: Batch, give_up: Callable[[Pipeline, Batch], Action]
    ) -> Iterator[Action]:
        """Number the record ahead, put it into a batch, or fail it after its last retry: its delivery has no time."""
        yield number_ahead(pipeline, batch)
        yield put_into_later_epoch(pipeline, batch)
        yield run_out(pipeline, batch)

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        """Yield the failures at another partition: the next record that is numbered begins at 0, in a new epoch."""
        producer = pipeline.producer
        effect = Effect()
        effect[producer.epoch] = producer.epoch.term + 1
        effect[producer.next_sequence] = 0
        yield fail_elsewhere(pipeline, effect, epoch_left(pipeline), "bumps its epoch")

    def bumps_due(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        yield from bumps_due(pipeline)


def give_number(pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Give the batch the next number of its epoch (semantics 4.2)."""
    assert batch.sequence is not None and batch.numbered_in is not None and batch.sent_epoch is not None
    producer = pipeline.producer
    effect.set_when(when, batch.sequence, producer.next_sequence.term)
    effect.set_when(when, producer.next_sequence, producer.next_sequence.term + 1)
    effect.set_when(when, batch.numbered_in, producer.epoch.term)
    effect.set_when(when, batch.sent_epoch, producer.epoch.term)


def keep_numbers(pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Fix the batch's number and the epoch of its batch, which stay from the first attempt on (semantics 4.2)."""
    assert batch.sequence is not None and batch.sent_sequence is not None
    give_number(pipeline, effect, batch, And(when, batch.sequence.term < 0))
    effect.set_when(when, batch.sent_sequence, effect[batch.sequence])


def was_tried(batch: Batch) -> z3.BoolRef:
    """Tell whether the producer has tried to send the record: its batch is made, and keeps its epoch and number."""
    assert batch.sent_sequence is not None
    return batch.sent_sequence.term >= 0


def ran_out(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the record has failed once more often than there are retries."""
    return And(batch.is_(Fate.BUFFERED), batch.retries.term > pipeline.deployment.producer.retries)


def _is_numbered(batch: Batch) -> z3.BoolRef:
    assert batch.sequence is not None
    return batch.sequence.term >= 0


def _comes_before(pipeline: Pipeline, other: Batch, batch: Batch) -> z3.BoolRef:
    """Tell whether ``other`` stands before ``batch`` in the queue: numbers and epochs are given out in its order."""
    assert other.sequence is not None and other.numbered_in is not None
    assert batch.sequence is not None and batch.numbered_in is not None
    same_epoch = other.numbered_in.term == batch.numbered_in.term
    earlier = And(same_epoch, other.sequence.term < batch.sequence.term)
    numbered_before = Or(other.numbered_in.term < batch.numbered_in.term, earlier)
    numbers = And(_is_numbered(other), Or(Not(_is_numbered(batch)), numbered_before))
    if not is_called_before(pipeline, other, batch):
        return numbers
    return Or(numbers, Not(Or(_is_numbered(other), _is_numbered(batch))))


def _others(pipeline: Pipeline, batch: Batch) -> list[Batch]:
    return [other for other in pipeline.producer.batches if other is not batch]


def _leads_queue(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether no record that was not tried yet stands before this one."""
    ahead = [
        And(other.is_(Fate.BUFFERED), Not(was_tried(other)), _comes_before(pipeline, other, batch))
        for other in _others(pipeline, batch)
    ]
    return Not(Or(*ahead))


def is_due(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the record is tried next.

    A partition keeps to one record until that is over, and then goes on in the order of the queue. A record that ran
    out of retries is not tried any more.
    """
    retried = [And(other.is_(Fate.BUFFERED), was_tried(other)) for other in _others(pipeline, batch)]
    in_turn = Or(was_tried(batch), And(Not(Or(*retried)), _leads_queue(pipeline, batch)))
    return And(in_turn, Not(ran_out(pipeline, batch)))


def finds_no_leader(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the client next looks for a leader for this record; after a failure that is not only the retry."""
    again = And(_leads_queue(pipeline, batch), batch.retries.term > 0, Not(ran_out(pipeline, batch)))
    return Or(is_due(pipeline, batch), again)


def number_ahead(pipeline: Pipeline, batch: Batch) -> Action:
    """Give the record its number on its way to the connection, whatever stands before it there (4.2).

    Where nothing else is under way the time of numbering makes no difference.
    """
    unnumbered = [
        And(other.is_(Fate.BUFFERED), Not(_is_numbered(other)))
        for other in _others(pipeline, batch)
        if is_called_before(pipeline, other, batch)
    ]
    others = Or(*(other.incomplete for other in _others(pipeline, batch)))
    waits = And(batch.is_(Fate.BUFFERED), Not(_is_numbered(batch)), pipeline.recovery.can_be_numbered(pipeline, batch))
    effect = Effect()
    give_number(pipeline, effect, batch, BoolVal(True))
    return Action(
        "number_ahead",
        "producer",
        lane="producer",
        arguments={"batch": batch.number},
        guard=And(waits, others, Not(Or(*unnumbered))),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the producer gives {record_name(batch)}, which has to wait, the number"
            f" {before[pipeline.producer.next_sequence.name]} of its epoch {before[pipeline.producer.epoch.name]}"
        ),
        semantics="4.2",
    )


def put_into_later_epoch(pipeline: Pipeline, batch: Batch) -> Action:
    """Put a numbered record into a batch of the new epoch under its old number, as the epoch has gone on (4.2)."""
    assert batch.sent_epoch is not None and batch.sequence is not None
    epoch = pipeline.producer.epoch
    effect = Effect()
    effect[batch.sent_epoch] = epoch.term
    waits = And(batch.is_(Fate.BUFFERED), _is_numbered(batch), Not(was_tried(batch)))
    return Action(
        "put_into_later_epoch",
        "producer",
        lane="producer",
        arguments={"batch": batch.number},
        guard=And(waits, batch.sent_epoch.term < epoch.term),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the producer puts {record_name(batch)} into a batch of its epoch {before[epoch.name]}, with the number"
            f" {before[batch.sequence.name] if batch.sequence is not None else 0} of an earlier one"
        ),
        semantics="4.2",
    )


def run_out(pipeline: Pipeline, batch: Batch) -> Action:
    """Fail the send of a record with no retry left; the producer goes on to a new epoch (4.2)."""
    effect = Effect()
    complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
    return Action(
        "run_out",
        "producer",
        lane="producer",
        arguments={"batch": batch.number},
        guard=And(ran_out(pipeline, batch), epoch_left(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the producer has no retry left for {record_name(batch)}: the send fails, and it bumps its epoch"
        ),
        semantics="4.2",
    )


def _refused_for_gap(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    arrived = refused_as_out_of_order(pipeline, batch, leader)
    return And(arrived, answered_in_order(pipeline, batch, leader))


def refuse_gap(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a record after a missing number, or whose number is not the first of its epoch: the send fails (4.2)."""
    effect = Effect()
    complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
    return Action(
        "refuse_gap",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(_refused_for_gap(pipeline, batch, leader), epoch_left(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} refuses {record_name(batch)}: OUT_OF_ORDER_SEQUENCE_NUMBER; the send fails, and the "
            "producer bumps its epoch"
        ),
        semantics="3.5, 4.2",
    )


def bumps_due(pipeline: Pipeline) -> Iterator[z3.BoolRef]:
    """Yield the conditions under which a numbered record is about to fail."""
    leaderless = pipeline.controller.leader.term == 0
    for batch in pipeline.producer.batches:
        waits = And(batch.is_(Fate.BUFFERED), _is_numbered(batch))
        yield ran_out(pipeline, batch)
        yield And(waits, leaderless, finds_no_leader(pipeline, batch))
        for leader in pipeline.replicas:
            check = checked(pipeline, batch, leader)
            assert check is not None
            arrived = And(arrives(pipeline, batch, leader), answered_in_order(pipeline, batch, leader))
            yield _refused_for_gap(pipeline, batch, leader)
            yield And(arrived, accepts(pipeline, leader), check.fenced)
            if Fault.REFUSED_RECORD in pipeline.deployment.faults.possible:
                yield arrived
