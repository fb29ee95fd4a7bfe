"""Refused sequence numbers with clients before 2.5, or brokers before 2.5 that do not know the producer (3.4, 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import z3

from model.deployment.choices import ProducerId
from model.deployment.sequencing import Unknown
from model.language import Action, Effect, State
from model.sequencing.arrival import accepts, arrives, checked
from model.sequencing.idempotence import bump_epoch, epoch_left, is_renumbered
from model.sequencing.network import complete, fail_attempt
from model.sequencing.producer_ids import (
    attempts_left,
    ends_id_when_given_up,
    is_of_current_id,
    is_tracked,
    numbering_of,
    one_by_one,
    sequence_of,
    start_again,
    take_new_id,
)
from model.state.pipeline import Batch, Fate, Pipeline, Replica
from model.state.wording import record_name


def _refused(pipeline: Pipeline, batch: Batch, leader: Replica, why: z3.BoolRef | None) -> z3.BoolRef:
    assert why is not None
    return z3.And(arrives(pipeline, batch, leader), accepts(pipeline, leader), why)


def _retries_out_of_order(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the client retries a batch refused as out of order: the gap before the batch can still close (3.4).

    That is so if the batch is not the next one due, or has another number by now.
    """
    if one_by_one(pipeline):
        return z3.BoolVal(False)
    renumbered, producer = numbering_of(batch).renumbered, pipeline.producer
    assert renumbered is not None
    not_next = z3.Or(renumbered.is_set, sequence_of(batch) != producer.last_acknowledged.term + 1)
    may_close = z3.And(z3.Not(producer.unresolved.is_set), not_next)
    return z3.And(is_of_current_id(pipeline, batch), attempts_left(pipeline, batch), may_close)


def out_of_order_ends_id(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the refusal means lost data to the client, which takes another producer id (semantics 3.4)."""
    check = checked(pipeline, batch, leader)
    assert check is not None
    refused = _refused(pipeline, batch, leader, check.out_of_order)
    ends = z3.And(is_of_current_id(pipeline, batch), z3.Not(_retries_out_of_order(pipeline, batch)))
    return z3.And(refused, ends)


def refuse_out_of_order(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a batch after a gap: the client retries, or fails the send and takes a new producer id (3.4, 3.5)."""
    check = checked(pipeline, batch, leader)
    assert check is not None
    ends, retries = out_of_order_ends_id(pipeline, batch, leader), _retries_out_of_order(pipeline, batch)
    return _refusal(
        pipeline,
        batch,
        leader,
        ("refuse_out_of_order", "OUT_OF_ORDER_SEQUENCE_NUMBER"),
        (_refused(pipeline, batch, leader, check.out_of_order), retries, ends),
        Effect(),
    )


def _may_start_again(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """Tell whether all records acknowledged with this producer id are below the leader's log start offset.

    Then the client concludes that the broker can have forgotten the producer for that reason (3.4). Where no broker
    forgets what it deletes, the condition is that nothing was acknowledged with this id.
    """
    acknowledged_to = pipeline.producer.acknowledged_to
    if acknowledged_to is not None and leader.log_start is not None:
        return acknowledged_to.term <= leader.log_start.term
    heard = pipeline.producer.heard
    assert heard is not None
    nothing = z3.Not(heard.is_set)
    if pipeline.deployment.application.producer_id is ProducerId.KNOWN:
        goes_on = z3.And(pipeline.producer.session.term == 0, pipeline.producer.epoch.term == 0)
        nothing = z3.And(nothing, z3.Not(goes_on))
    return nothing


def _retries_unknown(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    if one_by_one(pipeline):
        return z3.BoolVal(False)
    renumbered = numbering_of(batch).renumbered
    assert renumbered is not None
    again = z3.Or(renumbered.is_set, _may_start_again(pipeline, leader))
    return z3.And(is_of_current_id(pipeline, batch), attempts_left(pipeline, batch), again)


def unknown_ends_id(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the broker has lost the producer and what it acknowledged: the client takes another id (3.4).

    A client of 0.11 does not know the error, and does nothing about it.
    """
    check = checked(pipeline, batch, leader)
    assert check is not None
    if one_by_one(pipeline):
        return z3.BoolVal(False)
    refused = _refused(pipeline, batch, leader, check.unknown)
    return z3.And(refused, is_of_current_id(pipeline, batch), z3.Not(_retries_unknown(pipeline, batch, leader)))


def refuse_unknown(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a batch of an unknown producer id: the client starts again at 0, or the send fails (3.4, 3.5)."""
    check = checked(pipeline, batch, leader)
    assert check is not None
    retries = _retries_unknown(pipeline, batch, leader)
    effect = Effect()
    renumbered = numbering_of(batch).renumbered
    if renumbered is not None:
        start_again(pipeline, effect, z3.And(retries, z3.Not(renumbered.is_set)))
    return _refusal(
        pipeline,
        batch,
        leader,
        ("refuse_unknown", "UNKNOWN_PRODUCER_ID"),
        (_refused(pipeline, batch, leader, check.unknown), retries, unknown_ends_id(pipeline, batch, leader)),
        effect,
    )


def _refusal(
    pipeline: Pipeline,
    batch: Batch,
    leader: Replica,
    named: tuple[str, str],
    conditions: tuple[z3.BoolRef, z3.BoolRef, z3.BoolRef],
    effect: Effect,
) -> Action:
    """Build a refusal: the batch is retried, or its send fails, which ends the producer id unless that ended before.

    ``named``: the action's name and the error. ``conditions``: the broker refuses, the client retries, the producer id
    ends.
    """
    name, error = named
    refused, retries, ends = conditions
    fail_attempt(pipeline, effect, batch, retries)
    complete(pipeline, effect, batch, Fate.FAILED, z3.Not(retries))
    take_new_id(pipeline, effect, ends)

    def sentence(before: State, after: State) -> str:
        new_id = after[pipeline.producer.epoch.name] > before[pipeline.producer.epoch.name]
        words = f"{leader.name} refuses {record_name(batch)}: {error}"
        words += "; the send fails" if after[batch.fate.name] == Fate.FAILED else ""
        return words + (", and the producer takes a new producer id" if new_id else "")

    return Action(
        name,
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=z3.And(refused, z3.Or(z3.Not(ends), epoch_left(pipeline))),
        updates=effect.updates,
        sentence=sentence,
        semantics="3.4, 3.5",
    )


def bump_for_unknown_due(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether a client from 2.5 on bumps its epoch as a broker before 2.5 does not know the producer (3.4)."""
    check = checked(pipeline, batch, leader)
    assert check is not None
    return z3.And(_refused(pipeline, batch, leader, check.unknown), z3.Not(is_renumbered(pipeline, batch)))


def reject_unknown(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a batch of an unknown producer id: a client from 2.5 on bumps its epoch and retries (3.4, 3.5)."""
    check = checked(pipeline, batch, leader)
    assert check is not None
    bumps, producer = bump_for_unknown_due(pipeline, batch, leader), pipeline.producer
    effect = Effect()
    bump_epoch(pipeline, effect, bumps)
    fail_attempt(pipeline, effect, batch, z3.BoolVal(True))
    return Action(
        "reject_unknown",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=z3.And(_refused(pipeline, batch, leader, check.unknown), z3.Or(z3.Not(bumps), epoch_left(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} refuses {record_name(batch)}: UNKNOWN_PRODUCER_ID"
            + ("; the producer bumps its epoch" if after[producer.epoch.name] > before[producer.epoch.name] else "")
        ),
        semantics="3.4, 3.5",
    )


def resolution_due(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the client gave up on a number, tracks nothing any more, and a number is missing (3.4)."""
    return z3.And(_drained(pipeline), z3.Not(_continues(pipeline)))


def _drained(pipeline: Pipeline) -> z3.BoolRef:
    tracked = [is_tracked(pipeline, batch) for batch in pipeline.producer.batches]
    return z3.And(pipeline.producer.unresolved.is_set, z3.Not(z3.Or(*tracked)))


def _continues(pipeline: Pipeline) -> z3.BoolRef:
    producer = pipeline.producer
    return producer.next_sequence.term == producer.last_acknowledged.term + 1


def resolve_with_new_id(pipeline: Pipeline) -> Action:
    """Resolve the sequence once nothing is tracked: go on if no number is missing, else take a new id (3.4)."""
    producer = pipeline.producer
    continues = _continues(pipeline)
    effect = Effect()
    take_new_id(pipeline, effect, z3.Not(continues))
    effect[producer.unresolved] = False
    return Action(
        "resolve_with_new_id",
        "producer",
        lane="producer",
        arguments={},
        guard=z3.And(_drained(pipeline), z3.Or(continues, epoch_left(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            "the producer takes a new producer id, as it cannot know whether the sequence it gave up on is used"
            if after[producer.epoch.name] > before[producer.epoch.name]
            else "the producer finds that no sequence is missing"
        ),
        semantics="3.4",
    )


def some_do_not_know(pipeline: Pipeline) -> bool:
    """Tell whether brokers answer UNKNOWN_PRODUCER_ID to a producer that they do not know (1.0 to 2.4)."""
    sequencing = pipeline.deployment.producer.sequencing
    return sequencing is not None and sequencing.unknown is Unknown.UNKNOWN_PRODUCER_ID


def new_ids_due(pipeline: Pipeline) -> Iterator[z3.BoolRef]:
    """Yield the conditions under which the client would take another producer id."""
    yield resolution_due(pipeline)
    for batch in pipeline.producer.batches:
        yield z3.And(batch.is_(Fate.BUFFERED), ends_id_when_given_up(pipeline, batch))
    for batch, leader in product(pipeline.producer.batches, pipeline.replicas):
        yield out_of_order_ends_id(pipeline, batch, leader)
        if some_do_not_know(pipeline):
            yield unknown_ends_id(pipeline, batch, leader)


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of refused sequence numbers with a client or brokers before 2.5."""
    if pipeline.deployment.producer.takes_new_ids and not one_by_one(pipeline):
        yield resolve_with_new_id(pipeline)
    for batch, leader in product(pipeline.producer.batches, pipeline.replicas):
        if pipeline.deployment.producer.takes_new_ids:
            yield refuse_out_of_order(pipeline, batch, leader)
        if some_do_not_know(pipeline):
            told = refuse_unknown if pipeline.deployment.producer.takes_new_ids else reject_unknown
            yield told(pipeline, batch, leader)
