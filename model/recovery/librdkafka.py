"""librdkafka's idempotent producer: it waits until nothing is in flight, and bumps its epoch then (semantics 4.1).

Its numbers follow the order of sending, so a record keeps its number in all retries of an epoch. It waits before it
retries, before it goes to another leader, and before it gets over a gap of a failed record with a new epoch: at once,
or once the broker refuses what follows a record that ran out of retries. It stops permanently if the next record due
is refused as out of order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import z3

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, Variable
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.recovery.draining import Drains
from proofka.model.recovery.elsewhere import fail_elsewhere, stop_elsewhere
from proofka.model.sequencing.arrival import has_numbers
from proofka.model.sequencing.network import complete, fail_attempt
from proofka.model.sequencing.refusing import refused_as_out_of_order, reject_old_epoch
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.wording import record_name


@dataclass(frozen=True)
class Librdkafka(Drains):
    """The client without transactions.

    ``gapless``: it also stops permanently if a record fails permanently (``enable.gapless.guarantee``).
    """

    gapless: bool = False
    wants_to_wait = False

    def start_transmitting(self, pipeline: Pipeline, effect: Effect, batch: Batch, epoch: z3.ArithRef) -> None:
        """End the wait: nothing else was in flight where the client waited for that."""
        assert pipeline.producer.draining is not None
        effect[pipeline.producer.draining] = False

    def hear_success(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Take the number for used, and all before it, whose records are delivered (semantics 4.1)."""
        super().hear_success(pipeline, effect, batch)
        acknowledge_what_came_before(pipeline, effect, batch)

    def leave_gap(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, out_of_retries: bool
    ) -> None:
        """Want a new epoch at once, unless the record ran out of retries: then once what follows is refused."""
        if not out_of_retries:
            effect.set_when(when, pipeline.producer.unresolved, 1)

    def fail_permanently(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, *, fenced: bool
    ) -> tuple[z3.BoolRef, ...]:
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
        if self.gapless:
            self.stop_for_good(pipeline, effect, BoolVal(True))
        return ()

    def refusals(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[Action]:
        yield self.refuse_later(pipeline, batch, leader)
        yield self.refuse_first_due(pipeline, batch, leader)
        yield reject_old_epoch(pipeline, batch, leader)

    def refuse_later(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
        """Refuse a record after a gap of a failed one: the client sends it again in its next epoch (4.1)."""
        producer = pipeline.producer
        assert batch.sequence is not None
        later = batch.sequence.term > producer.last_acknowledged.term + 1
        effect = Effect()
        then = self.want_epoch_after_gap(pipeline, effect, batch)
        return Action(
            "refuse_later",
            leader.name,
            lane="brokers",
            arguments={"batch": batch.number, "leader": leader.number},
            guard=And(refused_as_out_of_order(pipeline, batch, leader), later),
            updates=effect.updates,
            sentence=lambda before, after: (
                f"{leader.name} refuses {record_name(batch)}: OUT_OF_ORDER_SEQUENCE_NUMBER; {then}"
            ),
            semantics="3.5, 4.1",
        )

    def want_epoch_after_gap(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> str:
        """Want a new epoch, as a record after a gap was refused; return what the client does then, in words."""
        fail_attempt(pipeline, effect, batch, BoolVal(True))
        effect[pipeline.producer.unresolved] = True
        return "the producer will bump its epoch when nothing is in flight"

    def refuse_first_due(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
        """Refuse the next record due as out of order: data is lost, and the client stops permanently (4.1)."""
        producer = pipeline.producer
        assert batch.sequence is not None
        first_due = batch.sequence.term <= producer.last_acknowledged.term + 1
        effect = Effect()
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
        self.stop_for_good(pipeline, effect, BoolVal(True))
        return Action(
            "refuse_first_due",
            leader.name,
            lane="brokers",
            arguments={"batch": batch.number, "leader": leader.number},
            guard=And(refused_as_out_of_order(pipeline, batch, leader), first_due),
            updates=effect.updates,
            sentence=lambda before, after: (
                f"{leader.name} refuses {record_name(batch)}, the next one due: OUT_OF_ORDER_SEQUENCE_NUMBER; the "
                "producer stops permanently (a fatal error), and the send fails"
            ),
            semantics="3.5, 4.1",
        )

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        """Yield the failures at another partition: the client waits, and then renumbers what waits, stored or not."""
        unresolved = pipeline.producer.unresolved
        effect = Effect()
        effect[unresolved] = True
        goes_on = Not(Or(self.has_stopped(pipeline), unresolved.is_set))
        yield fail_elsewhere(pipeline, effect, goes_on, "will bump its epoch when nothing is in flight")
        effect = Effect()
        self.stop_for_good(pipeline, effect, BoolVal(True))
        yield stop_elsewhere(pipeline, effect)


@dataclass(frozen=True)
class LibrdkafkaForgetting(Librdkafka):
    """The client before 1.9: it numbers from 0 again, in the same epoch, after its metadata lacked the topic."""

    numbers_come_again = True

    def is_copy(self, pipeline: Pipeline, batch: Batch, slot: Mapping[str, Variable], itself: z3.BoolRef) -> z3.BoolRef:
        """Tell whether the entry has the record's number, which another record can have had before."""
        assert batch.sequence is not None
        return has_numbers(pipeline, batch, slot, (pipeline.producer.epoch.term, batch.sequence.term))

    def actions_at_rest(self, pipeline: Pipeline) -> Iterator[Action]:
        yield self.forget_topic(pipeline)
        yield from super().actions_at_rest(pipeline)

    def forget_topic(self, pipeline: Pipeline) -> Action:
        """Let the metadata lack the topic for a moment: queued records fail, and the numbers begin again (4.1).

        The producer keeps its id and epoch, so that brokers treat new records as old ones.
        """
        producer = pipeline.producer
        effect = Effect()
        for batch in producer.batches:
            # The client forgets its numbers, and so the gap that the failed batches leave.
            complete(pipeline, effect, batch, Fate.FAILED, batch.is_(Fate.BUFFERED), out_of_retries=True)
        effect[producer.next_sequence] = 0
        return Action(
            "forget_topic",
            "producer",
            lane="producer",
            arguments={},
            guard=And(producer.next_sequence.term > 0, Not(self.has_stopped(pipeline))),
            updates=effect.updates,
            sentence=lambda before, after: (
                "a broker that has just started says that the topic does not exist: the producer fails what it has "
                "queued, and when the topic is there again it numbers from 0, in the same epoch"
            ),
            semantics="4.1",
            fault=Fault.UNKNOWN_TOPIC,
        )


def acknowledge_what_came_before(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Acknowledge earlier records that wait for a retry: the client treats them as delivered with a later one (4.1)."""
    assert batch.sequence is not None
    for other, sequence in pipeline.producer.numbered(but=batch):
        earlier = And(sequence.term >= 0, sequence.term < batch.sequence.term)
        complete(pipeline, effect, other, Fate.ACKNOWLEDGED, And(other.is_(Fate.BUFFERED), earlier))
