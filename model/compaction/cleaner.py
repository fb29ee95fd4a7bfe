"""The cleaner of each broker: it keeps the last record of a key, and drops tombstones after a while (10, D3 D4).

Each broker cleans its own log. What the cleaner waits for (a finished segment, a high enough dirty ratio) is there at
any time, or never: records of other keys, which are not shown, finish segments (docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.compaction.aborted import is_decided, pass_markers
from proofka.model.deployment.compaction import Keys
from proofka.model.deployment.implied.cleaning import drops_tombstones
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, Not, Or
from proofka.model.log.holes import is_removed, is_tombstone, stands
from proofka.model.log.markers import is_marker, is_taken_for_aborted
from proofka.model.log.unserved import note_unserved
from proofka.model.state.compaction import DROPPED, REMOVED, REPLACED, Compacted
from proofka.model.state.pipeline import Batch, Pipeline, Replica
from proofka.model.state.taking_part import while_it_takes_part
from proofka.model.state.wording import entry_name, record_name


def may_be_cleaned(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the cleaner can look at the offset: from 3.1 on it must be committed (semantics 10, D3).

    From 3.1 on nobody sees what the cleaner takes out of a follower's log before the follower leads, and the cleaner
    can as well run then.
    """
    compaction = pipeline.deployment.cluster.compaction
    assert compaction is not None
    if pipeline.transactions is not None:
        return And(is_decided(pipeline, replica, offset), _is_told_of(pipeline, replica, offset))
    if compaction.below_high_watermark:
        return And(replica.presumes_leadership, replica.high_watermark.term > offset)
    return And(replica.up.is_set, replica.log.end.term > offset)


def _is_told_of(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the cleaner treats the entry at the offset as a committed record."""
    aborted = is_taken_for_aborted(pipeline, replica, offset)
    return Not(Or(is_marker(pipeline, replica, offset), aborted))


def compact(pipeline: Pipeline, compacted: Compacted, replica: Replica, last: int, batch: Batch | None) -> Action:
    """Remove all that the record at ``last`` replaces: what has its key and stands before it (10, D3).

    All transactions before it have been decided: what was aborted goes as well (D6). ``batch`` is the record at
    ``last`` where its age matters.
    """
    before_it = range(last)
    effect = Effect()
    something_to_do = []
    for offset in before_it:
        replaced = Not(is_removed(replica, offset))
        for marker in pipeline.sending.is_marker(pipeline, replica, offset):
            replaced = And(replaced, Not(marker))
        effect.set_when(replaced, replica.log.slots[offset][REMOVED], REPLACED)
        something_to_do.append(replaced)
    pass_markers(pipeline, effect, replica, last)
    if compacted.marked is not None:
        deletes = is_tombstone(pipeline, replica, last)
        effect.set_when(deletes, compacted.marked, 1)
        something_to_do.append(And(deletes, Not(compacted.marked.is_set)))
    note_unserved(pipeline, effect)
    conditions = [may_be_cleaned(pipeline, replica, last), stands(replica, last), Or(*something_to_do)]
    arguments = {"broker": replica.number, "last": last}
    if batch is not None:
        conditions.append(replica.log.slots[last]["batch"].term == batch.number)
        arguments["batch"] = batch.number
    due = And(*conditions)

    def sentence(before: State, after: State) -> str:
        slots = replica.log.slots
        gone = [one for one in before_it if before[slots[one][REMOVED].name] != after[slots[one][REMOVED].name]]
        names = ", ".join(entry_name(pipeline, before, replica, offset) for offset in gone)
        by = entry_name(pipeline, before, replica, last)
        if before[slots[last]["batch"].name] in compacted.tombstones:
            by += ", a tombstone,"
        if not gone:
            return f"the cleaner of {replica.name} passes over {by} and keeps it for delete.retention.ms"
        return f"the cleaner of {replica.name} removes {names}: {by} has the same key and stands behind"

    return Action(
        "compact",
        replica.name,
        lane="brokers",
        arguments=arguments,
        guard=while_it_takes_part(pipeline, replica, due) if batch is None else due,
        updates=effect.updates,
        sentence=sentence,
        semantics="10 D3",
    )


def _is_no_record(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the entry at the offset is removed, or a marker."""
    gone = is_removed(replica, offset)
    for marker in pipeline.sending.is_marker(pipeline, replica, offset):
        gone = Or(gone, marker)
    return gone


def drop_tombstone(pipeline: Pipeline, replica: Replica, offset: int, batch: Batch) -> Action:
    """Drop a tombstone kept for delete.retention.ms; what it deletes is gone by then (10, D4).

    From 3.1 on the cleaner has passed over the tombstone before: that is when the time began.
    """
    assert pipeline.compacted is not None
    marked = pipeline.compacted.marked
    passed_over = [] if marked is None else [marked.is_set]
    effect = Effect()
    effect[replica.log.slots[offset][REMOVED]] = DROPPED
    it_is_this = replica.log.slots[offset]["batch"].term == batch.number
    nothing_before = [_is_no_record(pipeline, replica, earlier) for earlier in range(offset)]
    return Action(
        "drop_tombstone",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number, "offset": offset, "batch": batch.number},
        guard=And(
            may_be_cleaned(pipeline, replica, offset),
            stands(replica, offset),
            it_is_this,
            *passed_over,
            *nothing_before,
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the cleaner of {replica.name} drops {record_name(batch)}, a tombstone that it has kept for "
            f"delete.retention.ms"
        ),
        semantics="10 D4",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of cleaners that remove records."""
    compacted = pipeline.compacted
    if compacted is None or pipeline.deployment.application.keys is Keys.DISTINCT:
        return
    waits = pipeline.deployment.durations.compaction_lag.least > 0
    for replica in pipeline.replicas:
        for offset in range(replica.log.capacity):
            if offset > 0 or compacted.marked is not None:
                for batch in pipeline.producer.batches if waits else (None,):
                    yield compact(pipeline, compacted, replica, offset, batch)
            if drops_tombstones(pipeline.deployment):
                for tombstone in sorted(compacted.tombstones):
                    yield drop_tombstone(pipeline, replica, offset, pipeline.producer.batches[tombstone])
