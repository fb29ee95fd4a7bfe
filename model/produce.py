"""How a leader handles produce requests, by ``acks`` (semantics 3.2, 3.3, 3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import z3

from model.deployment.deployment import Acks
from model.faults import Fault
from model.idempotence import (
    SequenceCheck,
    bump_epoch,
    check_sequence,
    epoch_left,
    is_renumbered,
    numbers_sent,
)
from model.language import Action, Effect, State
from model.network import abandon, complete, drop_delayed, fail_attempt, leave_connection
from model.replica import advance_high_watermark, append
from model.state import UNLIMITED_ATTEMPTS, Batch, Fate, Pipeline, Replica
from model.wording import record_name


def _is_at(pipeline: Pipeline, batch: Batch, broker: Replica) -> z3.BoolRef:
    """The request is next on its connection at a broker that runs, and that has answered all before it (1.1)."""
    before = [ahead.is_set for ahead in batch.ahead.values()]
    if pipeline.deployment.acks is Acks.ALL:
        before += [
            z3.And(_waits_at(other, broker), z3.Not(_replicated(other, broker)))
            for other in pipeline.producer.batches
            if other is not batch
        ]
    return z3.And(batch.is_(Fate.SENT), batch.target.term == broker.number, broker.up.is_set, z3.Not(z3.Or(*before)))


def _arrives(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """The request is at a broker that takes itself for the leader."""
    return z3.And(_is_at(pipeline, batch, leader), leader.presumes_leadership)


def _check(pipeline: Pipeline, batch: Batch, leader: Replica) -> SequenceCheck | None:
    if batch.sequence is None:
        return None
    return check_sequence(pipeline, leader, batch, *numbers_sent(pipeline, batch))


def _accepts(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """With acks=all the ISR must reach ``min.insync.replicas`` before anything is written (semantics 3.2)."""
    if pipeline.deployment.acks is Acks.ALL:
        return pipeline.enough_in_sync(leader)
    return z3.BoolVal(True)


def has_room(leader: Replica) -> z3.BoolRef:
    """The bound on the log leaves room for another record."""
    return leader.log.end.term < leader.log.capacity


def _entry(
    pipeline: Pipeline, batch: Batch, leader: Replica, epoch: z3.ArithRef | int, sequence: z3.ArithRef | int
) -> Mapping[str, z3.ArithRef | int]:
    entry: dict[str, z3.ArithRef | int] = {"batch": batch.number, "epoch": leader.epoch.term}
    if batch.sequence is not None:
        entry |= {"producer_epoch": epoch, "sequence": sequence}
    return entry


def appendable(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """The leader would append the batch if its log had room."""
    check = _check(pipeline, batch, leader)
    in_order = z3.BoolVal(True) if check is None else check.in_sequence
    return z3.And(_arrives(pipeline, batch, leader), _accepts(pipeline, leader), in_order)


def append_batch(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """The leader appends the record to its log (semantics 3.2, 5 L1)."""
    effect = Effect()
    numbers = (0, 0) if batch.sequence is None else numbers_sent(pipeline, batch)
    append(pipeline, effect, leader, _entry(pipeline, batch, leader, *numbers))
    advance_high_watermark(pipeline, effect, leader)
    done = Fate.ACKNOWLEDGED if pipeline.deployment.acks is Acks.NONE else Fate.APPENDED
    leave_connection(pipeline, effect, batch, z3.BoolVal(True))
    effect[batch.fate] = int(done)
    if done is Fate.ACKNOWLEDGED:
        effect[batch.target] = 0
    return Action(
        "append",
        leader.name,
        "brokers",
        {"batch": batch.number, "leader": leader.number},
        z3.And(appendable(pipeline, batch, leader), has_room(leader)),
        effect.updates,
        lambda before, after: (
            f"{leader.name} appends {record_name(batch)} at offset {before[leader.log.end.name]}"
            f" in epoch {before[leader.epoch.name]}"
        ),
        "3.2, 5 L1",
    )


def recognise_duplicate(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """The leader finds the batch among those it remembers of this producer: success, nothing appended (3.5)."""
    check = _check(pipeline, batch, leader)
    assert check is not None
    effect = Effect()
    leave_connection(pipeline, effect, batch, z3.BoolVal(True))
    effect[batch.fate] = int(Fate.APPENDED)
    return Action(
        "recognise_duplicate",
        leader.name,
        "brokers",
        {"batch": batch.number, "leader": leader.number},
        z3.And(_arrives(pipeline, batch, leader), _accepts(pipeline, leader), check.duplicate),
        effect.updates,
        lambda before, after: f"{leader.name} recognises the retry of {record_name(batch)} and appends nothing",
        "3.5",
    )


def reject_not_leader(pipeline: Pipeline, batch: Batch, broker: Replica) -> Action:
    """The broker does not lead any more: NOT_LEADER_OR_FOLLOWER, nothing written (semantics 3.3, 6.5)."""
    effect = Effect()
    fail_attempt(pipeline, effect, batch, z3.BoolVal(True))
    return Action(
        "reject_not_leader",
        broker.name,
        "brokers",
        {"batch": batch.number, "broker": broker.number},
        z3.And(_is_at(pipeline, batch, broker), z3.Not(broker.presumes_leadership)),
        effect.updates,
        lambda before, after: (
            f"{broker.name}, which does not lead, refuses {record_name(batch)}: NOT_LEADER_OR_FOLLOWER"
        ),
        "3.3, 6.5",
    )


def reject_not_enough_replicas(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """acks=all with too small an ISR: NOT_ENOUGH_REPLICAS, nothing written (semantics 3.2)."""
    effect = Effect()
    fail_attempt(pipeline, effect, batch, z3.BoolVal(True))
    return Action(
        "reject_not_enough_replicas",
        leader.name,
        "brokers",
        {"batch": batch.number, "leader": leader.number},
        z3.And(_arrives(pipeline, batch, leader), z3.Not(_accepts(pipeline, leader))),
        effect.updates,
        lambda before, after: f"{leader.name} refuses {record_name(batch)}: NOT_ENOUGH_REPLICAS",
        "3.2",
    )


def _refused_as_out_of_order(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    check = _check(pipeline, batch, leader)
    assert check is not None
    return z3.And(_arrives(pipeline, batch, leader), _accepts(pipeline, leader), check.out_of_order)


def bump_due(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """The client takes the refusal for lost data, or has given up on an earlier sequence: it bumps (semantics 3.4)."""
    check = _check(pipeline, batch, leader)
    assert check is not None and batch.sequence is not None
    producer = pipeline.producer
    next_due = batch.sequence.term == producer.last_acknowledged.term + 1
    next_due = z3.And(next_due, z3.Not(is_renumbered(pipeline, batch)))
    cause = z3.And(check.out_of_order, z3.Or(producer.unresolved.is_set, next_due))
    return z3.And(_refused_as_out_of_order(pipeline, batch, leader), cause)


def reject_out_of_order(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """A gap in the sequence: the client retries, or bumps its epoch if this was the next one due (semantics 3.4)."""
    producer = pipeline.producer
    bumps = bump_due(pipeline, batch, leader)
    effect = Effect()
    bump_epoch(pipeline, effect, bumps)
    fail_attempt(pipeline, effect, batch, z3.BoolVal(True))
    return Action(
        "reject_out_of_order",
        leader.name,
        "brokers",
        {"batch": batch.number, "leader": leader.number},
        z3.And(_refused_as_out_of_order(pipeline, batch, leader), z3.Or(z3.Not(bumps), epoch_left(pipeline))),
        effect.updates,
        lambda before, after: (
            f"{leader.name} refuses {record_name(batch)}: OUT_OF_ORDER_SEQUENCE_NUMBER"
            + ("; the producer bumps its epoch" if after[producer.epoch.name] > before[producer.epoch.name] else "")
        ),
        "3.4, 3.5",
    )


def _bumps_after_failure(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """A batch that failed for good leaves a gap: the client bumps, unless its last retry failed (semantics 3.4)."""
    retries = pipeline.deployment.retries
    return z3.BoolVal(True) if retries > UNLIMITED_ATTEMPTS else batch.retries.term < retries


def _answered_in_order(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """No answer to an earlier request is on its way over the same connection: answers do not overtake each other."""
    others = [other for other in pipeline.producer.batches if other is not batch]
    return z3.Not(z3.Or(*(_waits_at(other, leader) for other in others)))


def _fail_for_good(
    pipeline: Pipeline,
    batch: Batch,
    leader: Replica,
    name: str,
    when: z3.BoolRef,
    error: str,
    fault: Fault | None = None,
) -> Action:
    """An error that is not retried: the send fails, and what waits behind it goes on (semantics 3.1 P6, 3.4)."""
    producer = pipeline.producer
    guard = z3.And(when, _answered_in_order(pipeline, batch, leader))
    effect = Effect()
    complete(pipeline, effect, batch, Fate.FAILED, z3.BoolVal(True))
    if pipeline.deployment.idempotence:
        bumps = _bumps_after_failure(pipeline, batch)
        bump_epoch(pipeline, effect, bumps, failed=batch)
        guard = z3.And(guard, z3.Or(z3.Not(bumps), epoch_left(pipeline)))

    def sentence(before: State, after: State) -> str:
        bumped = after[producer.epoch.name] > before[producer.epoch.name]
        words = f"{leader.name} refuses {record_name(batch)}{error}; the send fails"
        return words + (", and the producer bumps its epoch" if bumped else "")

    arguments = {"batch": batch.number, "leader": leader.number}
    return Action(name, leader.name, "brokers", arguments, guard, effect.updates, sentence, "3.1 P6, 3.4", fault)


def refuse_for_good(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """An error that no retry mends, and nothing written (semantics 3.1, P6; 3.4)."""
    arrives = _arrives(pipeline, batch, leader)
    return _fail_for_good(pipeline, batch, leader, "refuse_for_good", arrives, " for good", Fault.REFUSED_RECORD)


def reject_old_epoch(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """The leader has a newer epoch of this producer: INVALID_PRODUCER_EPOCH, which is not retried (3.4, 3.5)."""
    check = _check(pipeline, batch, leader)
    assert check is not None
    fenced = z3.And(_arrives(pipeline, batch, leader), _accepts(pipeline, leader), check.fenced)
    return _fail_for_good(pipeline, batch, leader, "reject_old_epoch", fenced, ": INVALID_PRODUCER_EPOCH")


def bump_after_failure_due(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """A batch may fail for good at this leader, and its producer bump its epoch (semantics 3.4)."""
    answered = _answered_in_order(pipeline, batch, leader)
    return z3.And(_arrives(pipeline, batch, leader), answered, _bumps_after_failure(pipeline, batch))


def _delayed_numbers(batch: Batch) -> tuple[z3.ArithRef | int, z3.ArithRef | int]:
    """Producer epoch and sequence that an abandoned request was sent with."""
    if batch.delayed_epoch is None or batch.delayed_sequence is None:
        return 0, 0
    return batch.delayed_epoch.term, batch.delayed_sequence.term


def delayed_appendable(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """The leader would append an abandoned request, next on its connection, if its log had room."""
    earlier = z3.Or(
        *(
            other.delayed.term == leader.number
            for other in pipeline.producer.batches
            if other.attempt == batch.attempt and other.record < batch.record
        )
    )
    in_order = z3.BoolVal(True)
    if batch.delayed_epoch is not None and batch.delayed_sequence is not None:
        epoch, sequence = batch.delayed_epoch.term, batch.delayed_sequence.term
        in_order = check_sequence(pipeline, leader, batch, epoch, sequence).in_sequence
    at_leader = z3.And(batch.delayed.term == leader.number, leader.presumes_leadership)
    return z3.And(at_leader, _accepts(pipeline, leader), z3.Not(earlier), in_order)


def execute_delayed(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """A leader executes a request whose client gave up on it, in the order of sending (semantics 1.1)."""
    effect = Effect()
    append(pipeline, effect, leader, _entry(pipeline, batch, leader, *_delayed_numbers(batch)))
    advance_high_watermark(pipeline, effect, leader)
    drop_delayed(effect, batch, z3.BoolVal(True))
    return Action(
        "execute_delayed",
        leader.name,
        "brokers",
        {"batch": batch.number, "leader": leader.number},
        z3.And(delayed_appendable(pipeline, batch, leader), has_room(leader)),
        effect.updates,
        lambda before, after: (
            f"{leader.name} executes the abandoned request: {record_name(batch)}"
            f" at offset {before[leader.log.end.name]}"
        ),
        "1.1",
    )


def _replicated(batch: Batch, leader: Replica) -> z3.BoolRef:
    """The leader's high watermark passed every copy of the batch in its log, and there is one."""
    below = leader.log.every(
        lambda offset, slot: z3.Implies(slot["batch"].term == batch.number, leader.high_watermark.term > offset)
    )
    return z3.And(leader.log.some(lambda _, slot: slot["batch"].term == batch.number), below)


def _waits_at(batch: Batch, leader: Replica) -> z3.BoolRef:
    return z3.And(batch.is_(Fate.APPENDED), batch.target.term == leader.number, leader.up.is_set)


def acknowledge(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """The leader's success response reaches the producer: the record is acknowledged (semantics 3.1 P3, 3.2)."""
    producer = pipeline.producer
    condition = _waits_at(batch, leader)
    if pipeline.deployment.acks is Acks.ALL:
        condition = z3.And(condition, _replicated(batch, leader), pipeline.enough_in_sync(leader))
    effect = Effect()
    effect[batch.fate] = int(Fate.ACKNOWLEDGED)
    effect[batch.target] = 0
    effect[batch.retries] = 0
    if batch.sequence is not None:
        later = batch.sequence.term > producer.last_acknowledged.term
        effect.set_when(later, producer.last_acknowledged, batch.sequence.term)
        effect[batch.sequence] = -1
    return Action(
        "acknowledge",
        leader.name,
        "brokers",
        {"batch": batch.number, "leader": leader.number},
        condition,
        effect.updates,
        lambda before, after: f"{leader.name} acknowledges {record_name(batch)}",
        "3.1 P3, 3.2",
    )


def fail_not_enough_after_append(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Replicated to the ISR, but the ISR shrank: NOT_ENOUGH_REPLICAS_AFTER_APPEND, and it is written (3.2)."""
    effect = Effect()
    fail_attempt(pipeline, effect, batch, z3.BoolVal(True))
    return Action(
        "fail_not_enough_after_append",
        leader.name,
        "brokers",
        {"batch": batch.number, "leader": leader.number},
        z3.And(_waits_at(batch, leader), _replicated(batch, leader), z3.Not(pipeline.enough_in_sync(leader))),
        effect.updates,
        lambda before, after: f"{leader.name} answers {record_name(batch)}: NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "3.2",
    )


def held_up(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """The appended batch waits for a member of the ISR that does not fetch, or for a large enough ISR."""
    silent = z3.Or(
        *(
            z3.And(
                leader.isr[follower.number].is_set,
                follower.does_not_fetch_from(leader),
            )
            for follower in pipeline.followers_of(leader)
        )
    )
    stuck = z3.Or(silent, z3.Not(pipeline.enough_in_sync(leader)))
    return z3.And(_waits_at(batch, leader), z3.Not(_replicated(batch, leader)), stuck)


def queues_at(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """The request waits behind one that is held up there: the broker reads no further (1.1)."""
    others = [held_up(pipeline, other, leader) for other in pipeline.producer.batches if other is not batch]
    return z3.And(batch.is_(Fate.SENT), batch.target.term == leader.number, z3.Or(*others))


def time_out(pipeline: Pipeline, leader: Replica) -> Action:
    """The client waits for no answer any longer, and drops the connection: all that is in flight on it fails (P5).

    What the broker had not read it may still execute, or not.
    """
    effect = Effect()
    for batch in pipeline.producer.batches:
        here = batch.target.term == leader.number
        abandon(pipeline, effect, batch, z3.And(batch.is_(Fate.SENT), here))
        fail_attempt(pipeline, effect, batch, z3.And(batch.in_flight, here))
    return Action(
        "time_out",
        "producer",
        "producer",
        {"leader": leader.number},
        z3.Or(*(queues_at(pipeline, batch, leader) for batch in pipeline.producer.batches)),
        effect.updates,
        lambda before, after: (
            f"request.timeout.ms is over, and the producer drops its connection to {leader.name}, which has read "
            "nothing behind what waits for the ISR"
        ),
        "3.1 P5",
    )


def time_out_at_broker(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """The ISR does not get there within request.timeout.ms: REQUEST_TIMED_OUT, and it is written (semantics 3.2)."""
    effect = Effect()
    fail_attempt(pipeline, effect, batch, z3.BoolVal(True))
    return Action(
        "time_out_at_broker",
        leader.name,
        "brokers",
        {"batch": batch.number, "leader": leader.number},
        held_up(pipeline, batch, leader),
        effect.updates,
        lambda before, after: f"{leader.name} answers {record_name(batch)}: REQUEST_TIMED_OUT, the ISR did not follow",
        "3.2, 3.3",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Everything a leader does with produce requests."""
    if pipeline.deployment.acks is Acks.ALL and len(pipeline.producer.batches) > 1:
        for leader in pipeline.replicas:
            yield time_out(pipeline, leader)
    for batch in pipeline.producer.batches:
        for leader in pipeline.replicas:
            yield append_batch(pipeline, batch, leader)
            yield reject_not_leader(pipeline, batch, leader)
            yield execute_delayed(pipeline, batch, leader)
            if pipeline.deployment.acks is not Acks.NONE:
                yield refuse_for_good(pipeline, batch, leader)
                yield acknowledge(pipeline, batch, leader)
            if pipeline.deployment.acks is Acks.ALL:
                yield reject_not_enough_replicas(pipeline, batch, leader)
                yield fail_not_enough_after_append(pipeline, batch, leader)
                yield time_out_at_broker(pipeline, batch, leader)
            if pipeline.deployment.idempotence:
                yield recognise_duplicate(pipeline, batch, leader)
                yield reject_out_of_order(pipeline, batch, leader)
                yield reject_old_epoch(pipeline, batch, leader)
