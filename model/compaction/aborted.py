"""The cleaner and transactions: aborted records go at once, markers when none of their records is left (10, D6 D7).

A broker treats as aborted what stands in its index of aborted transactions. The cleaner writes that index anew with
each segment that it cleans, from what it has seen of the segment.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.deployment.implied.cleaning import drops_markers, forgets_aborted
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.log.holes import is_removed, stands
from proofka.model.log.markers import is_listed, is_marker, is_taken_for_aborted
from proofka.model.log.visibility import last_stable_offset
from proofka.model.state.compaction import MARKER, REMOVED, REPLACED, Marker
from proofka.model.state.pipeline import Batch, Pipeline, Replica
from proofka.model.state.transactions import Transaction
from proofka.model.state.wording import entry_name


def is_decided(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether the broker leads and the offset is below its last stable one: no cleaner goes further (10, D6)."""
    return And(replica.presumes_leadership, last_stable_offset(pipeline, replica) > offset)


def _is_abort(pipeline: Pipeline, replica: Replica, offset: int) -> z3.BoolRef:
    """Tell whether there is an abort marker, of a transaction that has been decided."""
    assert pipeline.transactions is not None
    aborts = pipeline.transactions.is_abort(replica.log.slots[offset]["batch"].term)
    return And(aborts, is_decided(pipeline, replica, offset))


def _follows(replica: Replica, marker: int, batch: Batch) -> z3.BoolRef:
    """Tell whether the marker ends a transaction whose last record was ``batch``."""
    return replica.log.slots[marker - 1]["batch"].term == batch.number


def _has_no_records(pipeline: Pipeline, replica: Replica, marker: int) -> z3.BoolRef:
    """Tell whether no record of the transaction that the marker ends is left in the log."""
    left = []
    ends = BoolVal(True)
    for offset in range(marker - 1, -1, -1):
        ends = And(ends, Not(is_marker(pipeline, replica, offset)))
        left.append(And(ends, Not(is_removed(replica, offset))))
    return Not(Or(*left))


def _is_not_the_last(pipeline: Pipeline, replica: Replica, marker: int) -> z3.BoolRef:
    """Tell whether the broker knows the producer by a later entry: its records, or a newer epoch's marker (10, D6).

    The last transaction has records, which are not shown.
    """
    transactions = pipeline.transactions
    assert transactions is not None
    epoch = replica.log.slots[marker]["producer_epoch"].term
    behind = []
    for later in range(marker + 1, replica.log.capacity):
        slot = replica.log.slots[later]
        newer = slot["producer_epoch"].term > epoch
        is_record = Not(is_marker(pipeline, replica, later))
        has_records = slot["batch"].term == transactions.marker(transactions.each[-1], commits=True)
        behind.append(And(replica.log.has(later), Or(is_record, newer, has_records)))
    return Or(*behind)


def _is_known_by_data(pipeline: Pipeline, replica: Replica, marker: int) -> z3.BoolRef:
    """Tell whether the producer's last batch is of the marker's epoch, for which no marker is needed then."""
    slots = replica.log.slots
    before = [
        And(
            Not(is_marker(pipeline, replica, offset)),
            slots[offset]["producer_epoch"].term == slots[marker]["producer_epoch"].term,
        )
        for offset in range(marker)
    ]
    return Or(*before)


def pass_markers(pipeline: Pipeline, effect: Effect, replica: Replica, end: int) -> None:
    """Pass over the markers below an offset, whose time until removal begins (semantics 10, D6)."""
    if pipeline.transactions is None or pipeline.compacted is None:
        return
    for transaction, expires in zip(pipeline.transactions.each, pipeline.compacted.expiring, strict=False):
        ends = [pipeline.transactions.marker(transaction, commits=commits) for commits in (True, False)]
        stands_there = [slot["batch"].term == one for slot in replica.log.slots[:end] for one in ends]
        effect.set_when(Or(*stands_there), expires, 1)


def remove_aborted(pipeline: Pipeline, replica: Replica, marker: int, batch: Batch | None) -> Action:
    """Remove what was aborted up to the marker, whatever its keys, in the cleaner (semantics 10, D6).

    ``batch`` is the last record of the transaction where its age matters.
    """
    effect = Effect()
    found = []
    for offset in range(marker):
        gone = And(stands(replica, offset), is_taken_for_aborted(pipeline, replica, offset))
        effect.set_when(gone, replica.log.slots[offset][REMOVED], REPLACED)
        found.append(gone)
    pass_markers(pipeline, effect, replica, marker + 1)
    conditions = [_is_abort(pipeline, replica, marker), Or(*found)]
    arguments = {"broker": replica.number, "marker": marker}
    if batch is not None:
        conditions.append(_follows(replica, marker, batch))
        arguments["batch"] = batch.number

    def sentence(before: State, after: State) -> str:
        slots = replica.log.slots
        gone = [one for one in range(marker) if before[slots[one][REMOVED].name] != after[slots[one][REMOVED].name]]
        names = ", ".join(entry_name(pipeline, before, replica, offset) for offset in gone)
        return f"the cleaner of {replica.name} removes {names}, which was aborted"

    return Action(
        "remove_aborted",
        replica.name,
        lane="brokers",
        arguments=arguments,
        guard=And(*conditions),
        updates=effect.updates,
        sentence=sentence,
        semantics="10 D6",
    )


def drop_marker(pipeline: Pipeline, replica: Replica, marker: int, transaction: Transaction) -> Action:
    """Remove a marker of which, as the cleaner believes, no record is left (semantics 10, D6 D7).

    The cleaner believes so of a marker that it has left out of its index, even if its transaction is the producer's
    last. For any other marker of a last transaction it keeps an empty batch, and the marker with that.
    """
    assert pipeline.transactions is not None and pipeline.compacted is not None
    slot = replica.log.slots[marker]
    effect = Effect()
    effect[slot[MARKER]] = int(Marker.DROPPED)
    ends = [slot["batch"].term == pipeline.transactions.marker(transaction, commits=one) for one in (True, False)]
    followed = _is_not_the_last(pipeline, replica, marker)
    known = Or(followed, _is_known_by_data(pipeline, replica, marker))
    unlisted = And(slot[MARKER].term == int(Marker.UNLISTED), known)
    due = And(is_listed(replica, marker), _has_no_records(pipeline, replica, marker), followed)
    conditions = [
        Or(*ends),
        pipeline.compacted.expiring[transaction.number].is_set,
        is_decided(pipeline, replica, marker),
        Or(unlisted, due),
    ]

    def sentence(before: State, after: State) -> str:
        what = f"the {entry_name(pipeline, before, replica, marker)}"
        if before[slot[MARKER].name] == Marker.UNLISTED:
            return f"the cleaner of {replica.name} removes {what}, as it finds no records of the transaction"
        return f"the cleaner of {replica.name} removes {what}, of which no records are left"

    return Action(
        "drop_marker",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number, "marker": marker, "transaction": transaction.number},
        guard=And(*conditions),
        updates=effect.updates,
        sentence=sentence,
        semantics="10 D6 D7",
    )


def forget_aborted(pipeline: Pipeline, replica: Replica, marker: int, batch: Batch) -> Action:
    """Stop the cleaner before the transaction, and leave that out of the new index (10, D7).

    The cleaner has no room for more keys in the middle of a segment, and copies the rest of the segment unchanged.
    """
    slot = replica.log.slots[marker]
    effect = Effect()
    effect[slot[MARKER]] = int(Marker.UNLISTED)
    pass_markers(pipeline, effect, replica, marker + 1)
    conditions = [
        _is_abort(pipeline, replica, marker),
        is_listed(replica, marker),
        Not(_has_no_records(pipeline, replica, marker)),
        _follows(replica, marker, batch),
    ]
    return Action(
        "forget_aborted",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number, "marker": marker, "batch": batch.number},
        guard=And(*conditions),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the cleaner of {replica.name} has no room for more keys (log.cleaner.dedupe.buffer.size) and stops in "
            f"the middle of a segment: the {entry_name(pipeline, before, replica, marker)}, in the rest of it, is not "
            f"in the index of aborted transactions any more (KAFKA-13727)"
        ),
        semantics="10 D7",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the cleaners' actions on transactions."""
    if pipeline.transactions is None or pipeline.compacted is None:
        return
    deployment, batches = pipeline.deployment, pipeline.producer.batches
    waits = deployment.durations.compaction_lag.least > 0
    for replica in pipeline.replicas:
        for marker in range(1, replica.log.capacity):
            for last in batches if waits else (None,):
                yield remove_aborted(pipeline, replica, marker, last)
            for transaction in pipeline.transactions.each[:-1] if drops_markers(deployment) else ():
                yield drop_marker(pipeline, replica, marker, transaction)
            for batch in batches if forgets_aborted(deployment) else ():
                yield forget_aborted(pipeline, replica, marker, batch)
