"""What the cleaner has left of a log: holes, and whether what stood there is rightly gone (semantics 10, D3 D4).

What compaction promises is the last value of each key. So a record that was removed is kept in what replaced it: the
same record, or one that was sent after it, further on in the same log. And a tombstone that was dropped has done its
work where no other record of its key is left.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from model.compaction.state import DROPPED, REMOVED
from model.deployment.compaction import Keys
from model.state import Pipeline, Replica
from model.transactions.markers import is_aborted, is_marker


def is_removed(replica: Replica, offset: int) -> z3.BoolRef:
    """The cleaner has taken out what stood at the offset; below the end of the log."""
    return replica.log.slots[offset][REMOVED].term > 0


def stands(replica: Replica, offset: int) -> z3.BoolRef:
    """There is a record at the offset, or a marker."""
    return z3.And(replica.log.has(offset), z3.Not(is_removed(replica, offset)))


def of_value(pipeline: Pipeline, replica: Replica, offset: int) -> tuple[z3.BoolRef, ...]:
    """What is to be so of an offset if it is, or was, of a value of its key: markers and aborted records are not."""
    if pipeline.transactions is None:
        return ()
    return (z3.Not(is_marker(pipeline, replica, offset)), z3.Not(is_aborted(pipeline, replica, offset)))


def _values(pipeline: Pipeline, replica: Replica) -> list[tuple[z3.BoolRef, ...]]:
    """The same of every offset."""
    return [of_value(pipeline, replica, offset) for offset in range(replica.log.capacity)]


def is_tombstone(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """What stands or stood at the offset deletes its key."""
    assert pipeline.compacted is not None
    batch = replica.log.slots[offset]["batch"].term
    return z3.Or(*(batch == number for number in sorted(pipeline.compacted.tombstones)))


def is_replaced(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Further on in the log the same record is kept, or one that was sent after it."""
    return _kept_from(pipeline, replica, offset)[0][offset]


def _kept_from(
    pipeline: Pipeline, replica: Replica, offset: int
) -> tuple[dict[int, z3.BoolRef], dict[int, z3.BoolRef]]:
    """From the offset on, whether what stood there is replaced further on, and whether it is kept, there or here."""
    slots, values = replica.log.slots, _values(pipeline, replica)
    kept: dict[int, z3.BoolRef] = {}
    replaced: dict[int, z3.BoolRef] = {}
    for place in range(replica.log.capacity - 1, offset - 1, -1):
        record = pipeline.record_of(slots[place]["batch"].term)
        newer = [
            z3.And(
                replica.log.has(later),
                pipeline.record_of(slots[later]["batch"].term) >= record,
                kept[later],
                *values[later],
            )
            for later in range(place + 1, replica.log.capacity)
            if pipeline.deployment.keys is not Keys.DISTINCT
        ]
        replaced[place] = z3.Or(*newer)
        done = _has_done_its_work(replica, place, values)
        kept[place] = z3.Or(z3.Not(is_removed(replica, place)), replaced[place], done)
    return replaced, kept


def has_done_its_work(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """A tombstone was dropped here, and no other record of its key is left in the log."""
    return _has_done_its_work(replica, offset, _values(pipeline, replica))


def _has_done_its_work(replica: Replica, offset: int, values: Sequence[tuple[z3.BoolRef, ...]]) -> z3.BoolRef:
    others = [
        z3.And(replica.log.has(other), z3.Not(is_removed(replica, other)), *values[other])
        for other in range(replica.log.capacity)
        if other != offset
    ]
    return z3.And(is_dropped(replica, offset), z3.Not(z3.Or(*others)))


def is_dropped(replica: Replica, offset: int) -> z3.BoolRef:
    """A tombstone stood here, and was removed for its age."""
    return replica.log.slots[offset][REMOVED].term == DROPPED


def kept_as(pipeline: Pipeline, replica: Replica, batches: Sequence[int], *, removed: bool = False) -> z3.BoolRef:
    """One of these batches stands in the replica's log, which does not abort it, or is rightly gone from it.

    ``removed``: it is gone.
    """
    kept = _kept_from(pipeline, replica, 0)[1]
    return replica.log.some(
        lambda offset, slot: z3.And(
            z3.Or(*(slot["batch"].term == number for number in batches)),
            *((is_removed(replica, offset),) if removed else ()),
            kept[offset],
            *of_value(pipeline, replica, offset),
        )
    )


def keeps_record(pipeline: Pipeline, replica: Replica, record: int) -> z3.BoolRef:
    """The record stands in the replica's log, which does not abort it, or is rightly gone from it."""
    return kept_as(pipeline, replica, [batch.number for batch in pipeline.producer.of_record(record)])


def session_of(pipeline: Pipeline, batch: z3.ArithRef) -> z3.ArithRef:
    """The producer session that sent the batch of this number."""
    session = pipeline.producer.batches[0].session.term
    for one in pipeline.producer.batches[1:]:
        session = z3.If(batch == one.number, one.session.term, session)
    return session


def some_removed(leader: Replica, position: z3.ArithRef, count: int) -> z3.BoolRef:
    """There is a hole among so many offsets from the position on."""
    return z3.Or(
        *(
            z3.And(position <= offset, position + count > offset, is_removed(leader, offset))
            for offset in range(leader.log.capacity)
        )
    )
