"""A client that waits until nothing is in flight before it recovers (librdkafka and franz-go; semantics 4.1, 4.3).

It bumps its epoch only then, and a fatal error stops it permanently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import z3

from proofka.model.deployment.choices import ProducerId
from proofka.model.deployment.deployment import Deployment
from proofka.model.language import Action, Effect, flag
from proofka.model.language.terms import And, Not, Or
from proofka.model.recovery.accumulator import Accumulator
from proofka.model.sequencing.idempotence import epoch_left
from proofka.model.sequencing.network import complete
from proofka.model.state.kept_numbers import KeptByProducer
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica


class Drains(Accumulator):
    """A client that waits until nothing is in flight."""

    suffers_elsewhere = retries_at_any_time = True
    wants_to_wait: bool
    """The client waits from the beginning of an epoch: until a leader has answered, one request is in flight."""

    def declare(self, deployment: Deployment) -> KeptByProducer:
        """Declare what the client keeps. The leader has answered a producer whose id the partition knows."""
        is_new = deployment.application.producer_id is ProducerId.NEW
        return KeptByProducer(draining=flag("draining", self.wants_to_wait and is_new), fatal=flag("fatal"))

    def has_stopped(self, pipeline: Pipeline) -> z3.BoolRef:
        """Tell whether a fatal error was raised: the producer sends nothing any more."""
        assert pipeline.producer.fatal is not None
        return pipeline.producer.fatal.is_set

    def may_go_to(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> Iterator[z3.BoolRef]:
        yield self.has_drained(pipeline, batch, leader)

    def has_drained(self, pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
        """Tell whether nothing keeps the client from sending: no fatal error, epoch bump due, or batch to wait for.

        The client waits for everything in flight before it retries, and for what is in flight to another leader.
        """
        producer = pipeline.producer
        assert producer.draining is not None
        others = [other for other in producer.batches if other is not batch]
        elsewhere = Or(*(And(other.in_flight, other.target.term != leader.number) for other in others))
        waits = And(producer.draining.is_set, _is_something_in_flight(pipeline))
        return Not(Or(self.has_stopped(pipeline), producer.unresolved.is_set, waits, elsewhere))

    def expect_retry(
        self, pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, answered: bool
    ) -> None:
        """Wait until nothing is in flight before the retry."""
        assert pipeline.producer.draining is not None
        effect.set_when(when, pipeline.producer.draining, 1)

    def stop_for_good(self, pipeline: Pipeline, effect: Effect, when: z3.BoolRef) -> None:
        """Raise a fatal error: queued records fail; requests in flight can still be answered (semantics 4.1)."""
        assert pipeline.producer.fatal is not None
        for batch in pipeline.producer.batches:
            complete(pipeline, effect, batch, Fate.FAILED, And(when, batch.is_(Fate.BUFFERED)))
        effect.set_when(when, pipeline.producer.fatal, 1)

    def actions_after_stop(
        self, pipeline: Pipeline, batch: Batch, refuse: Callable[[Pipeline, Batch], Action]
    ) -> Iterator[Action]:
        yield refuse(pipeline, batch)

    def actions_at_rest(self, pipeline: Pipeline) -> Iterator[Action]:
        yield self.bump_when_drained(pipeline)

    def bumps_due(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        yield self.bump_due(pipeline)

    def bump_due(self, pipeline: Pipeline) -> z3.BoolRef:
        """Tell whether an epoch bump is wanted and nothing is in flight any more."""
        wanted = And(pipeline.producer.unresolved.is_set, Not(self.has_stopped(pipeline)))
        return And(wanted, Not(_is_something_in_flight(pipeline)))

    def bump_when_drained(self, pipeline: Pipeline) -> Action:
        """Bump the producer epoch once nothing is in flight; the next record sent gets the number 0 (4.1)."""
        producer = pipeline.producer
        effect = Effect()
        effect[producer.epoch] = producer.epoch.term + 1
        effect[producer.next_sequence] = 0
        effect[producer.last_acknowledged] = -1
        effect[producer.unresolved] = False
        effect.reset(producer.moved_on)
        assert producer.draining is not None
        effect[producer.draining] = self.wants_to_wait
        for _, sequence in producer.numbered():
            effect[sequence] = -1
        return Action(
            "bump_when_drained",
            "producer",
            lane="producer",
            arguments={},
            guard=And(self.bump_due(pipeline), epoch_left(pipeline)),
            updates=effect.updates,
            sentence=lambda before, after: "the producer bumps its epoch, now that nothing is in flight",
            semantics="4.1",
        )


def _is_something_in_flight(pipeline: Pipeline) -> z3.BoolRef:
    return Or(*(batch.in_flight for batch in pipeline.producer.batches))
