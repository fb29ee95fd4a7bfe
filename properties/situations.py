"""Situations that several properties speak of: who serves, what is lost for good, what was retried."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import z3

from model.application import due_after_start, resend_due
from model.deployment.choices import OnRestart, OnSendError
from model.faults import Fault
from model.language import State
from model.resuming import may_be_committed
from model.state import Batch, Fate, Pipeline, Replica
from model.transactions.sending import sent_again, transaction_of
from model.transactions.state import Outcome
from model.transactions.visibility import can_be_read, keeps_record


def on_serving_leader(pipeline: Pipeline, condition: Callable[[Replica], z3.BoolRef]) -> z3.BoolRef:
    """There is a leader that the controller knows and that knows it, and it meets ``condition``."""
    return z3.Or(*(z3.And(pipeline.serves(replica), condition(replica)) for replica in pipeline.replicas))


def serving_leader(pipeline: Pipeline, state: State) -> Replica | None:
    """The leader of a concrete state that the controller knows and that knows it."""
    number = state[pipeline.controller.leader.name]
    return pipeline.replica(number) if number else None


def acknowledged(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """The future of some send of the record completed without an error; with transactions, that one was committed."""
    if pipeline.transactions is not None:
        committed = (
            transaction_of(pipeline, batch).is_(Outcome.COMMITTED) for batch in pipeline.producer.of_record(record)
        )
        return z3.Or(*committed)
    return z3.Or(*(batch.is_(Fate.ACKNOWLEDGED) for batch in pipeline.producer.of_record(record)))


def reported(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """The application was told that some send of the record failed, or the transaction with it, and looks at that."""
    if pipeline.deployment.on_send_error is OnSendError.IGNORE:
        return z3.BoolVal(False)
    return failed(pipeline, record)


def failed(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Some send of the record failed, or the transaction with it."""
    if pipeline.transactions is not None:
        told = []
        for batch in pipeline.producer.of_record(record):
            failed = transaction_of(pipeline, batch).is_(Outcome.ABORTED, Outcome.REFUSED)
            told += [batch.is_(Fate.FAILED), z3.And(failed, z3.Not(batch.is_(Fate.UNSENT)))]
        return z3.Or(*told)
    return z3.Or(*(batch.is_(Fate.FAILED) for batch in pipeline.producer.of_record(record)))


def accepted(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """The application handed the record to send()."""
    if pipeline.transactions is not None:
        return z3.Or(*(z3.Not(batch.is_(Fate.UNSENT)) for batch in pipeline.producer.of_record(record)))
    return z3.Not(pipeline.producer.of_record(record)[0].is_(Fate.UNSENT))


def pending(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """The record may still get into the log: in the client, on its way, or to be sent again."""
    ways = []
    if pipeline.transactions is not None:
        ways.append(_may_be_committed(pipeline, record))
    for batch in pipeline.producer.of_record(record):
        ways += [batch.incomplete, batch.delayed.term != 0]
        if pipeline.transactions is not None and pipeline.deployment.on_restart is OnRestart.RESEND:
            ways.append(batch.is_(Fate.FORGOTTEN))
        elif pipeline.deployment.on_restart.sends_again:
            ways.append(z3.And(due_after_start(pipeline, batch), _is_last(pipeline, batch)))
    if pipeline.upstream is not None:
        ways.append(tries_again(pipeline, record))
    return z3.Or(*ways)


def tries_again(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """A send of the record failed, and the application will make another."""
    if pipeline.deployment.on_send_error is OnSendError.RESEND and pipeline.upstream is None:
        return z3.BoolVal(True)
    if not pipeline.deployment.on_send_error.sends_again:
        return z3.BoolVal(False)
    sends = pipeline.producer.of_record(record)
    return z3.Or(*(z3.And(resend_due(pipeline, batch), _is_last(pipeline, batch)) for batch in sends))


def _is_last(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """The record was not sent again since."""
    later = pipeline.producer.of_record(batch.record)[batch.attempt + 1 :]
    return later[0].is_(Fate.UNSENT) if later else z3.BoolVal(True)


def told(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Whoever wants the record knows that a send of it failed.

    Where the application commits its position in what it reads from, that has it, until the position is past it.
    """
    if pipeline.upstream is None:
        return reported(pipeline, record)
    return z3.And(reported(pipeline, record), z3.Not(may_be_committed(pipeline, record)))


def _may_be_committed(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """A transaction with the record is going on, for the application or for the coordinator, or will be begun."""
    transactions = pipeline.transactions
    assert transactions is not None
    ways = []
    for batch in pipeline.producer.of_record(record):
        transaction = transaction_of(pipeline, batch)
        at_work = z3.And(z3.Not(transactions.is_at_rest), transactions.current.term == transaction.number)
        ways += [transaction.is_going_on, at_work, sent_again(pipeline, transaction)]
    return z3.Or(*ways)


def both_can_be_read(pipeline: Pipeline, leader: Replica, earlier: int, later: int) -> z3.BoolRef:
    """The consumer can be given what stands at both offsets."""
    if pipeline.transactions is None:
        return leader.high_watermark.term > later
    return z3.And(can_be_read(pipeline, leader, earlier), can_be_read(pipeline, leader, later))


def lost_silently(pipeline: Pipeline, record: int) -> z3.BoolRef:
    """Accepted, no failure reported, nothing on its way, and not in the log of the leader that serves.

    Whether a consumer got it before makes no difference: a consumer may always be later (docs/semantics.md).
    """
    missing = on_serving_leader(pipeline, lambda leader: z3.Not(keeps_record(pipeline, leader, record)))
    return z3.And(
        accepted(pipeline, record),
        z3.Not(told(pipeline, record)),
        z3.Not(pending(pipeline, record)),
        missing,
    )


def leader_replaced_after_acknowledgement(pipeline: Pipeline) -> z3.BoolRef:
    """The serving leader leads in a later epoch than the one an acknowledged record was appended in."""
    batches = pipeline.producer.batches

    def inherited(leader: Replica) -> z3.BoolRef:
        return leader.log.some(
            lambda _, slot: z3.And(
                slot["epoch"].term < leader.epoch.term,
                z3.Or(*(z3.And(slot["batch"].term == b.number, b.is_(Fate.ACKNOWLEDGED)) for b in batches)),
            )
        )

    return on_serving_leader(pipeline, inherited)


def retry_of_appended_batch(pipeline: Pipeline) -> z3.BoolRef:
    """A batch that stands in the serving leader's log is on its way there once more, or will be sent anew."""

    def again(leader: Replica) -> z3.BoolRef:
        return z3.Or(
            *(z3.And(coming_again(batch, leader), stands(batch, leader)) for batch in pipeline.producer.batches)
        )

    def coming_again(batch: Batch, leader: Replica) -> z3.BoolRef:
        retried = z3.And(batch.is_(Fate.SENT), batch.retries.term > 0, batch.target.term == leader.number)
        return z3.Or(retried, resend_due(pipeline, batch), batch.delayed.term != 0)

    def stands(batch: Batch, leader: Replica) -> z3.BoolRef:
        return leader.log.some(lambda _, slot: slot["batch"].term == batch.number)

    return on_serving_leader(pipeline, again)


def restarted_after_append(pipeline: Pipeline) -> z3.BoolRef:
    """The producer application was started again, where that may go without a send that is cut short (3.1, P10 P11).

    A record that it had sent before stands in the serving leader's log.
    """
    if pipeline.upstream is None and Fault.PRODUCER_STOP not in pipeline.deployment.possible_faults:
        return z3.BoolVal(False)
    now = pipeline.producer.session.term

    def stands(leader: Replica) -> z3.BoolRef:
        batches = pipeline.producer.batches
        return leader.log.some(
            lambda _, slot: z3.Or(*(z3.And(slot["batch"].term == b.number, b.session.term < now) for b in batches))
        )

    return on_serving_leader(pipeline, stands)


def records_of_log(pipeline: Pipeline, state: State, replica: Replica) -> Mapping[int, int]:
    """The records in a replica's log by offset, without those that transactions leave unread."""
    batches = pipeline.producer.batches
    numbers = {offset: entry["batch"] for offset, entry in enumerate(replica.log.entries(state))}
    if pipeline.transactions is None:
        return {offset: batches[number].record for offset, number in numbers.items()}
    read = [offset for offset in numbers if value(can_be_read(pipeline, replica, offset), pipeline, state)]
    return {offset: batches[numbers[offset]].record for offset in read}


def first(candidates: range, holds: Callable[[int], bool], otherwise: int = 0) -> int:
    """The first candidate for which ``holds``."""
    return next((candidate for candidate in candidates if holds(candidate)), otherwise)


def value(term: z3.BoolRef, pipeline: Pipeline, state: State) -> bool:
    """A Boolean term's value in a concrete state."""
    pairs = [(variable.term, z3.IntVal(state[variable.name])) for variable in pipeline.variables]
    return bool(z3.is_true(z3.simplify(z3.substitute(term, *pairs))))
