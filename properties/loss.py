"""Loss: acknowledged records are in the log, and every missing record was reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

import z3

from proofka.model.consuming.consumer import unprocessed
from proofka.model.consuming.position import valid_committed, valid_position
from proofka.model.consuming.reading import is_no_loss, was_passed_rightly
from proofka.model.faults import Fault
from proofka.model.language import State, Variable
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.log.markers import is_aborted
from proofka.model.log.visibility import keeps_record
from proofka.model.producing.resuming import may_be_committed
from proofka.model.state.compaction import DROPPED, REMOVED
from proofka.model.state.pipeline import Fate, Pipeline, Replica
from proofka.model.state.transactions import Outcome, Transactions
from proofka.properties.property import Property
from proofka.properties.situations import (
    accepted,
    acknowledged,
    failed,
    first,
    leader_replaced_after_acknowledgement,
    lost_silently,
    on_serving_leader,
    pending,
    restarted_after_append,
    serving_leader,
    told,
    tries_again,
    value,
)


def lost_though_acknowledged(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that an acknowledged record is neither in flight nor in the log of the serving leader."""
    on_its_way = Or(*(batch.incomplete for batch in pipeline.producer.of_record(record)))
    missing = on_serving_leader(pipeline, lambda leader: Not(keeps_record(pipeline, leader, record)))
    return And(acknowledged(pipeline, record), Not(on_its_way), missing)


def without_effect(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that the sink has no effect of the record and will get none (semantics 12.1).

    A sink that identifies records by offset refuses a record whose offset an earlier, lost record had.
    """
    applied, consumer = pipeline.applied, pipeline.consumer
    if applied is None:
        return unprocessed(pipeline, record)
    held = (*enumerate(consumer.queued), *enumerate(consumer.late), *enumerate(consumer.forwarded))
    to_come = [And(one.term == record + 1, Not(applied.knows(offset))) for offset, one in held]
    return And(applied.effects[record].term == 0, Not(Or(*to_come)))


Undone = Callable[[Pipeline, int], z3.BoolRef]
"""A function that builds the condition that something was not done with a record, and is not about to be done."""


def skipped(pipeline: Pipeline, record: int, undone: Undone = unprocessed) -> z3.BoolRef:
    """Build the condition that the committed offset of the group passes an unprocessed record.

    Nothing is about to process the record. A running consumer can commit its position at any time.
    """
    consumer = pipeline.consumer
    will_commit = And(consumer.running.is_set, BoolVal(not pipeline.deployment.application.commits_at_once))

    def passed(leader: Replica) -> z3.BoolRef:
        committed, position = valid_committed(pipeline, leader), valid_position(pipeline, leader)

        def here(offset: int) -> z3.BoolRef:
            coming = And(consumer.running.is_set, position <= offset)
            this = pipeline.record_of(leader.log.slots[offset]["batch"].term) == record
            passed_by = Or(committed > offset, And(will_commit, position > offset))
            conditions = [leader.log.has(offset), this, passed_by, Not(coming)]
            if pipeline.transactions is not None:
                conditions.append(Not(is_aborted(pipeline, leader, offset)))
            if pipeline.compacted is not None:
                conditions.append(Not(is_no_loss(pipeline, leader, offset)))
                conditions.append(Not(was_passed_rightly(pipeline, leader, offset, record)))
            return And(*conditions)

        return Or(*(here(offset) for offset in range(leader.log.capacity)))

    return And(undone(pipeline, record), on_serving_leader(pipeline, passed))


def unprocessed_for_good(pipeline: Pipeline, record: int, undone: Undone = unprocessed) -> z3.BoolRef:
    """Build the condition that a record will never be processed, and its failure was not reported.

    The record was lost before the log, skipped by the group, or deleted by retention.
    """
    lost = And(lost_silently(pipeline, record), undone(pipeline, record))
    not_coming = And(accepted(pipeline, record), Not(told(pipeline, record)))
    passed = Or(skipped(pipeline, record, undone), expired_unread(pipeline, record, undone))
    return Or(lost, And(not_coming, Not(pending(pipeline, record)), passed))


def expired_unread(pipeline: Pipeline, record: int, undone: Undone = unprocessed) -> z3.BoolRef:
    """Build the condition that retention deleted the record before the group processed it."""
    log_start = pipeline.log_start
    if log_start is None:
        return BoolVal(False)
    batches = [batch.number for batch in pipeline.producer.of_record(record)]

    def stands(leader: Replica, where: Callable[[int], z3.BoolRef]) -> z3.BoolRef:
        return leader.log.some(
            lambda offset, slot: And(where(offset), Or(*(slot["batch"].term == number for number in batches)))
        )

    def deleted(leader: Replica) -> z3.BoolRef:
        gone = stands(leader, lambda offset: log_start.term > offset)
        if pipeline.compacted is not None:
            gone = stands(
                leader,
                lambda offset: And(
                    log_start.term > offset,
                    Not(is_no_loss(pipeline, leader, offset)),
                    Not(was_passed_rightly(pipeline, leader, offset, record)),
                ),
            )
        return And(gone, Not(stands(leader, lambda offset: log_start.term <= offset)))

    return And(undone(pipeline, record), on_serving_leader(pipeline, deleted))


def consumer_restarted(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that the consumer runs, and was restarted after work on a record had begun."""
    return And(pipeline.consumer.restarted.is_set, pipeline.consumer.running.is_set)


def _leader_words(pipeline: Pipeline, state: State) -> str:
    leader = serving_leader(pipeline, state)
    return "any leader's log" if leader is None else f"the log of {leader.name}, which leads"


def _is_only_aborted(pipeline: Pipeline, leader: Replica, record: int) -> z3.BoolRef:
    """Build the condition that the record is, or was, in the log only in transactions that this log aborts."""
    batches = [batch.number for batch in pipeline.producer.of_record(record)]

    def is_it(offset: int, slot: Mapping[str, Variable]) -> z3.BoolRef:
        return Or(*(slot["batch"].term == number for number in batches))

    committed = leader.log.some(
        lambda offset, slot: And(is_it(offset, slot), Not(is_aborted(pipeline, leader, offset)))
    )
    return And(leader.log.some(is_it), Not(committed))


def _missing_words(pipeline: Pipeline, state: State, record: int) -> str:
    """Return the reason why the leader lacks a record."""
    leader, where = serving_leader(pipeline, state), _leader_words(pipeline, state)
    entries = [] if leader is None or pipeline.compacted is None else leader.log.entries(state)
    if (
        leader is not None
        and pipeline.transactions is not None
        and value(_is_only_aborted(pipeline, leader, record), pipeline, state)
    ):
        return f"its transaction is aborted in {where}"
    batches, taken_for_it = pipeline.producer.batches, False
    if leader is not None and pipeline.transactions is not None:
        # Neither markers nor aborted records can replace a record.
        of_values = [And(*pipeline.sending.is_value(pipeline, leader, offset)) for offset in range(len(entries))]
        aborted = [value(is_aborted(pipeline, leader, offset), pipeline, state) for offset in range(len(entries))]
        taken_for_it = any(one and not entry[REMOVED] for one, entry in zip(aborted, entries, strict=True))
        entries = [one for one, kept in zip(entries, of_values, strict=True) if value(kept, pipeline, state)]
    records = [batches[entry["batch"]].record for entry in entries]
    left = [f"record {known + 1}" for known, entry in zip(records, entries, strict=True) if not entry[REMOVED]]
    if record not in records:
        return f"it is not in {where}"
    if entries[records.index(record)][REMOVED] == DROPPED:
        return f"the tombstone was dropped before {where}, had it, and {' and '.join(left)} is still there"
    if left:
        return f"the cleaner removed it from {where}, and left {' and '.join(left)}, which was sent before it"
    if taken_for_it:
        return f"the cleaner removed it from {where}, for a record that was aborted"
    return f"the cleaner removed it from {where}, and what stood behind it is gone"


def properties(pipeline: Pipeline) -> Iterator[Property]:
    """Yield the loss properties of a pipeline."""
    records = range(pipeline.deployment.bounds.records)

    def explain_acked(state: State) -> str:
        record = first(records, lambda r: value(lost_though_acknowledged(pipeline, r), pipeline, state))
        told = f"record {record + 1} was acknowledged"
        if pipeline.transactions is not None:
            told = (
                f"the transaction of record {record + 1} was committed, which tells the application that it is stored"
            )
        return f"{told}, but {_missing_words(pipeline, state, record)}"

    at_risk, or_else = leader_replaced_after_acknowledgement(pipeline), ""
    if pipeline.transactions is not None:
        at_risk = Or(at_risk, _aborted_after_commit(pipeline.transactions))
        or_else = ", or another transaction aborted"
    yield Property(
        "no-acked-loss",
        "loss",
        "A record whose send was acknowledged is in the log of every leader from then on.",
        "durability of acknowledged writes",
        Or(*(lost_though_acknowledged(pipeline, record) for record in records)),
        at_risk,
        "a record was acknowledged and the leader replaced afterwards" + or_else,
        explain_acked,
    )

    def explain_silent(state: State) -> str:
        record = first(records, lambda r: value(lost_silently(pipeline, r), pipeline, state))
        fates = {state[batch.fate.name] for batch in pipeline.producer.of_record(record)}
        if pipeline.upstream is not None and value(may_be_committed(pipeline, record), pipeline, state):
            return (
                f"the application's position in what it reads from may be committed past record {record + 1}, "
                f"but {_missing_words(pipeline, state, record)}"
            )
        ended = "when it ended" if Fault.PRODUCER_STOP in pipeline.deployment.faults.possible else "in the crash"
        why = f"the producer forgot it {ended}"
        if Fate.ACKNOWLEDGED in fates:
            why = "it was acknowledged"
        elif Fate.FAILED in fates:
            why = pipeline.sending.failure_in_words()
        return (
            f"send() accepted record {record + 1} and reported no failure ({why}), "
            f"but {_missing_words(pipeline, state, record)}"
        )

    trouble = Or(*(Or(b.retries.term > 0, b.is_(Fate.FORGOTTEN)) for b in pipeline.producer.batches))
    trouble = Or(trouble, restarted_after_append(pipeline))
    in_the_open = Or(leader_replaced_after_acknowledgement(pipeline), trouble)
    if pipeline.deployment.producer.acks.value == "0":
        in_the_open = Or(
            in_the_open, on_serving_leader(pipeline, lambda leader: leader.epoch.term > 1), _lost_request(pipeline)
        )
    yield Property(
        "no-silent-loss",
        "loss",
        "A record that send() accepted can be delivered to consumers, or its failure was reported to the application.",
        "no send fails without the application knowing",
        Or(*(lost_silently(pipeline, record) for record in records)),
        in_the_open,
        "a send was disturbed: a retry, a producer restart, or a new leader after an acknowledgement",
        explain_silent,
    )

    def explain_skip(state: State) -> str:
        record = first(records, lambda r: value(skipped(pipeline, r), pipeline, state))
        consumer = pipeline.consumer
        committed, position = state[consumer.committed.name], state[consumer.position.name]
        if (
            state[consumer.running.name]
            and position > committed
            and not pipeline.deployment.application.commits_at_once
        ):
            return f"the next commit, of offset {position}, passes record {record + 1}, which the group never processed"
        return f"the committed offset {committed} is past record {record + 1}, which the group never processed"

    yield Property(
        "no-skip",
        "loss",
        "No committed offset passes a record that the group never processed.",
        "at-least-once processing in the consumer group",
        Or(*(skipped(pipeline, record) for record in records)),
        consumer_restarted(pipeline),
        "the consumer was restarted after work on a record had begun",
        explain_skip,
    )

    def explain_loss(state: State) -> str:
        record = first(records, lambda r: value(unprocessed_for_good(pipeline, r), pipeline, state))
        if value(expired_unread(pipeline, record), pipeline, state):
            return f"retention deleted record {record + 1} before the group processed it"
        if value(skipped(pipeline, record), pipeline, state):
            return f"record {record + 1} will never be processed: " + explain_skip(state)
        return f"record {record + 1} will never be processed: " + explain_silent(state)

    yield Property(
        "no-loss",
        "loss",
        "Every record that send() accepted is processed, or its failure was reported.",
        "at-least-once delivery from end to end",
        Or(*(unprocessed_for_good(pipeline, record) for record in records)),
        Or(in_the_open, consumer_restarted(pipeline)),
        "a send was disturbed, or the consumer was restarted after work on a record had begun",
        explain_loss,
    )

    def explain_dropped(state: State) -> str:
        record = first(records, lambda r: value(dropped(pipeline, r), pipeline, state))
        return f"the send of record {record + 1} failed, nobody sends it again, and it is not in the log"

    yield Property(
        "no-dropped-record",
        "loss",
        "No send of the application fails permanently.",
        "the client retries until the brokers are back",
        Or(*(dropped(pipeline, record) for record in records)),
        in_the_open,
        "a send was disturbed: a retry, a producer restart, or a new leader after an acknowledgement",
        explain_dropped,
    )


def dropped(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that a send failed permanently and the record is not in the log.

    Nothing of the record is in flight, and the application does not send the record again.
    """
    failed_for_good = And(failed(pipeline, record), Not(tries_again(pipeline, record)))
    missing = on_serving_leader(pipeline, lambda leader: Not(keeps_record(pipeline, leader, record)))
    given_up = And(failed_for_good, Not(acknowledged(pipeline, record)), Not(pending(pipeline, record)))
    return And(given_up, missing)


def _aborted_after_commit(transactions: Transactions) -> z3.BoolRef:
    """Build the condition that a transaction was committed, and a later transaction was aborted."""
    pairs = combinations(transactions.each, 2)
    return Or(*(And(one.is_(Outcome.COMMITTED), later.is_(Outcome.ABORTED)) for one, later in pairs))


def _lost_request(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that, with acks=0, a record counts as acknowledged and is not in the log."""
    records = range(pipeline.deployment.bounds.records)
    return Or(*(lost_though_acknowledged(pipeline, record) for record in records))
