"""franz-go's idempotent producer, where another of its partitions can fail (semantics 4.3).

The producer goes on in a new epoch. The first record of the row, when it is sent next, begins there with number 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import z3

from proofka.model.deployment.deployment import Deployment
from proofka.model.language import Action, Effect, Variable, flag
from proofka.model.language.terms import And, Not, Or
from proofka.model.recovery.elsewhere import NUMBERS_BEGIN_AGAIN, fail_elsewhere
from proofka.model.recovery.franz_go import FranzGo, FranzGoStopping
from proofka.model.sequencing.arrival import has_numbers_sent
from proofka.model.sequencing.idempotence import epoch_left, numbers_sent
from proofka.model.state.kept_numbers import KeptByProducer
from proofka.model.state.pipeline import Batch, Pipeline


@dataclass(frozen=True)
class FranzGoBeginningAgain(FranzGo):
    """The client: its epoch can have gone on since a request was sent."""

    def declare(self, deployment: Deployment) -> KeptByProducer:
        """Keep too that the epoch has gone on."""
        return replace(super().declare(deployment), moved_on=flag("moved_on"))

    def start_transmitting(self, pipeline: Pipeline, effect: Effect, batch: Batch, epoch: z3.ArithRef) -> None:
        super().start_transmitting(pipeline, effect, batch, epoch)
        begin_again(pipeline, effect, batch)

    def keep_request(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Keep the request's numbers: a failure in another partition can change those of the record."""
        assert batch.sent_epoch is not None and batch.sent_sequence is not None
        effect[batch.sent_epoch] = batch.sent_epoch.term
        effect[batch.sent_sequence] = batch.sent_sequence.term

    def is_copy(self, pipeline: Pipeline, batch: Batch, slot: Mapping[str, Variable], itself: z3.BoolRef) -> z3.BoolRef:
        """Tell whether the entry has the numbers of the request, which another record can have had."""
        return has_numbers_sent(pipeline, batch, slot)

    def is_heeded(self, pipeline: Pipeline, batch: Batch, first: z3.BoolRef) -> z3.BoolRef:
        """Heed an answer only of the current epoch."""
        epoch, _ = numbers_sent(pipeline, batch)
        return And(first, epoch == pipeline.producer.epoch.term)

    def actions(self, pipeline: Pipeline) -> Iterator[Action]:
        """Yield the failures at another partition: the client goes on in a new epoch (4.3)."""
        producer = pipeline.producer
        effect = Effect()
        effect[producer.epoch] = producer.epoch.term + 1
        effect[producer.moved_on] = NUMBERS_BEGIN_AGAIN
        goes_on = And(epoch_left(pipeline), Not(self.has_stopped(pipeline)))
        yield fail_elsewhere(pipeline, effect, goes_on, "bumps its epoch")


@dataclass(frozen=True)
class FranzGoStoppingElsewhere(FranzGoStopping, FranzGoBeginningAgain):
    """The client that stops permanently when it takes data for lost, in whichever partition."""


def begin_again(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Begin at 0 with the first record of the row, if another partition's failure has begun a new epoch (4.3).

    A record behind one in flight is sent in the new epoch under the number that follows.
    """
    producer = pipeline.producer
    assert producer.moved_on is not None and batch.sequence is not None
    before = [
        And(other.incomplete, sequence.term >= 0, Or(batch.sequence.term < 0, sequence.term < batch.sequence.term))
        for other, sequence in producer.numbered(but=batch)
    ]
    begins = And(producer.moved_on.is_set, Not(Or(*before)))
    for _, sequence in producer.numbered(but=batch):
        effect.set_when(begins, sequence, -1)
    effect.set_when(begins, batch.sequence, 0)
    effect.set_when(begins, batch.sent_sequence, 0)
    effect.set_when(begins, producer.next_sequence, 1)
    effect.set_when(begins, producer.moved_on, 0)
