"""The markers of a log: which of them ends what stands before it, and what its broker makes of that (semantics 11.2).

There is one transactional id, so that a marker ends whatever is open before it (of its producer id, where the
coordinator can forget that). Which transactions are aborted a leader tells its readers, and its cleaner, from an index
of its own, which it wrote when it appended their markers.
"""

from __future__ import annotations

import z3

from model.compaction.state import MARKER, REMOVED, Marker
from model.shared_terms import shared
from model.state import Pipeline, Replica


def is_marker(pipeline: Pipeline, leader: Replica, offset: int) -> z3.BoolRef:
    """What stands at an offset ends a transaction, and is no record."""
    if pipeline.transactions is None:
        return z3.BoolVal(False)
    return pipeline.transactions.is_marker(leader.log.slots[offset]["batch"].term)


def has_seen(pipeline: Pipeline, leader: Replica, offset: int) -> z3.BoolRef:
    """The broker had the marker at the offset: it was there still when the broker copied the log (semantics 10, D6)."""
    if not pipeline.deployment.drops_markers:
        return z3.BoolVal(True)
    return leader.log.slots[offset][MARKER].term != int(Marker.UNSEEN)


def is_listed(leader: Replica, offset: int) -> z3.BoolRef:
    """The transaction that an abort marker ends stands in the broker's index of aborted transactions (10, D6)."""
    return leader.log.slots[offset][MARKER].term == int(Marker.STANDS)


def ends_it(pipeline: Pipeline, leader: Replica, later: int, offset: int) -> z3.BoolRef:
    """A marker there would be of the producer id of what stands at the offset (semantics 11.4)."""
    own_log = None if pipeline.transactions is None else pipeline.transactions.own_log
    if own_log is None:
        return z3.BoolVal(True)
    is_new = [leader.log.slots[one]["producer_epoch"].term >= own_log.new_id.term for one in (later, offset)]
    return z3.Or(own_log.new_id.term == 0, is_new[0] == is_new[1])


def _next_marker_aborts(pipeline: Pipeline, leader: Replica, offset: int, *, by_index: bool) -> z3.BoolRef:
    """The first marker after the offset is there, and aborts; where it stands in the index, if that is asked.

    What was removed its own transaction's marker ended, whatever the broker has seen of it.
    """
    assert pipeline.transactions is not None
    cleaned = pipeline.deployment.drops_markers
    aborts = z3.BoolVal(False)
    for later in range(leader.log.capacity - 1, offset, -1):
        entry = leader.log.slots[later]["batch"].term
        is_one = z3.And(leader.log.has(later), pipeline.transactions.is_marker(entry))
        if pipeline.transactions.own_log is not None:
            is_one = z3.And(is_one, ends_it(pipeline, leader, later, offset))
        is_abort = pipeline.transactions.is_abort(entry)
        if cleaned:
            removed = leader.log.slots[offset][REMOVED].term > 0
            is_one = z3.And(is_one, z3.Or(removed, has_seen(pipeline, leader, later)))
            if by_index:
                is_abort = z3.And(is_abort, z3.Or(removed, is_listed(leader, later)))
        aborts = z3.If(is_one, is_abort, aborts)
    return aborts


@shared
def is_aborted(pipeline: Pipeline, leader: Replica, offset: int) -> z3.BoolRef:
    """The record at the offset is in a transaction that this log aborts."""
    return _is_aborted(pipeline, leader, offset, by_index=False)


@shared
def is_taken_for_aborted(pipeline: Pipeline, leader: Replica, offset: int) -> z3.BoolRef:
    """Readers and the cleaner are told that the record at the offset was aborted: it is, and the index says so."""
    return _is_aborted(pipeline, leader, offset, by_index=True)


def _is_aborted(pipeline: Pipeline, leader: Replica, offset: int, *, by_index: bool) -> z3.BoolRef:
    if pipeline.transactions is None:
        return z3.BoolVal(False)
    aborts = _next_marker_aborts(pipeline, leader, offset, by_index=by_index)
    return z3.And(z3.Not(is_marker(pipeline, leader, offset)), aborts)
