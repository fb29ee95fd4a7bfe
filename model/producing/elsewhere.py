"""The effect on this partition when the same producer fails at another partition (semantics 3.4, 4.1, 4.2).

A producer has one id and one epoch for all its partitions. A failure at one of them can take the producer to a new
epoch or a new id, and so ends the sequence numbers of the other partitions as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from model.deployment.choices import ProducerId
from model.deployment.implied.other_partitions import fails_elsewhere
from model.faults import Fault
from model.language import Action, Effect
from model.sequencing.draining import has_stopped, stop_for_good
from model.sequencing.idempotence import epoch_left
from model.sequencing.producer_ids import take_new_id
from model.state.pipeline import Batch, Fate, Pipeline

NUMBERS_BEGIN_AGAIN = 1
"""The value of ``moved_on`` that says: the producer's epoch has gone on, and this partition follows when none of its
numbered batches is in flight."""

LAST_ONE_SUCCEEDED = 2
"""The value of ``moved_on`` that says in addition: the last numbered batch to end was acknowledged (clients 2.5 to
2.7.0)."""


def fail_elsewhere(pipeline: Pipeline) -> Action:
    """Fail a record of another partition permanently, or as out of order: all partitions get a new epoch (3.4).

    Java's client leaves alone what is in flight here. sarama's begins at 0 again with the next record that it numbers.
    librdkafka waits until nothing is in flight, and then renumbers what waits to be retried, stored or not. franz-go
    goes on in the new epoch, and begins at 0 with the next first record of the row. Clients before 2.5 take a new
    producer id.
    """
    producer, deployment = pipeline.producer, pipeline.deployment
    effect = Effect()
    goes_on = epoch_left(pipeline)
    if deployment.producer.takes_new_ids:
        take_new_id(pipeline, effect, z3.BoolVal(True))
        then = "takes a new producer id"
    elif deployment.producer.rewinds:
        assert producer.moved_on is not None
        effect[producer.epoch] = producer.epoch.term + 1
        effect[producer.moved_on] = NUMBERS_BEGIN_AGAIN
        goes_on = z3.And(goes_on, z3.Not(has_stopped(pipeline)))
        then = "bumps its epoch"
    elif deployment.producer.drains:
        effect[producer.unresolved] = True
        goes_on = z3.Not(z3.Or(has_stopped(pipeline), producer.unresolved.is_set))
        then = "will bump its epoch when nothing is in flight"
    elif deployment.producer.numbers_ahead:
        effect[producer.epoch] = producer.epoch.term + 1
        effect[producer.next_sequence] = 0
        then = "bumps its epoch"
    else:
        assert producer.moved_on is not None
        effect[producer.moved_on] = NUMBERS_BEGIN_AGAIN
        goes_on = producer.moved_on.term == 0
        then = "bumps its epoch"
    return Action(
        "fail_elsewhere",
        "producer",
        lane="producer",
        arguments={},
        guard=z3.And(_has_something_to_send(pipeline), goes_on),
        updates=effect.updates,
        sentence=lambda before, after: f"a record of another partition fails: the producer, the same for both, {then}",
        semantics="3.4, 4.1 to 4.3",
        fault=Fault.FAILURE_ELSEWHERE,
    )


def _has_something_to_send(pipeline: Pipeline) -> z3.BoolRef:
    return z3.Or(*(z3.Or(batch.is_(Fate.UNSENT), batch.incomplete) for batch in pipeline.producer.batches))


def stop_elsewhere(pipeline: Pipeline) -> Action:
    """Refuse another partition's next record due as out of order: a client that drains stops permanently (4.1, 4.3)."""
    effect = Effect()
    stop_for_good(pipeline, effect, z3.BoolVal(True))
    return Action(
        "stop_elsewhere",
        "producer",
        lane="producer",
        arguments={},
        guard=z3.And(_has_something_to_send(pipeline), z3.Not(has_stopped(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            "another partition's next record is refused as out of order: the producer, the same for both, stops "
            "permanently (a fatal error)"
        ),
        semantics="4.1, 4.3",
        fault=Fault.FAILURE_ELSEWHERE,
    )


def follow_due(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the producer's epoch has gone on and nothing in flight has a number of the epoch before."""
    moved_on = pipeline.producer.moved_on
    assert moved_on is not None
    return z3.And(moved_on.term > 0, z3.Not(_is_something_numbered(pipeline)))


def _is_something_numbered(pipeline: Pipeline, but: Batch | None = None) -> z3.BoolRef:
    numbered = [
        z3.And(batch.incomplete, batch.sequence.term >= 0)
        for batch in pipeline.producer.batches
        if batch is not but and batch.sequence is not None
    ]
    return z3.Or(*numbered)


def follow(pipeline: Pipeline) -> Action:
    """Let this partition go on in the producer's new epoch, with numbers from 0 or its old ones (semantics 3.4).

    Clients 2.5 to 2.7.0 keep the old numbers unless the last batch in flight was acknowledged (KAFKA-12152).
    """
    producer, deployment = pipeline.producer, pipeline.deployment
    moved_on = producer.moved_on
    assert moved_on is not None
    again = moved_on.term == LAST_ONE_SUCCEEDED if deployment.producer.sender.keeps_numbers else z3.BoolVal(True)
    effect = Effect()
    effect[producer.epoch] = producer.epoch.term + 1
    effect[moved_on] = 0
    effect.set_when(again, producer.next_sequence, 0)
    effect.set_when(again, producer.last_acknowledged, -1)
    if deployment.producer.sender.keeps_numbers and deployment.application.producer_id is ProducerId.KNOWN:
        # The partition knows the producer, so its first number here is not the first of an epoch.
        first = z3.And(producer.session.term == 0, producer.epoch.term == 0, producer.next_sequence.term == 0)
        effect.set_when(z3.And(z3.Not(again), first), producer.next_sequence, 1)
        effect.set_when(z3.And(z3.Not(again), first), producer.last_acknowledged, 0)
    return Action(
        "follow_epoch",
        "producer",
        lane="producer",
        arguments={},
        guard=z3.And(follow_due(pipeline), epoch_left(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            "the producer goes on with this partition in its new epoch, "
            + (
                "from sequence number 0"
                if not deployment.producer.sender.keeps_numbers or before[moved_on.name] == LAST_ONE_SUCCEEDED
                else "but under its old sequence numbers (KAFKA-12152)"
            )
        ),
        semantics="3.4",
    )


def note_success(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Note a success of the last batch under the old epoch, which makes clients 2.5 to 2.7.0 begin at 0 (3.4)."""
    moved_on = pipeline.producer.moved_on
    if moved_on is not None and pipeline.deployment.producer.sender.keeps_numbers:
        last = z3.And(moved_on.term > 0, z3.Not(_is_something_numbered(pipeline, batch)))
        effect.set_when(last, moved_on, LAST_ONE_SUCCEEDED)


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of failures at another partition, where the deployment names that fault."""
    if not fails_elsewhere(pipeline.deployment):
        return
    deployment = pipeline.deployment
    if not (deployment.producer.rewinds and deployment.producer.sender.stops_on_loss):
        yield fail_elsewhere(pipeline)
    if deployment.producer.drains and (deployment.producer.sender.stops_on_loss or not deployment.producer.rewinds):
        yield stop_elsewhere(pipeline)
    if pipeline.producer.moved_on is not None and not deployment.producer.rewinds:
        yield follow(pipeline)
