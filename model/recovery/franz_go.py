"""franz-go's idempotent producer: it begins again with the record that failed (semantics 4.3).

The records of a partition are in a row, and only the answer to the first of them counts. After an error the row is sent
again from the first record, under the same numbers, once nothing is in flight any more. After an answer with an error
there is one request at a time until a success. After an error that is not retried all records in the row fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import z3

from proofka.model.language import Action, Effect, State, Variable
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.recovery.accumulator import is_called_before
from proofka.model.recovery.draining import Drains
from proofka.model.recovery.elsewhere import stop_elsewhere
from proofka.model.sequencing.arrival import accepts, arrives, checked, has_numbers
from proofka.model.sequencing.network import complete, fail_attempt, leave_connection
from proofka.model.sequencing.refusing import with_it
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.wording import record_name


@dataclass(frozen=True)
class FranzGo(Drains):
    """The client without transactions.

    A number that the broker refuses means lost data to it: it goes on in a new epoch.
    """

    wants_to_wait = True
    numbers_come_again = True
    retries_run_out = False

    def is_next(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        return leads_row(pipeline, batch)

    def start_transmitting(self, pipeline: Pipeline, effect: Effect, batch: Batch, epoch: z3.ArithRef) -> None:
        starts_at_new_leader(pipeline, effect, epoch)

    def expect_retry(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, answered: bool
    ) -> None:
        """Send one request at a time after an answer with an error, and as before after a connection that ended."""
        if answered:
            super().expect_retry(pipeline, effect, batch, when, answered=answered)

    def is_copy(self, pipeline: Pipeline, batch: Batch, slot: Mapping[str, Variable], itself: z3.BoolRef) -> z3.BoolRef:
        """Tell whether the entry has the record's number: the client gives the number of a failed record again."""
        assert batch.sequence is not None
        return has_numbers(pipeline, batch, slot, (pipeline.producer.epoch.term, batch.sequence.term))

    def takes_answer(self, pipeline: Pipeline, batch: Batch) -> Iterator[z3.BoolRef]:
        yield is_next_answer(pipeline, batch)

    def acknowledge(self, pipeline: Pipeline, effect: Effect, batch: Batch, leader: Replica) -> None:
        assert batch.sequence is not None
        effect[batch.sequence] = -1
        heed_answer(pipeline, effect, batch)

    def leave_gap(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, out_of_retries: bool
    ) -> None:
        """Leave no gap: the next record gets the number of the failed one."""

    def fail_permanently(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, *, fenced: bool
    ) -> tuple[z3.BoolRef, ...]:
        fail_partition(pipeline, effect, batch)
        return ()

    def refusals(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[Action]:
        yield self.refuse_and_reset(pipeline, batch, leader)

    def refuse_and_reset(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
        """Refuse a batch for its number or epoch (semantics 3.5, 4.3).

        For the first record this means lost data. A later record is behind one that is retried, and is sent again
        after that.
        """
        check = checked(pipeline, batch, leader)
        assert check is not None
        effect = Effect()
        self.lose_data(pipeline, effect, batch)

        def sentence(before: State, after: State) -> str:
            error = f"{leader.name} refuses {record_name(batch)} for its number"
            if after[batch.fate.name] == Fate.FAILED:
                others = with_it(pipeline, batch, before, after)
                return f"{error}: the send fails{others}, and the producer stops permanently"
            bumps = after[pipeline.producer.unresolved.name] > before[pipeline.producer.unresolved.name]
            return error + (": the producer will bump its epoch" if bumps else ", and will get it again")

        wrong = Or(check.out_of_order, check.fenced)
        return Action(
            "refuse_and_reset",
            leader.name,
            lane="brokers",
            arguments={"batch": batch.number, "leader": leader.number},
            guard=And(
                arrives(pipeline, batch, leader), accepts(pipeline, leader), wrong, is_next_answer(pipeline, batch)
            ),
            updates=effect.updates,
            sentence=sentence,
            semantics="3.5, 4.3",
        )

    def lose_data(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Take the refusal of the first record for lost data: go on with it in a new epoch (semantics 4.3)."""
        first = _is_first(pipeline, batch)
        fail_attempt(pipeline, effect, batch, BoolVal(True))
        effect.set_when(self.is_heeded(pipeline, batch, first), pipeline.producer.unresolved, 1)

    def is_heeded(self, pipeline: Pipeline, batch: Batch, first: z3.BoolRef) -> z3.BoolRef:
        """Tell whether the client heeds the refusal of a record; ``first``: the record is the first of the row."""
        return first

    def actions_of_waiting(
        self, pipeline: Pipeline, batch: Batch, give_up: Callable[[Pipeline, Batch], Action]
    ) -> Iterator[Action]:
        """Wait without an end: a delivery has no time limit."""
        yield from ()


@dataclass(frozen=True)
class FranzGoStopping(FranzGo):
    """The client that stops permanently when it takes data for lost (``StopProducerOnDataLossDetected``)."""

    def lose_data(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Take the refusal of the first record for lost data: stop permanently (semantics 4.3)."""
        first = _is_first(pipeline, batch)
        fail_attempt(pipeline, effect, batch, Not(first))
        _fail_all(pipeline, effect, first)
        self.stop_for_good(pipeline, effect, first)

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        """Yield the failures at another partition."""
        effect = Effect()
        self.stop_for_good(pipeline, effect, BoolVal(True))
        yield stop_elsewhere(pipeline, effect)


def _earlier(pipeline: Pipeline, batch: Batch) -> list[tuple[Batch, z3.BoolRef]]:
    """Return the other batches, each with the condition that it stands before this one in the row."""
    assert batch.sequence is not None
    return [
        (other, And(other.incomplete, sequence.term >= 0, sequence.term < batch.sequence.term))
        for other, sequence in pipeline.producer.numbered(but=batch)
    ]


def _is_first(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether every record before this one is over: then its answer counts."""
    return Not(Or(*(stands for _, stands in _earlier(pipeline, batch))))


def leads_row(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the batch is sent next: numbered ones in their order, then others as the application sent them."""
    assert batch.sequence is not None
    ahead = []
    for other, sequence in pipeline.producer.numbered(but=batch):
        later = Or(batch.sequence.term < 0, sequence.term < batch.sequence.term)
        stands = And(sequence.term >= 0, later)
        if is_called_before(pipeline, other, batch):
            stands = Or(stands, And(sequence.term < 0, batch.sequence.term < 0))
        ahead.append(And(other.is_(Fate.BUFFERED), stands))
    return Not(Or(*ahead))


def is_next_answer(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether no answer to an earlier record is out: answers come in the order of the requests."""
    return Not(Or(*(And(stands, other.in_flight) for other, stands in _earlier(pipeline, batch))))


def starts_at_new_leader(pipeline: Pipeline, effect: Effect, epoch: z3.ArithRef) -> None:
    """Allow one request at a time at a leader that has not answered yet, as after an error."""
    assert pipeline.producer.draining is not None
    effect.set_when(epoch != pipeline.producer.leader_epoch.term, pipeline.producer.draining, 1)


def heed_answer(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """End the first record by its success; a later record's success has no effect, and it is sent again in its turn."""
    assert batch.sequence is not None and pipeline.producer.draining is not None
    first = _is_first(pipeline, batch)
    again = [other.is_(Fate.BUFFERED) for other, _ in _earlier(pipeline, batch)]
    waits = [
        And(buffered, other.retries.term > 0)
        for buffered, (other, _) in zip(again, _earlier(pipeline, batch), strict=True)
    ]
    later = Not(first)
    leave_connection(pipeline, effect, batch, BoolVal(True))
    effect.set_when(later, batch.fate, int(Fate.BUFFERED))
    effect.set_when(later, batch.retries, 1)
    effect.set_when(later, batch.sequence, batch.sequence.term)
    effect.set_when(And(first, Not(Or(*waits))), pipeline.producer.draining, 0)


def _fail_all(pipeline: Pipeline, effect: Effect, when: z3.BoolRef) -> None:
    for other in pipeline.producer.batches:
        complete(pipeline, effect, other, Fate.FAILED, And(when, other.incomplete))


def fail_partition(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Fail the first record permanently, and all records in the row with it; its number is used again (4.3).

    A request with a later record, which was on its way, is refused for the gap, without effect.
    """
    assert batch.sequence is not None and pipeline.producer.draining is not None
    first = _is_first(pipeline, batch)
    fail_attempt(pipeline, effect, batch, Not(first))
    _fail_all(pipeline, effect, first)
    numbered = And(first, batch.sequence.term >= 0)
    effect.set_when(numbered, pipeline.producer.next_sequence, batch.sequence.term)
    effect.set_when(first, pipeline.producer.draining, 1)
