"""Kafka's own client of 0.11, without transactions: one record at a time has a number (semantics 3.4).

A record that fails leaves its number to the next one, which brokers take for its retry where they have stored it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import z3

from proofka.model.deployment.deployment import Deployment
from proofka.model.language import Action, Effect, Variable
from proofka.model.language.terms import And, BoolVal
from proofka.model.recovery.java_before_2_5 import JavaBefore25, sequence_of, take_new_id
from proofka.model.sequencing.network import complete
from proofka.model.state.kept_numbers import KeptByProducer
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica


@dataclass(frozen=True)
class Java011(JavaBefore25):
    """The client of 0.11: one request in flight, and only an acknowledgement uses a number up (semantics 3.4).

    It retries no record that is refused for its number, and does not know the error UNKNOWN_PRODUCER_ID.
    """

    def declare_renumbered(self, name: str) -> Variable | None:
        """Declare nothing: no number changes."""
        return None

    def declare(self, deployment: Deployment) -> KeptByProducer:
        """Keep nothing: the client does not know the error of an unknown producer."""
        return KeptByProducer()

    def uses_up_number(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Keep no number: the next record gets the next one."""

    def leave_gap(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, out_of_retries: bool
    ) -> None:
        """Give a failed record's number to the next one."""
        used = And(when, sequence_of(batch) >= 0, pipeline.producer.next_sequence.term > 0)
        effect.set_when(used, pipeline.producer.next_sequence, pipeline.producer.next_sequence.term - 1)

    def fail_permanently(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, *, fenced: bool
    ) -> tuple[z3.BoolRef, ...]:
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
        return ()

    def ends_id_when_given_up(self, batch: Batch) -> z3.BoolRef:
        return batch.retries.term > 0

    def doubt_number(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Take a new producer id after a retry was given up on."""
        take_new_id(pipeline, effect, self.ends_id_when_given_up(batch))

    def retries_out_of_order(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        return BoolVal(False)

    def retries_unknown(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
        return BoolVal(False)

    def unknown_ends_id(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
        return BoolVal(False)

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        yield from self.answers(pipeline)
