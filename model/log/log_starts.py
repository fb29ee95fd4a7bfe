"""Log start offsets of single brokers, and the producers that one before 2.5 forgets with its records (3.5, 10 D1).

Each broker deletes old records by itself. With what it fetches, a follower takes over its leader's log start offset.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import z3

from model.deployment.sequencing import Forgets
from model.language import Action, Effect, State
from model.language.logs import Slot
from model.language.terms import And, If, IntVal, Not, Or
from model.log.id_expiry import numbers_will_be_asked_for
from model.state.kept_numbers import FORGOTTEN
from model.state.pipeline import Batch, Pipeline, Replica
from model.state.wording import record_name


def start_for_readers(pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
    """Return the first offset that a consumer can read of this leader; former leaders can have deleted less."""
    assert pipeline.log_start is not None
    start = pipeline.log_start.term
    if leader.log_start is None:
        return start
    return If(leader.log_start.term > start, leader.log_start.term, start)


def delete_up_to(pipeline: Pipeline, effect: Effect, replica: Replica, start: z3.ArithRef) -> None:
    """Raise the broker's log start offset to ``start``, if that is higher (``Log.maybeIncrementLogStartOffset``).

    Up to 2.3 the broker then forgets each producer whose last record is below ``start``
    (``ProducerStateManager.truncateHead``), and nothing of a producer that has a record left.
    """
    if replica.log_start is None:
        return
    effect.set_when(start > replica.log_start.term, replica.log_start, start)
    sequencing = pipeline.deployment.producer.sequencing
    if sequencing is None or sequencing.forgets is not Forgets.WITH_ITS_RECORDS:
        return
    for offset, slot in enumerate(replica.log.slots):
        left = [
            And(effect[replica.log.end] > later, start <= later, _of_one_producer(pipeline, effect, slot, other))
            for later, other in enumerate(replica.log.slots)
            if later > offset
        ]
        gone = And(effect[replica.log.end] > offset, start > offset, Not(Or(*left)))
        effect.set_when(gone, slot[FORGOTTEN], 1)


def _of_one_producer(pipeline: Pipeline, effect: Effect, one: Slot, other: Slot) -> z3.BoolRef:
    """Tell whether the entries of the two slots were sent under the same producer id."""
    batches = pipeline.producer.batches
    same = Or(
        *(
            And(effect[one["batch"]] == batch.number, pipeline.producer.shares_id(effect[other["batch"]], batch))
            for batch in batches
        )
    )
    return pipeline.recovery.is_of_one_id(same, effect[one["producer_epoch"]], effect[other["producer_epoch"]])


def take_over_start(pipeline: Pipeline, effect: Effect, follower: Replica, leader: Replica) -> None:
    """Take over the leader's log start offset, which a follower learns with what it fetches (semantics 6.1, R3)."""
    if leader.log_start is None:
        return
    end, start = effect[follower.log.end], leader.log_start.term
    delete_up_to(pipeline, effect, follower, If(start < end, start, end))


def forget_deleted(effect: Effect, replica: Replica) -> None:
    """Make a broker that starts forget the producers of what is below its log start offset (semantics 3.5).

    It deletes snapshots from before that offset (``ProducerStateManager.truncateAndReload``), and reads the log from
    there.
    """
    if replica.log_start is None:
        return
    effect.set_when(replica.log_start.term > 0, replica.knows_producer, 0)
    for offset, slot in enumerate(replica.log.slots):
        effect.set_when(And(replica.log.has(offset), replica.log_start.term > offset), slot[FORGOTTEN], 1)


def forgets_in_words(replica: Replica, before: State, after: State) -> str:
    """Return the words for a step in which the broker forgot numbers of entries in its log; empty if it did not."""
    known = [slot[FORGOTTEN] for slot in replica.log.slots] if replica.log_start is not None else []
    forgets = any(after[one.name] > before[one.name] for one in known)
    return ", and knows nothing of its producer any more" if forgets else ""


def expire_by_itself(pipeline: Pipeline, replica: Replica, offset: int, batch: Batch) -> Action:
    """Let a broker that no consumer reads delete its first record when that is old enough (semantics 10, D1)."""
    log_start = replica.log_start
    assert log_start is not None and pipeline.log_start is not None
    effect = Effect()
    delete_up_to(pipeline, effect, replica, IntVal(offset + 1))
    for_readers = And(pipeline.serves(replica), pipeline.log_start.term <= offset)
    return Action(
        "expire_by_itself",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number, "offset": offset, "batch": batch.number},
        guard=And(
            replica.up.is_set,
            log_start.term == offset,
            replica.high_watermark.term > offset,
            replica.log.slots[offset]["batch"].term == batch.number,
            Not(for_readers),
            numbers_will_be_asked_for(pipeline),
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{replica.name} deletes its {record_name(batch)} at offset {offset}, which is older than retention.ms"
            + forgets_in_words(replica, before, after)
        ),
        semantics="3.5, 10 D1",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield, for every broker, its own deletions, where its remaining records matter."""
    for replica, batch in product(pipeline.replicas, pipeline.producer.batches):
        if replica.log_start is not None:
            for offset in range(replica.log.capacity):
                yield expire_by_itself(pipeline, replica, offset, batch)
