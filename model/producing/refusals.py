"""Requests that a leader refuses, and the client's reaction (semantics 3.1 P6, 3.2, 3.4, 3.5)."""

from __future__ import annotations

import z3

from model.deployment.implied.other_partitions import numbers_on
from model.faults import Fault
from model.language import Action, Effect, State
from model.sequencing.arrival import accepts, answered_in_order, arrives, checked, is_at
from model.sequencing.draining import stop_for_good
from model.sequencing.idempotence import bump_epoch, close_gap, epoch_left, is_renumbered, leaves_number_to_next
from model.sequencing.network import complete, fail_attempt
from model.sequencing.producer_ids import attempts_left, one_by_one, shift_numbers
from model.sequencing.rewinding import fail_partition, with_it
from model.state.pipeline import UNLIMITED_ATTEMPTS, Batch, Fate, Pipeline, Replica, counts_retries
from model.state.wording import record_name
from model.transactions.keeping_epochs import is_free
from model.transactions.purging import only_abort_is_left


def reject_not_leader(pipeline: Pipeline, batch: Batch, broker: Replica) -> Action:
    """Refuse a request at a broker that does not lead: NOT_LEADER_OR_FOLLOWER, nothing is written (3.3, 6.5)."""
    effect = Effect()
    fail_attempt(pipeline, effect, batch, z3.BoolVal(True), by_no_leader=True)
    return Action(
        "reject_not_leader",
        broker.name,
        lane="brokers",
        arguments={"batch": batch.number, "broker": broker.number},
        guard=z3.And(is_at(pipeline, batch, broker), z3.Not(broker.presumes_leadership)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{broker.name}, which does not lead, refuses {record_name(batch)}: NOT_LEADER_OR_FOLLOWER"
        ),
        semantics="3.3, 6.5",
    )


def reject_not_enough_replicas(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a request with acks=all and too small an ISR: NOT_ENOUGH_REPLICAS, nothing is written (semantics 3.2)."""
    effect = Effect()
    fail_attempt(pipeline, effect, batch, z3.BoolVal(True), up_front=True)
    return Action(
        "reject_not_enough_replicas",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=z3.And(arrives(pipeline, batch, leader), z3.Not(accepts(pipeline, leader))),
        updates=effect.updates,
        sentence=lambda before, after: f"{leader.name} refuses {record_name(batch)}: NOT_ENOUGH_REPLICAS",
        semantics="3.2",
    )


def _refused_as_out_of_order(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    check = checked(pipeline, batch, leader)
    assert check is not None
    return z3.And(arrives(pipeline, batch, leader), accepts(pipeline, leader), check.out_of_order)


def bump_due(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the client bumps its epoch: it treats the refusal as lost data, or a sequence is unresolved (3.4).

    After the last retry the client fails the send and bumps its epoch, whichever sequence is due next.
    """
    lost = _is_lost_data(pipeline, batch, leader)
    if not counts_retries(pipeline.deployment):
        return lost
    refused = _refused_as_out_of_order(pipeline, batch, leader)
    return z3.Or(lost, z3.And(refused, z3.Not(attempts_left(pipeline, batch))))


def _is_lost_data(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    check = checked(pipeline, batch, leader)
    assert check is not None and batch.sequence is not None
    producer = pipeline.producer
    next_due = batch.sequence.term == producer.last_acknowledged.term + 1
    next_due = z3.And(next_due, z3.Not(is_renumbered(pipeline, batch)))
    cause = z3.And(check.out_of_order, z3.Or(producer.unresolved.is_set, next_due))
    return z3.And(_refused_as_out_of_order(pipeline, batch, leader), cause)


def reject_out_of_order(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a batch after a gap: the client retries, or bumps its epoch if the batch was the next one due (3.4).

    After the last retry the send fails, and the client bumps its epoch as well.
    """
    producer = pipeline.producer
    bumps, again = bump_due(pipeline, batch, leader), attempts_left(pipeline, batch)
    effect = Effect()
    if counts_retries(pipeline.deployment):
        bump_epoch(pipeline, effect, z3.And(bumps, again))
        bump_epoch(pipeline, effect, z3.Not(again), failed=batch)
    else:
        bump_epoch(pipeline, effect, bumps)
    fail_attempt(pipeline, effect, batch, z3.BoolVal(True))
    return Action(
        "reject_out_of_order",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=z3.And(_refused_as_out_of_order(pipeline, batch, leader), z3.Or(z3.Not(bumps), epoch_left(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} refuses {record_name(batch)}: OUT_OF_ORDER_SEQUENCE_NUMBER"
            + ("; no retry is left, and the send fails" if after[batch.fate.name] == Fate.FAILED else "")
            + ("; the producer bumps its epoch" if after[producer.epoch.name] > before[producer.epoch.name] else "")
        ),
        semantics="3.4, 3.5",
    )


def refuse_in_transaction(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a record of a transaction after a gap: the client retries, or the send fails if next due (3.4, 11.1)."""
    fails = z3.BoolVal(True) if leaves_number_to_next(pipeline) else _is_lost_data(pipeline, batch, leader)
    effect = Effect()
    fail_attempt(pipeline, effect, batch, z3.Not(fails))
    complete(pipeline, effect, batch, Fate.FAILED, fails)
    if pipeline.deployment.producer.older_transactions is not None:
        close_gap(pipeline, effect, batch, z3.And(fails, is_free(pipeline, batch)))
    return Action(
        "refuse_in_transaction",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=_refused_as_out_of_order(pipeline, batch, leader),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} refuses {record_name(batch)}: OUT_OF_ORDER_SEQUENCE_NUMBER"
            + ("; the send fails" if after[batch.fate.name] == Fate.FAILED else "")
        ),
        semantics="3.4, 3.5, 11.1",
    )


def refuse_later(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a record after a gap of a failed one: a client that drains sends it again in its next epoch (4.1).

    In a transaction the client asks for that epoch when the transaction is aborted (semantics 11.1).
    """
    producer = pipeline.producer
    assert batch.sequence is not None
    later = batch.sequence.term > producer.last_acknowledged.term + 1
    effect = Effect()
    if pipeline.transactions is None or pipeline.deployment.producer.sender.bumps_within:
        fail_attempt(pipeline, effect, batch, z3.BoolVal(True))
        effect[producer.unresolved] = True
        then = "the producer will bump its epoch when nothing is in flight"
    else:
        complete(pipeline, effect, batch, Fate.FAILED, z3.BoolVal(True))
        only_abort_is_left(pipeline, effect, batch, bumps=True)
        then = "the send fails, and only an abort is left, with a new epoch"
    return Action(
        "refuse_later",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=z3.And(_refused_as_out_of_order(pipeline, batch, leader), later),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} refuses {record_name(batch)}: OUT_OF_ORDER_SEQUENCE_NUMBER; {then}"
        ),
        semantics="3.5, 4.1",
    )


def refuse_first_due(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse the next record due as out of order: data is lost, and a client that drains stops permanently (4.1)."""
    producer = pipeline.producer
    assert batch.sequence is not None
    first_due = batch.sequence.term <= producer.last_acknowledged.term + 1
    effect = Effect()
    complete(pipeline, effect, batch, Fate.FAILED, z3.BoolVal(True))
    stop_for_good(pipeline, effect, z3.BoolVal(True))
    return Action(
        "refuse_first_due",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=z3.And(_refused_as_out_of_order(pipeline, batch, leader), first_due),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} refuses {record_name(batch)}, the next one due: OUT_OF_ORDER_SEQUENCE_NUMBER; the producer "
            "stops permanently (a fatal error), and the send fails"
        ),
        semantics="3.5, 4.1",
    )


def _bumps_after_failure(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the client bumps its epoch after a permanent failure: not after the last retry (semantics 3.4)."""
    retries = pipeline.deployment.producer.retries
    return z3.BoolVal(True) if retries > UNLIMITED_ATTEMPTS else batch.retries.term < retries


def _fail_for_good(
    pipeline: Pipeline,
    batch: Batch,
    leader: Replica,
    name: str,
    when: z3.BoolRef,
    error: str,
    fault: Fault | None = None,
    *,
    stops: bool = False,
) -> Action:
    """Refuse a request with an error that is not retried: the send fails, and later batches go on (3.1 P6, 3.4).

    ``stops``: in a transaction, the error is fatal for a client that drains (semantics 4.1).
    """
    producer = pipeline.producer
    guard = z3.And(when, answered_in_order(pipeline, batch, leader))
    effect = Effect()
    if pipeline.deployment.producer.rewinds:
        fail_partition(pipeline, effect, batch)
    else:
        complete(pipeline, effect, batch, Fate.FAILED, z3.BoolVal(True))
    if pipeline.deployment.producer.drains and pipeline.deployment.producer.sender.gapless:
        stop_for_good(pipeline, effect, z3.BoolVal(True))
    elif pipeline.deployment.producer.numbers_ahead:
        guard = z3.And(guard, epoch_left(pipeline))
    elif pipeline.deployment.producer.takes_new_ids:
        if not one_by_one(pipeline):
            shift_numbers(pipeline, effect, batch, attempts_left(pipeline, batch))
    elif (
        pipeline.deployment.producer.idempotence
        and not pipeline.deployment.producer.drains
        and pipeline.transactions is None
    ):
        bumps = _bumps_after_failure(pipeline, batch)
        if numbers_on(pipeline.deployment) and producer.moved_on is not None:
            bumps = z3.And(bumps, producer.moved_on.term == 0)
        bump_epoch(pipeline, effect, bumps, failed=batch)
        guard = z3.And(guard, z3.Or(z3.Not(bumps), epoch_left(pipeline)))
    elif pipeline.transactions is not None and pipeline.deployment.producer.drains:
        if stops:
            stop_for_good(pipeline, effect, z3.BoolVal(True))
        else:
            only_abort_is_left(pipeline, effect, batch, bumps=False)
    elif pipeline.deployment.producer.older_transactions is not None:
        close_gap(pipeline, effect, batch, is_free(pipeline, batch))
    elif pipeline.transactions is not None:
        close_gap(pipeline, effect, batch)
        guard = z3.And(guard, producer.next_sequence.term > 0)

    def sentence(before: State, after: State) -> str:
        bumped = after[producer.epoch.name] > before[producer.epoch.name]
        stopped = producer.fatal is not None and after[producer.fatal.name] > before[producer.fatal.name]
        words = f"{leader.name} refuses {record_name(batch)}{error}"
        if after[batch.fate.name] != Fate.FAILED:
            return f"{words}: the producer begins again before it, and will send it again"
        words += "; the send fails" + with_it(pipeline, batch, before, after)
        words += ", and the producer bumps its epoch" if bumped else ""
        return words + (", and the producer stops permanently" if stopped else "")

    arguments = {"batch": batch.number, "leader": leader.number}
    return Action(
        name,
        leader.name,
        lane="brokers",
        arguments=arguments,
        guard=guard,
        updates=effect.updates,
        sentence=sentence,
        semantics="3.1 P6, 3.4",
        fault=fault,
    )


def refuse_for_good(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a record with an error that is not retried, and write nothing (semantics 3.1, P6; 3.4)."""
    at_leader = arrives(pipeline, batch, leader)
    return _fail_for_good(pipeline, batch, leader, "refuse_for_good", at_leader, " permanently", Fault.REFUSED_RECORD)


def reject_old_epoch(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Refuse a request, as the leader has a newer producer epoch: INVALID_PRODUCER_EPOCH, not retried (3.4, 3.5)."""
    check = checked(pipeline, batch, leader)
    assert check is not None
    fenced = z3.And(arrives(pipeline, batch, leader), accepts(pipeline, leader), check.fenced)
    error = ": INVALID_PRODUCER_EPOCH"
    return _fail_for_good(pipeline, batch, leader, "reject_old_epoch", fenced, error, stops=True)


def bump_after_failure_due(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether a batch can fail permanently at this leader and its producer bump the epoch (semantics 3.4)."""
    answered = answered_in_order(pipeline, batch, leader)
    return z3.And(arrives(pipeline, batch, leader), answered, _bumps_after_failure(pipeline, batch))
