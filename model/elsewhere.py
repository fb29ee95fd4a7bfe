"""What becomes of this partition when the same producer fails at another one (semantics 3.4, 4.1, 4.2).

A producer has one id and one epoch for all its partitions. What it cannot get over at one of them takes it to a new
epoch, or to a new id, and so ends the sequence numbers of the others as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from model.deployment.choices import ProducerId
from model.draining import has_stopped, stop_for_good
from model.faults import Fault
from model.idempotence import epoch_left
from model.language import Action, Effect
from model.producer_ids import take_new_id
from model.state import Batch, Fate, Pipeline

NUMBERS_BEGIN_AGAIN = 1
"""The epoch has gone on: this partition follows when nothing that it has numbered is in flight."""

LAST_ONE_SUCCEEDED = 2
"""The same, and of what was numbered before the last to be over was acknowledged (clients 2.5 to 2.7.0)."""


def fail_elsewhere(pipeline: Pipeline) -> Action:
    """A record of another partition fails for good, or is out of order there: a new epoch, for all partitions (3.4).

    Java's client leaves alone what is in flight here. sarama's begins at 0 again with what it numbers next. librdkafka
    waits until nothing is in flight, and then numbers anew what waits to be retried, stored or not. franz-go goes on in
    the new epoch, and begins at 0 with the next first record of the row. Clients before 2.5 take a new producer id.
    """
    producer, deployment = pipeline.producer, pipeline.deployment
    effect = Effect()
    goes_on = epoch_left(pipeline)
    if deployment.takes_new_ids:
        take_new_id(pipeline, effect, z3.BoolVal(True))
        then = "takes a new producer id"
    elif deployment.rewinds:
        assert producer.moved_on is not None
        effect[producer.epoch] = producer.epoch.term + 1
        effect[producer.moved_on] = NUMBERS_BEGIN_AGAIN
        goes_on = z3.And(goes_on, z3.Not(has_stopped(pipeline)))
        then = "bumps its epoch"
    elif deployment.drains:
        effect[producer.unresolved] = True
        goes_on = z3.Not(z3.Or(has_stopped(pipeline), producer.unresolved.is_set))
        then = "will bump its epoch when nothing is in flight"
    elif deployment.numbers_ahead:
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
    """The next record due of another partition is out of order: a client that drains stops for good (4.1, 4.3)."""
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
            "another partition's next record is refused as out of order: the producer, the same for both, stops for "
            "good (a fatal error)"
        ),
        semantics="4.1, 4.3",
        fault=Fault.FAILURE_ELSEWHERE,
    )


def follow_due(pipeline: Pipeline) -> z3.BoolRef:
    """The epoch has gone on, and nothing is in flight that has a number of the one before."""
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
    """The partition goes on in the producer's epoch: its numbers begin at 0 again, or do not (semantics 3.4).

    Clients 2.5 to 2.7.0 keep to the old ones unless something in flight was acknowledged last (KAFKA-12152).
    """
    producer, deployment = pipeline.producer, pipeline.deployment
    moved_on = producer.moved_on
    assert moved_on is not None
    again = moved_on.term == LAST_ONE_SUCCEEDED if deployment.sender.keeps_numbers else z3.BoolVal(True)
    effect = Effect()
    effect[producer.epoch] = producer.epoch.term + 1
    effect[moved_on] = 0
    effect.set_when(again, producer.next_sequence, 0)
    effect.set_when(again, producer.last_acknowledged, -1)
    if deployment.sender.keeps_numbers and deployment.producer_id is ProducerId.KNOWN:
        # The first number of a producer that the partition knows is none that an epoch begins with.
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
                if not deployment.sender.keeps_numbers or before[moved_on.name] == LAST_ONE_SUCCEEDED
                else "but under its old sequence numbers (KAFKA-12152)"
            )
        ),
        semantics="3.4",
    )


def note_success(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """A success of the last that is in flight under the old epoch makes clients 2.5 to 2.7.0 begin at 0 (3.4)."""
    moved_on = pipeline.producer.moved_on
    if moved_on is not None and pipeline.deployment.sender.keeps_numbers:
        last = z3.And(moved_on.term > 0, z3.Not(_is_something_numbered(pipeline, batch)))
        effect.set_when(last, moved_on, LAST_ONE_SUCCEEDED)


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """What comes of another partition's failure, where one is asked about."""
    if not pipeline.deployment.fails_elsewhere:
        return
    deployment = pipeline.deployment
    if not (deployment.rewinds and deployment.sender.stops_on_loss):
        yield fail_elsewhere(pipeline)
    if deployment.drains and (deployment.sender.stops_on_loss or not deployment.rewinds):
        yield stop_elsewhere(pipeline)
    if pipeline.producer.moved_on is not None and not deployment.rewinds:
        yield follow(pipeline)
