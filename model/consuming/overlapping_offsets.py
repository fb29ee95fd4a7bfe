"""Offsets that two transactions in a row have pending at once (semantics 11.3, KAFKA-17507).

When the coordinator comes to apply the offsets of the first transaction, it finds those of the second in their place.
If these are not in its log yet, it drops both. If they are, it applies them, whatever becomes of the second
transaction. A coordinator that is loaded anew has what its log says, which is not modelled.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.consuming.committing import commit
from proofka.model.consuming.consumer import pollable, process_next, records_in_words, stop
from proofka.model.consuming.position import advance
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect
from proofka.model.language.terms import And
from proofka.model.state.outages import note_outage_of_consumer
from proofka.model.state.pending_offsets import Unapplied
from proofka.model.state.pipeline import Pipeline, Replica


def _unapplied(pipeline: Pipeline) -> Unapplied:
    assert pipeline.unapplied is not None
    return pipeline.unapplied


def _overlaps(pipeline: Pipeline, leader: Replica, count: int) -> z3.BoolRef:
    """Tell whether the member has committed a transaction whose offsets can be unapplied when the next ones come."""
    has_committed = _unapplied(pipeline).offset.term >= pipeline.consumer.committed.low
    return And(pollable(pipeline, leader, count), has_committed)


def drop_offsets(pipeline: Pipeline, leader: Replica, count: int) -> Action:
    """Commit the second transaction, while the coordinator drops the offsets of both (semantics 11.3)."""
    unapplied = _unapplied(pipeline)
    effect = Effect()
    process_next(pipeline, effect, leader, count)
    advance(pipeline, effect, leader, count)
    commit(effect, pipeline, unapplied.offset.term, unapplied.epoch.term)
    return Action(
        "drop_offsets",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number, "count": count},
        guard=_overlaps(pipeline, leader, count),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, count)} from {leader.name}, processes "
            f"{'it' if count == 1 else 'them'} and commits results and offsets in a transaction; the offsets come to "
            "the group's coordinator before it has applied those of the transaction before: it drops both "
            f"(KAFKA-17507), and has {_words(after[pipeline.consumer.committed.name])} as committed"
        ),
        semantics="11.3",
    )


def apply_too_soon(pipeline: Pipeline, leader: Replica, count: int) -> Action:
    """Let the coordinator apply the offsets of a transaction that a crash then leaves to be aborted (11.3)."""
    last = pipeline.consumer.position.term + (count - 1)
    effect = Effect()
    commit(effect, pipeline, pipeline.consumer.position.term + count, leader.log.at(last, "epoch"))
    stop(effect, pipeline)
    note_outage_of_consumer(pipeline, effect)
    return Action(
        "apply_too_soon",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number, "count": count},
        guard=_overlaps(pipeline, leader, count),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the consumer polls {records_in_words(pipeline, before, leader, count)} from {leader.name}, sends the "
            "offsets, and crashes before it commits; the group's coordinator treats them as those of the transaction "
            f"before (KAFKA-17507), and has {_words(after[pipeline.consumer.committed.name])} as committed"
        ),
        semantics="11.3",
        fault=Fault.CONSUMER_CRASH,
    )


def _words(committed: int) -> str:
    return f"offset {committed}" if committed >= 0 else "no offset"


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of overlapping offsets, with brokers that apply offsets late."""
    if pipeline.unapplied is None:
        return
    most = min(pipeline.deployment.consumer.max_poll_records, pipeline.deployment.bounds.log)
    for leader in pipeline.replicas:
        for count in range(1, most + 1):
            yield drop_offsets(pipeline, leader, count)
            yield apply_too_soon(pipeline, leader, count)
