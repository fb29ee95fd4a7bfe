"""The leader's handling of produce requests, by ``acks`` (semantics 3.2, 3.3, 3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import z3

from proofka.model.deployment.choices import Acks
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.log.replica import advance_high_watermark, append
from proofka.model.log.unserved import note_unserved
from proofka.model.producing.refusals import reject_not_enough_replicas, reject_not_leader
from proofka.model.sequencing.arrival import accepts, arrives, checked, held_up, queues_at, replicated, waits_at
from proofka.model.sequencing.network import (
    abandon,
    drop_delayed,
    fail_attempt,
    fail_unanswered,
    leave_connection,
    lose_late_answers,
)
from proofka.model.sequencing.refusing import refuse_for_good
from proofka.model.state.acknowledging import acknowledging
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.wording import record_name


def has_room(leader: Replica) -> z3.BoolRef:
    """Tell whether the bound on the log leaves room for another record."""
    return leader.log.end.term < leader.log.capacity


def _entry(
    pipeline: Pipeline, batch: Batch, leader: Replica, epoch: z3.ArithRef | int, sequence: z3.ArithRef | int
) -> Mapping[str, z3.ArithRef | int]:
    own = {"batch": batch.number, "epoch": leader.epoch.term}
    return {**own, "producer_epoch": epoch, "sequence": sequence}


def appendable(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the leader would append the batch if its log had room."""
    check = checked(pipeline, batch, leader)
    conditions = [arrives(pipeline, batch, leader), accepts(pipeline, leader)]
    conditions.append(BoolVal(True) if check is None else check.in_sequence)
    conditions.extend(pipeline.sending.verifies(pipeline, leader, pipeline.recovery.numbers_sent(batch)[0]))
    return And(*conditions)


def append_batch(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Append the record to the leader's log (semantics 3.2, 5 L1)."""
    effect = Effect()
    append(pipeline, effect, leader, _entry(pipeline, batch, leader, *pipeline.recovery.numbers_sent(batch)))
    advance_high_watermark(pipeline, effect, leader)
    leave_connection(pipeline, effect, batch, BoolVal(True))
    pipeline.recovery.keep_request(pipeline, effect, batch)
    acknowledging(pipeline).leave_appended(effect, batch)
    note_unserved(pipeline, effect)
    return Action(
        "append",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(appendable(pipeline, batch, leader), has_room(leader)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} appends {record_name(batch)} at offset {before[leader.log.end.name]}"
            f" in epoch {before[leader.epoch.name]}"
        ),
        semantics="3.2, 5 L1",
    )


def recognise_duplicate(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Recognise a batch that the leader remembers of this producer: success, and nothing is appended (3.5)."""
    check = checked(pipeline, batch, leader)
    assert check is not None
    found = check.duplicate
    for is_itself in pipeline.sending.is_itself(pipeline, batch, leader):
        found = And(found, is_itself)
    effect = Effect()
    leave_connection(pipeline, effect, batch, BoolVal(True))
    pipeline.recovery.keep_request(pipeline, effect, batch)
    effect[batch.fate] = int(Fate.APPENDED)

    def sentence(before: State, after: State) -> str:
        is_there = any(entry["batch"] == batch.number for entry in leader.log.entries(before))
        if is_there:
            return f"{leader.name} recognises the retry of {record_name(batch)} and appends nothing"
        words = f"{leader.name} treats {record_name(batch)} as the retry of a record with the same sequence number"
        return f"{words}, and appends nothing"

    return Action(
        "recognise_duplicate",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(arrives(pipeline, batch, leader), accepts(pipeline, leader), found),
        updates=effect.updates,
        sentence=sentence,
        semantics="3.5",
    )


def delayed_appendable(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the leader would append an abandoned request, next on its connection, if its log had room."""
    earlier = Or(
        *(
            other.delayed.term == leader.number
            for other in pipeline.producer.batches
            if other.attempt == batch.attempt and other.record < batch.record
        )
    )
    in_order = pipeline.recovery.accepts_delayed(pipeline, batch, leader)
    at_leader = And(batch.delayed.term == leader.number, leader.presumes_leadership)
    return And(at_leader, accepts(pipeline, leader), Not(earlier), in_order)


def execute_delayed(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Execute a request whose client gave up on it, in the order of sending (semantics 1.1)."""
    effect = Effect()
    append(pipeline, effect, leader, _entry(pipeline, batch, leader, *pipeline.recovery.numbers_delayed(batch)))
    advance_high_watermark(pipeline, effect, leader)
    drop_delayed(effect, batch, BoolVal(True))
    note_unserved(pipeline, effect)
    return Action(
        "execute_delayed",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(delayed_appendable(pipeline, batch, leader), has_room(leader)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} executes the abandoned request: {record_name(batch)}"
            f" at offset {before[leader.log.end.name]}"
        ),
        semantics="1.1",
    )


def acknowledge(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Let the leader's success response reach the producer: the record is acknowledged (semantics 3.1 P3, 3.2)."""
    producer = pipeline.producer
    is_replicated, in_sync = replicated(pipeline, batch, leader), pipeline.enough_in_sync(leader)
    condition = acknowledging(pipeline).answered_when(waits_at(batch, leader), is_replicated, in_sync)
    for taken in pipeline.recovery.takes_answer(pipeline, batch):
        condition = And(condition, taken)
    effect = Effect()
    effect[batch.fate] = int(Fate.ACKNOWLEDGED)
    effect[batch.target] = 0
    effect[batch.retries] = 0
    pipeline.recovery.acknowledge(pipeline, effect, batch, leader)

    def sentence(before: State, after: State) -> str:
        others = [b for b in producer.batches if b is not batch and before[b.fate.name] != after[b.fate.name]]
        implied = " and ".join(record_name(other) for other in others)
        words = f"{leader.name} acknowledges {record_name(batch)}"
        if after[batch.fate.name] == Fate.BUFFERED:
            return f"{words}: the producer begins again before it, and will send it again"
        return words + (f", and the producer treats {implied}, sent before it, as delivered as well" if implied else "")

    return Action(
        "acknowledge",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=condition,
        updates=effect.updates,
        sentence=sentence,
        semantics="3.1 P3, 3.2",
    )


def fail_not_enough_after_append(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Answer NOT_ENOUGH_REPLICAS_AFTER_APPEND to a written and replicated batch, as the ISR shrank (3.2)."""
    effect = Effect()
    fail_attempt(pipeline, effect, batch, BoolVal(True))
    return Action(
        "fail_not_enough_after_append",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(waits_at(batch, leader), replicated(pipeline, batch, leader), Not(pipeline.enough_in_sync(leader))),
        updates=effect.updates,
        sentence=lambda before, after: f"{leader.name} answers {record_name(batch)}: NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        semantics="3.2",
    )


def time_out(pipeline: Pipeline, leader: Replica) -> Action:
    """Drop the client's connection, as request.timeout.ms is over: all that is in flight on it fails (3.1 P5).

    The broker can still execute what it had not read, or not.
    """
    effect = Effect()
    for batch in pipeline.producer.batches:
        here = batch.target.term == leader.number
        abandon(pipeline, effect, batch, And(batch.is_(Fate.SENT), here))
        fail_unanswered(pipeline, effect, batch, And(batch.in_flight, here))
    lose_late_answers(pipeline, effect, leader.number, BoolVal(True))
    return Action(
        "time_out",
        "producer",
        lane="producer",
        arguments={"leader": leader.number},
        guard=Or(*(queues_at(pipeline, batch, leader) for batch in pipeline.producer.batches)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"request.timeout.ms is over, and the producer drops its connection to {leader.name}, which has read "
            "nothing behind what waits for the ISR"
        ),
        semantics="3.1 P5",
    )


def time_out_at_broker(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Answer REQUEST_TIMED_OUT to a written batch that the ISR does not replicate within request.timeout.ms (3.2)."""
    effect = Effect()
    fail_attempt(pipeline, effect, batch, BoolVal(True))
    return Action(
        "time_out_at_broker",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=held_up(pipeline, batch, leader),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} answers {record_name(batch)}: REQUEST_TIMED_OUT, the ISR did not follow"
        ),
        semantics="3.2, 3.3",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the leader's actions on produce requests."""
    if pipeline.deployment.producer.acks is Acks.ALL and len(pipeline.producer.batches) > 1:
        for leader in pipeline.replicas:
            yield time_out(pipeline, leader)
    for batch in pipeline.producer.batches:
        for leader in pipeline.replicas:
            yield append_batch(pipeline, batch, leader)
            yield reject_not_leader(pipeline, batch, leader)
            yield execute_delayed(pipeline, batch, leader)
            if pipeline.deployment.producer.acks is not Acks.NONE:
                yield refuse_for_good(pipeline, batch, leader)
                yield acknowledge(pipeline, batch, leader)
            if pipeline.deployment.producer.acks is Acks.ALL:
                yield reject_not_enough_replicas(pipeline, batch, leader)
                yield fail_not_enough_after_append(pipeline, batch, leader)
                yield time_out_at_broker(pipeline, batch, leader)
            if pipeline.deployment.producer.idempotence:
                yield recognise_duplicate(pipeline, batch, leader)
                yield from pipeline.recovery.refusals(pipeline, batch, leader)
            yield from pipeline.sending.refusals(pipeline, batch, leader)
