"""Holes that the cleaner left in a log, and the check that what stood there is rightly gone (semantics 10, D3 D4).

Compaction promises the last value of each key. So a removed record is kept in what replaced it: the same record, or one
that was sent after it, further on in the same log. And a dropped tombstone has done its work where no other record of
its key is left.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from proofka.model.deployment.compaction import Keys
from proofka.model.language.terms import And, If, Not, Or
from proofka.model.state.compaction import DROPPED, REMOVED
from proofka.model.state.pipeline import Pipeline, Replica


def is_removed(replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the cleaner has removed the entry at the offset, which must be below the end of the log."""
    return replica.log.slots[offset][REMOVED].term > 0


def stands(replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether there is a record, or a marker, at the offset."""
    return And(replica.log.has(offset), Not(is_removed(replica, offset)))


def _values(pipeline: Pipeline, replica: Replica) -> list[tuple[z3.BoolRef, ...]]:
    """Return, for each offset, the conditions that its entry is, or was, of a value of its key."""
    return [tuple(pipeline.sending.is_value(pipeline, replica, offset)) for offset in range(replica.log.capacity)]


def is_tombstone(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the entry at the offset deletes, or deleted, its key."""
    assert pipeline.compacted is not None
    batch = replica.log.slots[offset]["batch"].term
    return Or(*(batch == number for number in sorted(pipeline.compacted.tombstones)))


def is_replaced(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the same record, or one that was sent after it, is kept further on in the log."""
    return _kept_from(pipeline, replica, offset)[0][offset]


def _kept_from(
    pipeline: Pipeline, replica: Replica, offset: int
) -> tuple[dict[int, z3.BoolRef], dict[int, z3.BoolRef]]:
    """Return, for each offset from ``offset`` on, whether its entry is replaced further on, and whether it is kept.

    An entry is kept where it stands, where it is replaced, or as a tombstone that has done its work.
    """
    slots, values = replica.log.slots, _values(pipeline, replica)
    kept: dict[int, z3.BoolRef] = {}
    replaced: dict[int, z3.BoolRef] = {}
    for place in range(replica.log.capacity - 1, offset - 1, -1):
        record = pipeline.record_of(slots[place]["batch"].term)
        newer = [
            And(
                replica.log.has(later),
                pipeline.record_of(slots[later]["batch"].term) >= record,
                kept[later],
                *values[later],
            )
            for later in range(place + 1, replica.log.capacity)
            if pipeline.deployment.application.keys is not Keys.DISTINCT
        ]
        replaced[place] = Or(*newer)
        done = _has_done_its_work(replica, place, values)
        kept[place] = Or(Not(is_removed(replica, place)), replaced[place], done)
    return replaced, kept


def has_done_its_work(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether a tombstone was dropped here, and no other record of its key is left in the log."""
    return _has_done_its_work(replica, offset, _values(pipeline, replica))


def _has_done_its_work(replica: Replica, offset: int, values: Sequence[tuple[z3.BoolRef, ...]]) -> z3.BoolRef:
    others = [
        And(replica.log.has(other), Not(is_removed(replica, other)), *values[other])
        for other in range(replica.log.capacity)
        if other != offset
    ]
    return And(is_dropped(replica, offset), Not(Or(*others)))


def is_dropped(replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether a tombstone stood here, and was removed for its age."""
    return replica.log.slots[offset][REMOVED].term == DROPPED


def kept_as(pipeline: Pipeline, replica: Replica, batches: Sequence[int], *, removed: bool = False) -> z3.BoolRef:
    """Tell whether one of these batches stands in the replica's log unaborted, or is rightly gone from it.

    ``removed``: the batch must be gone.
    """
    kept = _kept_from(pipeline, replica, 0)[1]
    return replica.log.some(
        lambda offset, slot: And(
            Or(*(slot["batch"].term == number for number in batches)),
            *((is_removed(replica, offset),) if removed else ()),
            kept[offset],
            *pipeline.sending.is_value(pipeline, replica, offset),
        )
    )


def keeps_record(pipeline: Pipeline, replica: Replica, record: int) -> z3.BoolRef:
    """Tell whether the replica's log has the record and does not abort it, or the record is rightly gone from it."""
    return kept_as(pipeline, replica, [batch.number for batch in pipeline.producer.of_record(record)])


def session_of(pipeline: Pipeline, batch: z3.ArithRef) -> z3.ArithRef:
    """Return the producer session that sent the batch of this number."""
    session = pipeline.producer.batches[0].session.term
    for one in pipeline.producer.batches[1:]:
        session = If(batch == one.number, one.session.term, session)
    return session


def some_removed(leader: Replica, position: z3.ArithRef, count: int) -> z3.BoolRef:
    """Tell whether there is a hole among ``count`` offsets from the position on."""
    return Or(
        *(
            And(position <= offset, position + count > offset, is_removed(leader, offset))
            for offset in range(leader.log.capacity)
        )
    )
