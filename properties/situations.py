"""Situations that several properties use: the serving leader, lost records, retried batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import z3

from proofka.model.deployment.choices import OnRestart, OnSendError
from proofka.model.faults import Fault
from proofka.model.language import State, Variable
from proofka.model.language.terms import And, BoolVal, IntVal, Not, Or
from proofka.model.log.holes import stands
from proofka.model.log.log_starts import start_for_readers
from proofka.model.log.visibility import can_be_read, keeps_record
from proofka.model.producing.application import due_after_start, resend_due
from proofka.model.producing.resuming import may_be_committed
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.transactions import Outcome
from proofka.model.transactions.sending import sent_again, transaction_of


def on_serving_leader(pipeline: Pipeline, condition: Callable[[Replica], z3.BoolRef]) -> z3.BoolRef:
    """Build the condition that a serving leader satisfies ``condition``.

    A leader serves if the controller names the leader and the leader knows this.
    """
    return Or(*(And(pipeline.serves(replica), condition(replica)) for replica in pipeline.replicas))


def serving_leader(pipeline: Pipeline, state: State) -> Replica | None:
    """Return the leader that the controller names in a concrete state, or None."""
    number = state[pipeline.controller.leader.name]
    return pipeline.replica(number) if number else None


def acknowledged(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that a send of the record succeeded; with transactions, its transaction was committed."""
    if pipeline.transactions is not None:
        committed = (
            transaction_of(pipeline, batch).is_(Outcome.COMMITTED) for batch in pipeline.producer.of_record(record)
        )
        return Or(*committed)
    return Or(*(batch.is_(Fate.ACKNOWLEDGED) for batch in pipeline.producer.of_record(record)))


def reported(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that the application got and does not ignore an error for a send of the record.

    With transactions, a failed transaction with the record is such an error too.
    """
    if pipeline.deployment.application.on_send_error is OnSendError.IGNORE:
        return BoolVal(False)
    return failed(pipeline, record)


def failed(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that a send of the record, or a transaction with the record, failed."""
    if pipeline.transactions is not None:
        told = []
        for batch in pipeline.producer.of_record(record):
            failed = transaction_of(pipeline, batch).is_(Outcome.ABORTED, Outcome.REFUSED)
            told += [pipeline.sending.fails_transaction(batch), And(failed, Not(batch.is_(Fate.UNSENT)))]
        return Or(*told)
    return Or(*(batch.is_(Fate.FAILED) for batch in pipeline.producer.of_record(record)))


def accepted(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that send() accepted the record."""
    if pipeline.transactions is not None:
        return Or(*(Not(batch.is_(Fate.UNSENT)) for batch in pipeline.producer.of_record(record)))
    return Not(pipeline.producer.of_record(record)[0].is_(Fate.UNSENT))


def pending(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that the record can still get into the log.

    The record is in the client or in flight, or the application will send it again.
    """
    ways = []
    if pipeline.transactions is not None:
        ways.append(_may_be_committed(pipeline, record))
    for batch in pipeline.producer.of_record(record):
        ways += [batch.incomplete, batch.delayed.term != 0]
        if pipeline.transactions is not None and pipeline.deployment.application.on_restart is OnRestart.RESEND:
            ways.append(batch.is_(Fate.FORGOTTEN))
        elif pipeline.deployment.application.on_restart.sends_again:
            ways.append(And(due_after_start(pipeline, batch), _is_last(pipeline, batch)))
    if pipeline.upstream is not None:
        ways.append(tries_again(pipeline, record))
    return Or(*ways)


def tries_again(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that a send of the record failed, and the application will send the record again."""
    if pipeline.deployment.application.on_send_error is OnSendError.RESEND and pipeline.upstream is None:
        return BoolVal(True)
    if not pipeline.deployment.application.on_send_error.sends_again:
        return BoolVal(False)
    sends = pipeline.producer.of_record(record)
    return Or(*(And(resend_due(pipeline, batch), _is_last(pipeline, batch)) for batch in sends))


def _is_last(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Build the condition that the record was not sent again after this batch."""
    later = pipeline.producer.of_record(batch.record)[batch.attempt + 1 :]
    return later[0].is_(Fate.UNSENT) if later else BoolVal(True)


def told(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that the failure of a send of the record was reported.

    If the application commits its position in a source, the failure counts only until this position can be committed
    past the record: until then the source keeps the record.
    """
    if pipeline.upstream is None:
        return reported(pipeline, record)
    return And(reported(pipeline, record), Not(may_be_committed(pipeline, record)))


def _may_be_committed(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that a transaction with the record is in progress, or will begin."""
    transactions = pipeline.transactions
    assert transactions is not None
    ways = []
    for batch in pipeline.producer.of_record(record):
        transaction = transaction_of(pipeline, batch)
        at_work = And(Not(transactions.is_at_rest), transactions.current.term == transaction.number)
        ways += [transaction.is_going_on, at_work, sent_again(pipeline, transaction)]
    return Or(*ways)


def both_can_be_read(pipeline: Pipeline, leader: Replica, earlier: int, later: int) -> z3.BoolRef:
    """Build the condition that the consumer can be given the records at both offsets."""
    if pipeline.transactions is None:
        return leader.high_watermark.term > later
    return And(can_be_read(pipeline, leader, earlier), can_be_read(pipeline, leader, later))


def can_be_given(pipeline: Pipeline, leader: Replica, batch: Batch) -> z3.BoolRef:
    """Build the condition that the consumer can be given this batch."""

    def is_given(offset: int, slot: Mapping[str, Variable]) -> z3.BoolRef:
        given = [slot["batch"].term == batch.number, can_be_read(pipeline, leader, offset)]
        if pipeline.compacted is not None:
            given.append(stands(leader, offset))
        if pipeline.log_start is not None:
            given.append(start_for_readers(pipeline, leader) <= offset)
        return And(*given)

    return leader.log.some(is_given)


def lost_silently(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Build the condition that an accepted record is lost without a report.

    No failure was reported, nothing of the record is in flight, and the log of the serving leader lacks the record. An
    earlier delivery to a consumer does not matter, because another consumer can always come later (docs/semantics.md).
    """
    missing = on_serving_leader(pipeline, lambda leader: Not(keeps_record(pipeline, leader, record)))
    return And(
        accepted(pipeline, record),
        Not(told(pipeline, record)),
        Not(pending(pipeline, record)),
        missing,
    )


def leader_replaced_after_acknowledgement(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that the epoch of the serving leader is later than that of an acknowledged record."""
    batches = pipeline.producer.batches

    def inherited(leader: Replica) -> z3.BoolRef:
        return leader.log.some(
            lambda _, slot: And(
                slot["epoch"].term < leader.epoch.term,
                Or(*(And(slot["batch"].term == b.number, b.is_(Fate.ACKNOWLEDGED)) for b in batches)),
            )
        )

    return on_serving_leader(pipeline, inherited)


def retry_of_appended_batch(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that a batch in the serving leader's log is in flight to it again, or will be sent again."""

    def again(leader: Replica) -> z3.BoolRef:
        return Or(*(And(coming_again(batch, leader), stands(batch, leader)) for batch in pipeline.producer.batches))

    def coming_again(batch: Batch, leader: Replica) -> z3.BoolRef:
        retried = And(batch.is_(Fate.SENT), batch.retries.term > 0, batch.target.term == leader.number)
        return Or(retried, resend_due(pipeline, batch), batch.delayed.term != 0)

    def stands(batch: Batch, leader: Replica) -> z3.BoolRef:
        return leader.log.some(lambda _, slot: slot["batch"].term == batch.number)

    return on_serving_leader(pipeline, again)


def restarted_after_append(pipeline: Pipeline) -> z3.BoolRef:
    """Build the condition that the producer application was restarted after an append (semantics 3.1, P10, P11).

    A record of an earlier session is in the serving leader's log. The condition is false for pipelines in which every
    restart interrupts a send.
    """
    if pipeline.upstream is None and Fault.PRODUCER_STOP not in pipeline.deployment.faults.possible:
        return BoolVal(False)
    now = pipeline.producer.session.term

    def stands(leader: Replica) -> z3.BoolRef:
        batches = pipeline.producer.batches
        return leader.log.some(
            lambda _, slot: Or(*(And(slot["batch"].term == b.number, b.session.term < now) for b in batches))
        )

    return on_serving_leader(pipeline, stands)


def records_of_log(pipeline: Pipeline, state: State, replica: Replica) -> Mapping[int, int]:
    """Return the records in a replica's log by offset, without records that transactions hide from readers."""
    batches = pipeline.producer.batches
    numbers = {offset: entry["batch"] for offset, entry in enumerate(replica.log.entries(state))}
    if pipeline.transactions is None:
        return {offset: batches[number].record for offset, number in numbers.items()}
    read = [offset for offset in numbers if value(can_be_read(pipeline, replica, offset), pipeline, state)]
    return {offset: batches[numbers[offset]].record for offset in read}


def first(candidates: range, holds: Callable[[int], bool], otherwise: int = 0) -> int:
    """Return the first candidate for which ``holds`` is true, or ``otherwise``."""
    return next((candidate for candidate in candidates if holds(candidate)), otherwise)


def value(term: z3.BoolRef, pipeline: Pipeline, state: State) -> bool:
    """Return the value of a Boolean term in a concrete state."""
    pairs = [(variable.term, IntVal(state[variable.name])) for variable in pipeline.variables]
    return bool(z3.is_true(z3.simplify(z3.substitute(term, *pairs))))
