"""Network faults of a produce request: request lost, response lost, or executed after its client gave up (1.1).

A timeout or a disconnect at the client never cancels the request at the broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import z3

from proofka.model.deployment.choices import Acks
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State, present
from proofka.model.language.terms import And, BoolVal, IntVal, Not, Or
from proofka.model.sequencing.attempt_end import AttemptEnd
from proofka.model.state.acknowledging import acknowledging
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica, counts_retries
from proofka.model.state.wording import record_name


def join_connection(pipeline: Pipeline, effect: Effect, batch: Batch, leader: Replica) -> None:
    """Queue the request behind those on their way to the same broker: a connection keeps its order (1.1)."""
    for other in pipeline.producer.batches:
        if other is not batch:
            ahead = And(other.is_(Fate.SENT), other.target.term == leader.number)
            effect[batch.ahead[other.number]] = ahead


def leave_connection(pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Take the request off its connection; the requests behind it move up."""
    pipeline.recovery.forget_request(effect, batch, when)
    for other in pipeline.producer.batches:
        if other is not batch:
            effect.set_when(when, other.ahead[batch.number], 0)
            effect.set_when(when, batch.ahead[other.number], 0)


def complete(
    pipeline: Pipeline, effect: Effect, batch: Batch, fate: Fate, when: z3.BoolRef, *, out_of_retries: bool = False
) -> None:
    """Complete the batch's future with ``fate``, and reset its state in flight (semantics 3.1, P3 P6-P8).

    A failed batch can leave a gap among the sequence numbers (semantics 3.4, 4.1), which depends on ``out_of_retries``.
    """
    if fate is Fate.FAILED:
        pipeline.recovery.leave_gap(pipeline, effect, batch, when, out_of_retries=out_of_retries)
    end_send(pipeline, effect, batch, fate, when)


def end_send(pipeline: Pipeline, effect: Effect, batch: Batch, fate: Fate, when: z3.BoolRef) -> None:
    """Complete the batch for a client that sends nothing after it, or has closed the gap that the batch leaves."""
    leave_connection(pipeline, effect, batch, when)
    effect.set_when(when, batch.fate, int(fate))
    effect.set_when(when, batch.target, 0)
    effect.set_when(when, batch.retries, 0)
    pipeline.recovery.forget_numbers(effect, batch, when)


def fail_attempt(
    pipeline: Pipeline,
    effect: Effect,
    batch: Batch,
    when: z3.BoolRef,
    *,
    end: AttemptEnd = AttemptEnd.ERROR,
) -> None:
    """Fail an attempt with a retriable error: back to the accumulator, or failed when no retry is left (3.1, P4 P5).

    With acks=0 the future was completed when the request was written, whatever becomes of the request (semantics 3.2).
    ``when``: the condition of the failure besides the guard of the action; true where the action is the failure itself.
    For some clients a refusal by a broker that does not lead is no attempt (semantics 4.1). A batch whose number is of
    an earlier producer id is not retried (3.4).
    """
    deployment = pipeline.deployment
    if end in (AttemptEnd.ERROR, AttemptEnd.UNANSWERED):
        doubt(effect, batch, when)
    when = pipeline.recovery.fail_of_earlier_id(pipeline, effect, batch, when)
    counts = deployment.producer.sender.refusals_count or end is not AttemptEnd.NOT_LEADER
    if deployment.producer.acks is Acks.NONE:
        complete(pipeline, effect, batch, Fate.ACKNOWLEDGED, when)
        return
    if deployment.producer.retries == 0 and counts:
        complete(pipeline, effect, batch, Fate.FAILED, when, out_of_retries=True)
        return
    again, used = pipeline.recovery.spend_attempt(pipeline, effect, batch, when, counts=counts)
    pipeline.recovery.expect_retry(pipeline, effect, batch, again, answered=end is not AttemptEnd.UNANSWERED)
    leave_connection(pipeline, effect, batch, again)
    effect.set_when(again, batch.fate, int(Fate.BUFFERED))
    effect.set_when(again, batch.target, 0)
    effect.set_when(again, batch.retries, used)


def fail_unanswered(pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Fail an attempt whose connection ended before an answer (3.1, P5)."""
    fail_attempt(pipeline, effect, batch, when, end=AttemptEnd.UNANSWERED)


def count_attempt(
    pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef, *, counts: bool
) -> tuple[z3.BoolRef, z3.ArithRef]:
    """Count a failed attempt where attempts are limited, and fail the send after the last one (semantics 3.1, P4).

    Return when the record is retried, and the number of attempts that it then has behind it.
    """
    deployment = pipeline.deployment
    if not counts:
        return when, batch.retries.term if counts_retries(deployment) else IntVal(1)
    if not counts_retries(deployment):
        return when, IntVal(1)
    left = batch.retries.term < deployment.producer.retries
    complete(pipeline, effect, batch, Fate.FAILED, And(when, Not(left)), out_of_retries=True)
    return And(when, left), batch.retries.term + 1


def attempts_left(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the failed attempt was not the last one."""
    if not counts_retries(pipeline.deployment):
        return BoolVal(True)
    return batch.retries.term < pipeline.deployment.producer.retries


def will_be_retried(pipeline: Pipeline, batch: Batch, state: State) -> bool:
    """Tell whether the batch, whose attempt failed, has another attempt left in this state."""
    waits = state[batch.fate.name] == Fate.BUFFERED
    return waits and pipeline.recovery.has_attempt_left(pipeline, batch, state)


def doubt(effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Note that the client does not know whether the ended attempt was stored, and never will (semantics 4.1).

    Callers leave out a refusal by a broker that does not lead: the client counts the record as not stored then,
    although that broker can be the leader that stored it (3.3).
    """
    effect.set_when(when, batch.doubtful, 1)


def leave_unanswered(pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Note that the request's connection is dead and the client does not know yet (semantics 3.1, P5).

    With acks=0 the client never finds out: it waits for no answer.
    """
    if pipeline.deployment.producer.acks is Acks.NONE:
        fail_unanswered(pipeline, effect, batch, when)
        return
    leave_connection(pipeline, effect, batch, when)
    effect.set_when(when, batch.fate, int(Fate.UNANSWERED))


def disconnect(pipeline: Pipeline, effect: Effect, replica: Replica) -> None:
    """Close the connections of a broker that is gone: its requests fail, and it executes none (3.1, P5)."""
    _end_connections(pipeline, effect, replica, fail_unanswered)


def fall_silent(pipeline: Pipeline, effect: Effect, replica: Replica) -> None:
    """Leave the connections of a broker that is gone open: requests in flight to it get no answer (3.1, P5)."""
    _end_connections(pipeline, effect, replica, leave_unanswered)
    for remembered in (pipeline.history.fell_silent, pipeline.history.unnoticed):
        if replica.number in remembered:
            effect[remembered[replica.number]] = True


def _end_connections(
    pipeline: Pipeline,
    effect: Effect,
    replica: Replica,
    ends: Callable[[Pipeline, Effect, Batch, z3.BoolRef], None],
) -> None:
    for batch in pipeline.producer.batches:
        ends(pipeline, effect, batch, And(batch.can_be_answered, batch.target.term == replica.number))
        drop_delayed(effect, batch, batch.delayed.term == replica.number)
    lose_late_answers(pipeline, effect, replica.number, BoolVal(True))


def answered_late(batch: Batch) -> Iterator[z3.BoolRef]:
    """Yield the condition that the send failed in flight and its connection works: the request will be answered."""
    if batch.late is not None:
        yield And(batch.late.term != 0, batch.late.term != batch.late.high)


def lose_late_answers(pipeline: Pipeline, effect: Effect, broker: z3.ArithRef | int, when: z3.BoolRef) -> None:
    """Turn every late answer over this broker's connection into an error."""
    for late in present(*(batch.late for batch in pipeline.producer.batches)):
        effect.set_when(And(when, late.term != 0, late.term == broker), late, late.high)


def is_dead(pipeline: Pipeline, broker: Replica) -> z3.BoolRef:
    """Tell whether the producer's connection to this broker is dead and the producer does not know."""
    return Or(*(_is_unanswered_by(batch, broker) for batch in pipeline.producer.batches))


def _is_unanswered_by(batch: Batch, broker: Replica) -> z3.BoolRef:
    return And(batch.is_(Fate.UNANSWERED), batch.target.term == broker.number)


def fail_requests_of_former_leader(pipeline: Pipeline, effect: Effect, replica: Replica, when: z3.BoolRef) -> None:
    """Answer NOT_LEADER to the requests that wait for the ISR at a broker that stops leading (semantics 6.5)."""
    for batch in pipeline.producer.batches:
        waits = And(batch.is_(Fate.APPENDED), batch.target.term == replica.number)
        for waits_for_isr in acknowledging(pipeline).waiting_for_isr([waits]):
            fail_attempt(pipeline, effect, batch, And(when, waits_for_isr), end=AttemptEnd.NOT_LEADER)
    lose_late_answers(pipeline, effect, replica.number, when)


def drop_delayed(effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Forget the abandoned copy of a request."""
    effect.reset_when(when, batch.delayed, batch.delayed_epoch, batch.delayed_sequence)


def abandon(pipeline: Pipeline, effect: Effect, batch: Batch, when: z3.BoolRef) -> None:
    """Abandon a request that stays on its way to the broker, with the numbers it was sent with."""
    effect.set_when(when, batch.delayed, batch.target.term)
    pipeline.recovery.keep_delayed(effect, batch, when)


def break_connection(pipeline: Pipeline, effect: Effect, batch: Batch, batch_is_executed: bool) -> None:
    """Break the connection that carries ``batch``'s request: nothing in flight on it is answered (semantics 3.1, P5).

    Requests ahead can still be executed. So can the request itself and those behind it, if ``batch_is_executed``;
    otherwise they are lost. With acks=0 nobody waits for what is executed.
    """
    expects_answers = pipeline.deployment.producer.acks is not Acks.NONE
    effect[pipeline.history.lost_requests] = True
    for other in pipeline.producer.batches:
        same = BoolVal(True)
        may_arrive = BoolVal(batch_is_executed)
        if other is not batch:
            same = And(other.can_be_answered, other.target.term == batch.target.term)
            may_arrive = Or(may_arrive, batch.ahead[other.number].is_set)
        still_coming = And(same, may_arrive, other.is_(Fate.SENT))
        if expects_answers:
            lose_late_answers(pipeline, effect, batch.target.term, BoolVal(True))
            abandon(pipeline, effect, other, still_coming)
            leave_unanswered(pipeline, effect, other, same)
        else:
            leave_unanswered(pipeline, effect, other, And(same, Not(may_arrive)))


def lose_request(pipeline: Pipeline, batch: Batch) -> Action:
    """Break the connection before the request reaches the broker (semantics 3.1, P5)."""
    effect = Effect()
    break_connection(pipeline, effect, batch, batch_is_executed=False)
    return Action(
        "lose_request",
        "network",
        lane="producer",
        arguments={"batch": batch.number},
        guard=batch.is_(Fate.SENT),
        updates=effect.updates,
        sentence=lambda before, after: f"the request with {record_name(batch)} is lost, and its connection is dead",
        semantics="1.1, 3.1 P5",
        fault=Fault.LOST_REQUEST,
    )


def lose_response(pipeline: Pipeline, batch: Batch) -> Action:
    """Break the connection after the record is appended, before the producer has the answer (semantics 1.1)."""
    effect = Effect()
    break_connection(pipeline, effect, batch, batch_is_executed=True)
    return Action(
        "lose_response",
        "network",
        lane="producer",
        arguments={"batch": batch.number},
        guard=batch.is_(Fate.APPENDED),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the response for {record_name(batch)} is lost, and its connection is dead;"
            " the producer cannot know that it is appended"
        ),
        semantics="1.1, 3.1 P5",
        fault=Fault.LOST_RESPONSE,
    )


def delay_request(pipeline: Pipeline, batch: Batch) -> Action:
    """Delay the request at the broker for longer than its client waits for the answer (semantics 1.1)."""
    effect = Effect()
    break_connection(pipeline, effect, batch, batch_is_executed=True)
    return Action(
        "delay_request",
        "network",
        lane="producer",
        arguments={"batch": batch.number},
        guard=batch.is_(Fate.SENT),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the request with {record_name(batch)} is held up, for longer than the producer waits for an answer"
        ),
        semantics="1.1",
        fault=Fault.DELAYED_REQUEST,
    )


def notice(pipeline: Pipeline, broker: Replica) -> Action:
    """Let the client find that a connection is dead: everything in flight on it fails (semantics 3.1, P5)."""
    effect = Effect()
    for batch in pipeline.producer.batches:
        fail_unanswered(pipeline, effect, batch, _is_unanswered_by(batch, broker))
    if broker.number in pipeline.history.unnoticed:
        effect[pipeline.history.unnoticed[broker.number]] = False

    def sentence(before: State, after: State) -> str:
        failed = [b for b in pipeline.producer.batches if before[b.fate.name] != after[b.fate.name]]
        given_up = [record_name(b) for b in failed if after[b.fate.name] == Fate.FAILED]
        retried = [record_name(b) for b in failed if will_be_retried(pipeline, b, after)]
        words = [f"the producer finds that its connection to {broker.name} is dead"]
        words += [f"{' and '.join(retried)} will be retried"] if retried else []
        words += [f"{' and '.join(given_up)}: the send fails"] if given_up else []
        return "; ".join(words)

    return Action(
        "notice",
        "producer",
        lane="producer",
        arguments={"broker": broker.number},
        guard=is_dead(pipeline, broker),
        updates=effect.updates,
        sentence=sentence,
        semantics="3.1 P5",
    )


def discard_delayed(pipeline: Pipeline, batch: Batch) -> Action:
    """Discard an abandoned request and those behind it: the broker closed the connection before it executed them."""
    effect = Effect()
    dropped = batch.delayed.term != 0
    for answered in answered_late(batch):
        dropped = And(dropped, Not(answered))
    for other in pipeline.producer.batches:
        if other is batch or (other.attempt == batch.attempt and other.record > batch.record):
            behind = other.delayed.term == batch.delayed.term
            for answered in answered_late(other):
                behind = And(behind, Not(answered))
            drop_delayed(effect, other, behind)
    return Action(
        "discard_delayed",
        "network",
        lane="producer",
        arguments={"batch": batch.number},
        guard=dropped,
        updates=effect.updates,
        sentence=lambda before, after: f"the abandoned request with {record_name(batch)} is dropped",
        semantics="1.1",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the network's actions on produce requests."""
    for batch in pipeline.producer.batches:
        yield lose_request(pipeline, batch)
        yield discard_delayed(pipeline, batch)
        if pipeline.deployment.producer.acks is not Acks.NONE:
            yield lose_response(pipeline, batch)
            yield delay_request(pipeline, batch)
    if pipeline.deployment.producer.acks is not Acks.NONE:
        for broker in pipeline.replicas:
            yield notice(pipeline, broker)
