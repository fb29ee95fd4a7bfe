"""What the cleaner has left of a log: holes, and whether what stood there is rightly gone (semantics 10, D3 D4).

What compaction promises is the last value of each key. So a record that was removed is kept in what replaced it: the
same record, or one that was sent after it, further on in the same log. And a tombstone that was dropped has done its
work where no other record of its key is left.
"""

from __future__ import annotations

import z3

from model.compaction.state import DROPPED, REMOVED
from model.state import Pipeline, Replica


def is_removed(replica: Replica, offset: int) -> z3.BoolRef:
    """The cleaner has taken out what stood at the offset; below the end of the log."""
    return replica.log.slots[offset][REMOVED].term > 0


def stands(replica: Replica, offset: int) -> z3.BoolRef:
    """There is a record at the offset."""
    return z3.And(replica.log.has(offset), z3.Not(is_removed(replica, offset)))


def is_tombstone(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """What stands or stood at the offset deletes its key."""
    assert pipeline.compacted is not None
    batch = replica.log.slots[offset]["batch"].term
    return z3.Or(*(batch == number for number in sorted(pipeline.compacted.tombstones)))


def is_replaced(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Further on in the log the same record is kept, or one that was sent after it."""
    return _kept_from(pipeline, replica, offset)[0]


def _kept_from(pipeline: Pipeline, replica: Replica, offset: int) -> tuple[z3.BoolRef, z3.BoolRef]:
    """Whether what stood at the offset is replaced further on, and whether it is kept, there or here."""
    slots = replica.log.slots
    kept: dict[int, z3.BoolRef] = {}
    replaced = z3.BoolVal(False)
    for place in range(replica.log.capacity - 1, offset - 1, -1):
        record = pipeline.record_of(slots[place]["batch"].term)
        newer = [
            z3.And(replica.log.has(later), pipeline.record_of(slots[later]["batch"].term) >= record, kept[later])
            for later in range(place + 1, replica.log.capacity)
        ]
        replaced = z3.Or(*newer)
        kept[place] = z3.Or(z3.Not(is_removed(replica, place)), replaced, has_done_its_work(replica, place))
    return replaced, kept[offset]


def has_done_its_work(replica: Replica, offset: int) -> z3.BoolRef:
    """A tombstone was dropped here, and no other record of its key is left in the log."""
    others = [stands(replica, other) for other in range(replica.log.capacity) if other != offset]
    return z3.And(is_dropped(replica, offset), z3.Not(z3.Or(*others)))


def is_dropped(replica: Replica, offset: int) -> z3.BoolRef:
    """A tombstone stood here, and was removed for its age."""
    return replica.log.slots[offset][REMOVED].term == DROPPED


def is_kept(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """What was written at the offset stands there, or is rightly gone."""
    return _kept_from(pipeline, replica, offset)[1]


def keeps_record(pipeline: Pipeline, replica: Replica, record: int) -> z3.BoolRef:
    """The record stands in the replica's log, or is rightly gone from it."""
    batches = [batch.number for batch in pipeline.producer.of_record(record)]
    return replica.log.some(
        lambda offset, slot: z3.And(
            z3.Or(*(slot["batch"].term == number for number in batches)), is_kept(pipeline, replica, offset)
        )
    )


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
