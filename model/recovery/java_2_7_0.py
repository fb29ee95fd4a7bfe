"""Kafka's own client from 2.5 to 2.7.0: a failure in another partition does not end its numbers (KAFKA-12152).

After such a failure it continues its old numbers in the new epoch, unless the last record in flight
was acknowledged (semantics 3.4). A broker takes no such number as the first of an epoch.
"""

from __future__ import annotations

from dataclasses import dataclass

import z3

from proofka.model.deployment.choices import ProducerId
from proofka.model.deployment.deployment import Deployment
from proofka.model.language import Effect, State, Variable
from proofka.model.language.terms import And, Not
from proofka.model.recovery.java import Java, is_something_numbered
from proofka.model.recovery.java_elsewhere import JavaFollowing, moved_on
from proofka.model.state.kept_numbers import KeptByProducer
from proofka.model.state.pipeline import Batch, Pipeline, Replica

LAST_ONE_SUCCEEDED = 2
"""The value of ``moved_on`` that says in addition: the last numbered batch to end was acknowledged."""


@dataclass(frozen=True)
class Java270(Java):
    """The client from 2.5 to 2.7.0, as long as no other partition fails."""

    suffers_elsewhere = True


@dataclass(frozen=True)
class JavaKeepingNumbers(JavaFollowing):
    """The client from 2.5 to 2.7.0, where another partition can fail."""

    suffers_elsewhere = True

    def numbers_skipped(self, deployment: Deployment) -> int:
        """Return 1: the partition can go on in a new epoch without the first number of the old one."""
        return 1

    def declare(self, deployment: Deployment) -> KeptByProducer:
        return KeptByProducer(moved_on=Variable("moved_on", 0, LAST_ONE_SUCCEEDED, 0))

    def acknowledge(self, pipeline: Pipeline, effect: Effect, batch: Batch, leader: Replica) -> None:
        """Note too a success of the last record under the old epoch, which makes the client begin at 0."""
        super().acknowledge(pipeline, effect, batch, leader)
        last = And(moved_on(pipeline).term > 0, Not(is_something_numbered(pipeline, batch)))
        effect.set_when(last, moved_on(pipeline), LAST_ONE_SUCCEEDED)

    def bumps_after_failure(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        """Bump no epoch of this partition while it has still to follow another one."""
        return And(super().bumps_after_failure(pipeline, batch), moved_on(pipeline).term == 0)

    def number_in_new_epoch(self, pipeline: Pipeline, effect: Effect) -> None:
        """Begin at 0 only if the last record in flight was acknowledged."""
        producer = pipeline.producer
        again = moved_on(pipeline).term == LAST_ONE_SUCCEEDED
        effect.set_when(again, producer.next_sequence, 0)
        effect.set_when(again, producer.last_acknowledged, -1)
        if pipeline.deployment.application.producer_id is ProducerId.KNOWN:
            # The partition knows the producer, so its first number here is not the first of an epoch.
            first = And(producer.session.term == 0, producer.epoch.term == 0, producer.next_sequence.term == 0)
            effect.set_when(And(Not(again), first), producer.next_sequence, 1)
            effect.set_when(And(Not(again), first), producer.last_acknowledged, 0)

    def said_of_numbers(self, pipeline: Pipeline, before: State) -> str:
        if before[moved_on(pipeline).name] == LAST_ONE_SUCCEEDED:
            return super().said_of_numbers(pipeline, before)
        return "but under its old sequence numbers (KAFKA-12152)"
