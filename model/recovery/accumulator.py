"""The queue of a producer's client, as most have one: the order in which records leave it, and the count of attempts.

franz-go and sarama have another order (semantics 4.2, 4.3); sarama counts its attempts in another way.
"""

from __future__ import annotations

import z3

from proofka.model.faults import Fault
from proofka.model.language import Effect
from proofka.model.language.terms import And, If, Not, Or
from proofka.model.sequencing.idempotence import assign_sequence, is_first_in_flight, reset_numbers, reset_request
from proofka.model.sequencing.network import count_attempt
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.recovery import Recovery


def goes_before(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the batch goes before new ones: it is a retry, or a numbered part of a split batch (3.1, P4 P9)."""
    retried = batch.retries.term > 0
    if batch.sequence is None or Fault.SPLIT_BATCH not in pipeline.deployment.faults.possible:
        return retried
    return Or(retried, batch.sequence.term >= 0)


def is_called_before(pipeline: Pipeline, other: Batch, batch: Batch) -> bool:
    """Tell whether send() was called for ``other`` first, if both wait to be sent for the first time (3.1, P2).

    An application sends in the order of records, also after its start (choice 37). Only an application that sends a
    record again because its send failed can do so after it has sent later ones.
    """
    in_order = not pipeline.deployment.application.on_send_error.sends_again
    return other.record < batch.record and (in_order or other.attempt == batch.attempt)


class Accumulator(Recovery):
    """A client that hands out retries first, then records in the order of sending (semantics 3.1, P2 P4)."""

    def is_next(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        """Tell whether the record is a retry that can go, or the first record that was never sent.

        Some clients keep the order of sending with retries as well (semantics 4).
        """
        others = [other for other in pipeline.producer.batches if other is not batch]
        retried = goes_before(pipeline, batch)
        retry_waits = Or(*(And(other.is_(Fate.BUFFERED), goes_before(pipeline, other)) for other in others))
        sent_before = [
            And(other.is_(Fate.BUFFERED), other.retries.term == 0)
            for other in others
            if is_called_before(pipeline, other, batch)
        ]
        fresh_may_go = And(Not(retry_waits), Not(Or(*sent_before)))
        if pipeline.deployment.producer.sender.retries_keep_their_place:
            ahead = [other.is_(Fate.BUFFERED) for other in others if is_called_before(pipeline, other, batch)]
            return If(retried, Not(Or(*ahead)), fresh_may_go)
        return self.may_overtake(pipeline, batch, retried, fresh_may_go)

    def may_overtake(
        self, pipeline: Pipeline, batch: Batch, retried: z3.BoolRef, fresh_may_go: z3.BoolRef
    ) -> z3.BoolRef:
        """Tell whether a record may go before what stands before it in the queue, or is in flight.

        An idempotent producer sends a retry only when nothing before it is in flight. It sends no new record while a
        number is in doubt, or while the partition has still to follow a new epoch (semantics 3.4).
        """
        return If(retried, is_first_in_flight(pipeline, batch), self.may_begin(pipeline, fresh_may_go))

    def may_begin(self, pipeline: Pipeline, in_order: z3.BoolRef) -> z3.BoolRef:
        """Tell whether a record goes out that was never sent; ``in_order``: nothing has to go before it."""
        return And(in_order, Not(pipeline.producer.unresolved.is_set))

    def assign_number(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Give the record the next number at its first transmission; retries keep it (semantics 3.1, P2)."""
        assign_sequence(pipeline, effect, batch)

    def forget_request(self, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
        reset_request(effect, batch, when)

    def forget_numbers(self, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
        reset_numbers(effect, batch, when)

    def spend_attempt(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, counts: bool
    ) -> tuple[z3.BoolRef, z3.ArithRef]:
        """Count the attempt where attempts are limited: after the last one the send fails (semantics 3.1, P4)."""
        return count_attempt(pipeline, effect, batch, when, counts=counts)

    def hear_success(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Take the number of a stored record for used, and all numbers before it."""
        assert batch.sequence is not None
        last = pipeline.producer.last_acknowledged
        effect.set_when(batch.sequence.term > last.term, last, batch.sequence.term)

    def acknowledge(self, pipeline: Pipeline, effect: Effect, batch: Batch, leader: Replica) -> None:
        """Learn from the acknowledgement which numbers are used, and drop the number of the record."""
        assert batch.sequence is not None
        self.hear_success(pipeline, effect, batch)
        effect[batch.sequence] = -1
