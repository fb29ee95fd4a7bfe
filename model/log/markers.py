"""The markers of a log: the entries that a marker ends, and what its broker has seen of the marker (semantics 11.2).

There is one transactional id, so a marker ends whatever is open before it (of its producer id, where the coordinator
can forget that). A leader tells its readers, and its cleaner, which transactions are aborted from an index of its own,
which it wrote when it appended their markers.
"""

from __future__ import annotations

import z3

from proofka.model.deployment.implied.cleaning import drops_markers
from proofka.model.language.terms import And, BoolVal, If, Not, Or
from proofka.model.state.compaction import MARKER, REMOVED, Marker
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.shared_terms import shared
from proofka.model.state.transactions import Transactions


def is_marker(pipeline: Pipeline, leader: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the entry at an offset is a marker, which ends a transaction, and no record."""
    return _transactions(pipeline).is_marker(leader.log.slots[offset]["batch"].term)


def may_have_other_ids(pipeline: Pipeline) -> bool:
    """Tell whether a marker can be of another producer id than a record before it: the first id was forgotten."""
    return _transactions(pipeline).own_log is not None


def _transactions(pipeline: Pipeline) -> Transactions:
    """Return the transactions of a producer that has some: no other writes markers."""
    assert pipeline.transactions is not None
    return pipeline.transactions


def has_seen(pipeline: Pipeline, leader: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the broker had the marker at the offset: it was there when the broker copied the log (10, D6)."""
    if not drops_markers(pipeline.deployment):
        return BoolVal(True)
    return leader.log.slots[offset][MARKER].term != int(Marker.UNSEEN)


def is_listed(leader: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the transaction of an abort marker is in the broker's index of aborted transactions (10, D6)."""
    return leader.log.slots[offset][MARKER].term == int(Marker.STANDS)


def ends_it(pipeline: Pipeline, leader: Replica, later: int, offset: int) -> z3.BoolRef:
    """Tell whether a marker at ``later`` would be of the producer id of the entry at ``offset`` (semantics 11.4)."""
    own_log = _transactions(pipeline).own_log
    if own_log is None:
        return BoolVal(True)
    is_new = [leader.log.slots[one]["producer_epoch"].term >= own_log.new_id.term for one in (later, offset)]
    return Or(own_log.new_id.term == 0, is_new[0] == is_new[1])


def _next_marker_aborts(pipeline: Pipeline, leader: Replica, offset: int, *, by_index: bool) -> z3.BoolRef:
    """Tell whether there is a first marker after the offset and it aborts; with ``by_index``, if the index has it.

    A removed record was ended by its own transaction's marker, whatever the broker has seen of that marker.
    """
    transactions = _transactions(pipeline)
    cleaned = drops_markers(pipeline.deployment)
    aborts = BoolVal(False)
    for later in range(leader.log.capacity - 1, offset, -1):
        entry = leader.log.slots[later]["batch"].term
        is_one = And(leader.log.has(later), transactions.is_marker(entry))
        if may_have_other_ids(pipeline):
            is_one = And(is_one, ends_it(pipeline, leader, later, offset))
        is_abort = transactions.is_abort(entry)
        if cleaned:
            removed = leader.log.slots[offset][REMOVED].term > 0
            is_one = And(is_one, Or(removed, has_seen(pipeline, leader, later)))
            if by_index:
                is_abort = And(is_abort, Or(removed, is_listed(leader, later)))
        aborts = If(is_one, is_abort, aborts)
    return aborts


@shared
def is_aborted(pipeline: Pipeline, leader: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the record at the offset is in a transaction that this log aborts."""
    return _is_aborted(pipeline, leader, offset, by_index=False)


@shared
def is_taken_for_aborted(pipeline: Pipeline, leader: Replica, offset: int) -> z3.BoolRef:
    """Tell whether readers and the cleaner are told that the record was aborted: it was, and the index says so."""
    return _is_aborted(pipeline, leader, offset, by_index=True)


def _is_aborted(pipeline: Pipeline, leader: Replica, offset: int, *, by_index: bool) -> z3.BoolRef:
    aborts = _next_marker_aborts(pipeline, leader, offset, by_index=by_index)
    return And(Not(is_marker(pipeline, leader, offset)), aborts)
