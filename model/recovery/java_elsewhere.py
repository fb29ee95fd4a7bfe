"""Kafka's own client from 2.7.1 on, where another partition of the producer can fail (semantics 3.4).

The producer goes on in a new epoch. This partition follows once nothing with an old number is in flight, and sends
nothing new before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import z3

from proofka.model.deployment.deployment import Deployment
from proofka.model.language import Action, Effect, State, Variable, flag
from proofka.model.language.terms import And, BoolVal, Not
from proofka.model.recovery.elsewhere import NUMBERS_BEGIN_AGAIN, fail_elsewhere
from proofka.model.recovery.java import Java, is_something_numbered
from proofka.model.sequencing.idempotence import epoch_left
from proofka.model.state.kept_numbers import KeptByProducer
from proofka.model.state.pipeline import Pipeline


@dataclass(frozen=True)
class JavaFollowing(Java):
    """The client, whose partition follows the producer's epoch."""

    def declare(self, deployment: Deployment) -> KeptByProducer:
        return KeptByProducer(moved_on=flag("moved_on"))

    def may_begin(self, pipeline: Pipeline, in_order: z3.BoolRef) -> z3.BoolRef:
        """Send no new record while the partition has still to follow."""
        return And(super().may_begin(pipeline, in_order), moved_on(pipeline).term == 0)

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        yield from super().actions(pipeline)
        effect = Effect()
        effect[moved_on(pipeline)] = NUMBERS_BEGIN_AGAIN
        yield fail_elsewhere(pipeline, effect, moved_on(pipeline).term == 0, "bumps its epoch")
        yield self.follow(pipeline)

    def follow(self, pipeline: Pipeline) -> Action:
        """Let this partition go on in the producer's new epoch (semantics 3.4)."""
        producer = pipeline.producer
        effect = Effect()
        effect[producer.epoch] = producer.epoch.term + 1
        effect[moved_on(pipeline)] = 0
        self.number_in_new_epoch(pipeline, effect)
        return Action(
            "follow_epoch",
            "producer",
            lane="producer",
            arguments={},
            guard=And(follow_due(pipeline), epoch_left(pipeline)),
            updates=effect.updates,
            sentence=lambda before, after: (
                f"the producer goes on with this partition in its new epoch, {self.said_of_numbers(pipeline, before)}"
            ),
            semantics="3.4",
        )

    def number_in_new_epoch(self, pipeline: Pipeline, effect: Effect) -> None:
        """Begin at 0 in the epoch that the partition follows to."""
        producer = pipeline.producer
        effect.set_when(BoolVal(True), producer.next_sequence, 0)
        effect.set_when(BoolVal(True), producer.last_acknowledged, -1)

    def said_of_numbers(self, pipeline: Pipeline, before: State) -> str:
        return "from sequence number 0"

    def follows_due(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        yield follow_due(pipeline)


def moved_on(pipeline: Pipeline) -> Variable:
    """Return the variable that says how far the producer's epoch has gone on without this partition."""
    assert pipeline.producer.moved_on is not None
    return pipeline.producer.moved_on


def follow_due(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the producer's epoch has gone on and nothing in flight has a number of the epoch before."""
    return And(moved_on(pipeline).term > 0, Not(is_something_numbered(pipeline)))
