"""A consumer and holes: it goes on behind them, and can miss permanently what stood there (10, D3 D4)."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.consuming.committing import committing
from proofka.model.consuming.consumer import is_fetched, unprocessed
from proofka.model.consuming.position import advance
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.log.holes import has_done_its_work, is_dropped, is_removed, is_replaced
from proofka.model.log.visibility import end_of_reading
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.wording import entry_name


def is_no_loss(pipeline: Pipeline, leader: Replica, offset: int) -> z3.BoolRef:
    """Tell whether a group misses nothing by the hole: a replacement is there, or what a tombstone deletes was unread.

    That the key had a value before the followed records is not assumed, unless there are none before. A group that
    always has enough time to read does not miss a dropped tombstone either (docs/semantics.md).
    """
    had_it = [Not(unprocessed(pipeline, record)) for record in range(pipeline.deployment.bounds.records - 1)]
    nobody_had_it = Not(Or(*had_it)) if had_it else BoolVal(False)
    replaced = And(is_removed(leader, offset), is_replaced(pipeline, leader, offset))
    needless = And(has_done_its_work(pipeline, leader, offset), nobody_had_it)
    return Or(replaced, needless, And(is_dropped(leader, offset), _was_served(pipeline)))


def was_passed_rightly(pipeline: Pipeline, leader: Replica, offset: int, record: int) -> z3.BoolRef:
    """Tell whether the group went past the record where a cleaner had rightly removed it, and this log confirms that.

    What replaced the record there can be lost: then this is the last value of its key again. A tombstone replaces
    nothing.
    """
    assert pipeline.compacted is not None
    passed = pipeline.compacted.passed
    if record >= len(passed):
        return BoolVal(False)
    if record == pipeline.deployment.bounds.records - 1:
        return passed[record].is_set
    return And(passed[record].is_set, is_replaced(pipeline, leader, offset))


def _was_served(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether no outage of brokers kept the consumer from a tombstone for the time that it is kept at least."""
    assert pipeline.compacted is not None
    unserved = pipeline.compacted.unserved
    return BoolVal(False) if unserved is None else Not(unserved.is_set)


def pass_hole(pipeline: Pipeline, leader: Replica) -> Action:
    """Move the position over an offset from which the cleaner removed a record (semantics 10, D3 D4).

    The consumer is given a record of another key, which is not shown. So what it commits covers the hole too.
    """
    consumer, compacted = pipeline.consumer, pipeline.compacted
    assert compacted is not None
    position = consumer.position.term
    effect = Effect()
    advance(pipeline, effect, leader, 1)
    committing(pipeline).commit_polled(pipeline, effect)
    for record, passed in enumerate(compacted.passed):
        rightly = [
            And(
                position == offset,
                pipeline.record_of(slot["batch"].term) == record,
                is_no_loss(pipeline, leader, offset),
            )
            for offset, slot in enumerate(leader.log.slots)
        ]
        effect.set_when(And(unprocessed(pipeline, record), Or(*rightly)), passed, 1)
    at_hole = [And(position == offset, is_removed(leader, offset)) for offset in range(leader.log.capacity)]
    readable = And(position < end_of_reading(pipeline, leader), Or(*at_hole))

    def sentence(before: State, after: State) -> str:
        offset = before[consumer.position.name]
        return (
            f"the consumer reads on behind offset {offset} of {leader.name}, where the cleaner left nothing of "
            f"{entry_name(pipeline, before, leader, offset)}"
        )

    return Action(
        "pass_hole",
        "consumer",
        lane="consumer",
        arguments={"leader": leader.number},
        guard=is_fetched(pipeline, leader, readable),
        updates=effect.updates,
        sentence=sentence,
        semantics="10 D3 D4",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions by which a consumer gets past what was removed."""
    if pipeline.compacted is not None:
        for leader in pipeline.replicas:
            yield pass_hole(pipeline, leader)
