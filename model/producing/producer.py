"""The producer application and its client: send, transmit, give up (semantics 3.1, 3.4)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import z3

from proofka.model.deployment.choices import Acks
from proofka.model.deployment.implied.outages import leader_may_return_unnoticed
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, If, Not, Or, Sum
from proofka.model.producing.finding_leader import epoch_heard_of, is_considered_leader
from proofka.model.sequencing.arrival import accepts, held_up, queues_at
from proofka.model.sequencing.network import (
    abandon,
    complete,
    doubt,
    fail_unanswered,
    is_dead,
    join_connection,
    will_be_retried,
)
from proofka.model.state.acknowledging import acknowledging
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica, counts_retries
from proofka.model.state.wording import record_name


def _called(pipeline: Pipeline, batch: Batch, fate: Fate) -> Effect:
    """Return the effect of a send() that returns: the batch has ``fate``, and belongs to the current session."""
    effect = Effect()
    effect[batch.fate] = int(fate)
    effect[batch.session] = pipeline.producer.session.term
    pipeline.sending.begin(pipeline, effect, batch)
    return effect


def send(pipeline: Pipeline, batch: Batch) -> Action:
    """Let the application call send(): the record is in the accumulator (semantics 3.1, P1)."""
    effect = _called(pipeline, batch, Fate.BUFFERED)
    return Action(
        "send",
        "application",
        lane="producer",
        arguments={"batch": batch.number},
        guard=And(pipeline.sending.may_send(pipeline, batch), Not(pipeline.recovery.has_stopped(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: f"the application sends {record_name(batch)}",
        semantics="3.1 P1",
    )


def refuse_send(pipeline: Pipeline, batch: Batch) -> Action:
    """Fail a send() at a buffer that stays full for max.block.ms: nothing is ever transmitted (semantics 3.1, P1)."""
    effect = _called(pipeline, batch, Fate.FAILED)
    pipeline.sending.note_refused(pipeline, effect, batch)
    return Action(
        "refuse_send",
        "producer",
        lane="producer",
        arguments={"batch": batch.number},
        guard=pipeline.sending.may_send(pipeline, batch),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the producer has no room for {record_name(batch)}: send() fails when max.block.ms is over"
            + pipeline.sending.refusal_in_words()
        ),
        semantics="3.1 P1",
        fault=Fault.FULL_BUFFER,
    )


def refuse_after_stop(pipeline: Pipeline, batch: Batch) -> Action:
    """Fail a send() after a fatal error at once (semantics 4.1)."""
    effect = _called(pipeline, batch, Fate.FAILED)
    return Action(
        "refuse_after_stop",
        "producer",
        lane="producer",
        arguments={"batch": batch.number},
        guard=And(pipeline.sending.may_send(pipeline, batch), pipeline.recovery.has_stopped(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the producer, which has stopped permanently, refuses {record_name(batch)}: the send fails"
        ),
        semantics="4.1",
    )


def _is_next(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the accumulator hands this batch out next: retries first, then the order of sending (3.1, P2 P4).

    An idempotent producer sends a retry only when nothing before it is in flight. It sends no new batch while a
    sequence is unresolved or the partition has still to follow a new epoch (semantics 3.4). Some clients keep the order
    of sending with retries as well, and some keep none (semantics 4).
    """
    if pipeline.deployment.producer.sender.in_any_order:
        return BoolVal(True)
    return pipeline.recovery.is_next(pipeline, batch)


def can_take(pipeline: Pipeline, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the client can send the batch to this broker now (semantics 3.1, P2)."""
    deployment = pipeline.deployment
    others = [other for other in pipeline.producer.batches if other is not batch]
    conditions = [is_considered_leader(pipeline, leader), Not(is_dead(pipeline, leader)), _is_next(pipeline, batch)]
    conditions.append(pipeline.recovery.can_be_numbered(pipeline, batch))
    conditions.extend(pipeline.recovery.may_go_to(pipeline, batch, leader))
    conditions.extend(pipeline.sending.may_transmit(pipeline, batch))
    if deployment.producer.max_in_flight <= len(others):
        muted = deployment.producer.max_in_flight == 1 and deployment.producer.sender.one_at_a_time_everywhere
        counted = [And(o.in_flight, Or(muted, o.target.term == leader.number)) for o in others]
        in_flight = Sum(*(If(counts, 1, 0) for counts in counted))
        conditions.append(in_flight < deployment.producer.max_in_flight)
    return And(*conditions)


def transmit(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Let the sender thread send the batch to the broker that it considers the leader (semantics 3.1, P2).

    ``max.in.flight.requests.per.connection`` counts per broker, except that with Java 1 mutes the partition whatever
    the broker (semantics 3.7). A request over a dead connection is left out: it could have been sent right before the
    connection died.
    """
    effect = Effect()
    effect[batch.fate] = int(Fate.SENT)
    effect[batch.target] = leader.number
    effect[pipeline.producer.leader_epoch] = epoch_heard_of(pipeline, leader)
    join_connection(pipeline, effect, batch, leader)
    pipeline.recovery.assign_number(pipeline, effect, batch)
    pipeline.sending.add_partition(pipeline, effect, batch)
    pipeline.recovery.start_transmitting(pipeline, effect, batch, epoch_heard_of(pipeline, leader))

    def sentence(before: State, after: State) -> str:
        verb = "retries" if pipeline.recovery.is_retry(batch, before) else "transmits"
        done = acknowledging(pipeline).transmitted_in_words
        is_first = pipeline.sending.is_added_between(pipeline, before, after)
        first = ", having the partition added to its transaction" if is_first else ""
        return f"the producer {verb} {record_name(batch)} to {leader.name}{done}{first}"

    return Action(
        "transmit",
        "producer",
        lane="producer",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(batch.is_(Fate.BUFFERED), can_take(pipeline, batch, leader)),
        updates=effect.updates,
        sentence=sentence,
        semantics="3.1 P2",
    )


def fail_to_connect(pipeline: Pipeline, batch: Batch) -> Action:
    """Fail to connect to a leader, which is an attempt for some clients; without a leader the send fails (4.2)."""
    effect = Effect()
    leaderless = pipeline.controller.leader.term == 0
    fail_unanswered(pipeline, effect, batch, Not(leaderless))
    complete(pipeline, effect, batch, Fate.FAILED, leaderless)
    due, guards = pipeline.recovery.look_for_leader(pipeline, effect, batch, _is_next(pipeline, batch), leaderless)
    down = [
        And(Not(broker.up.is_set), pipeline.controller.leader.term == broker.number) for broker in pipeline.replicas
    ]
    return Action(
        "fail_to_connect",
        "producer",
        lane="producer",
        arguments={"batch": batch.number},
        guard=And(batch.is_(Fate.BUFFERED), due, Or(leaderless, *down), *guards),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the producer reaches no leader for {record_name(batch)}"
            + ("; the send fails" if after[batch.fate.name] == Fate.FAILED else "")
            + (", which will be retried" if will_be_retried(pipeline, batch, after) else "")
        ),
        semantics="4.2",
    )


def _another_is_held_up(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether a sequence is unresolved, or another batch is retried, unanswered or waits for the ISR (3.4)."""
    causes = [pipeline.producer.unresolved.is_set]
    for other in pipeline.producer.batches:
        if other is not batch:
            causes += [And(other.incomplete, other.retries.term > 0), other.is_(Fate.UNANSWERED)]
            causes += acknowledging(pipeline).waiting_for_isr(
                held_up(pipeline, other, leader) for leader in pipeline.replicas
            )
    return Or(*causes)


def _was_held_up(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether a request in flight can have waited before: it is a retry, or the first leader was replaced.

    A request of a transaction can have waited for its coordinator, which can have been on a broker that had a fault.
    """
    waited = Or(batch.retries.term > 0, pipeline.controller.epoch.term > 1)
    for waits in pipeline.sending.waits_for_coordinator(pipeline):
        waited = Or(waited, waits)
    if leader_may_return_unnoticed(pipeline.deployment):
        waited = BoolVal(True)
    return acknowledging(pipeline).while_answered(waited)


def _sent_before_are_over(pipeline: Pipeline, batch: Batch) -> Iterator[z3.BoolRef]:
    """Yield the conditions that no earlier record waits in the accumulator: deliveries end in the order of send()."""
    deployment = pipeline.deployment
    if not (deployment.producer.expires_in_accumulator or deployment.producer.sender.in_any_order):
        for other in pipeline.producer.batches:
            if other.record < batch.record and other.attempt == 0:
                yield Not(other.is_(Fate.BUFFERED))


def _were_away(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether some broker cannot be reached, or that the first leader was replaced, which clients hear of late."""
    away = [Or(Not(broker.up.is_set), broker.cut_off.is_set) for broker in pipeline.replicas]
    return Or(pipeline.controller.epoch.term > 1, *away)


def give_up(pipeline: Pipeline, batch: Batch) -> Action:
    """Give up on a batch, as delivery.timeout.ms or the retries run out: the future fails, stored or not (P7, P8).

    Only a batch that something holds up can run out of time. That is a retry, a batch that no leader would take, a
    request on a dead connection, or an appended batch that the ISR does not follow. A batch that waits for one of these
    can run out of time too. So can a request that is under way at last after one of them, which its broker handles all
    the same. Without sequence numbers that request can as well be handled first, as later ones come behind it.

    Before 2.1 a batch in flight does not run out of time: request.timeout.ms ends the request, and a time of the same
    length ends the wait in the accumulator. Some clients have no time for a delivery: their attempts run out, as they
    do without a leader (semantics 4.6).
    """
    deployment, leaders = pipeline.deployment, pipeline.replicas
    takers = [And(pipeline.serves(leader), accepts(pipeline, leader)) for leader in leaders]
    goes = Or(*(can_take(pipeline, batch, leader) for leader in leaders))
    behind_another = And(Not(goes), _another_is_held_up(pipeline, batch))
    retried = batch.retries.term > 0
    if counts_retries(deployment) and not deployment.producer.sender.refusals_count:
        retried = Or(retried, pipeline.controller.epoch.term > 1)
    causes = Or(retried, Not(Or(*takers)), behind_another)
    if deployment.producer.sender.only_attempts_end:
        causes = Or(Not(Or(*takers)), _were_away(pipeline))
    for goes_in_transaction in pipeline.sending.may_transmit(pipeline, batch):
        causes = Or(causes, Not(goes_in_transaction))
    waiting = And(batch.is_(Fate.BUFFERED), causes, *_sent_before_are_over(pipeline, batch))
    answerable = batch.can_be_answered if deployment.producer.idempotence else batch.is_(Fate.APPENDED)
    in_flight = [batch.is_(Fate.UNANSWERED), And(answerable, _was_held_up(pipeline, batch))]
    in_flight += acknowledging(pipeline).waiting_for_isr(
        Or(held_up(pipeline, batch, at), queues_at(pipeline, batch, at)) for at in leaders
    )
    effect = Effect()
    abandon(pipeline, effect, batch, batch.is_(Fate.SENT))
    doubt(effect, batch, batch.in_flight)
    complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True))
    conditions = pipeline.recovery.give_up(pipeline, effect, batch)
    only_waiting = deployment.producer.expires_in_accumulator or deployment.producer.sender.only_attempts_end
    possible = waiting if only_waiting else Or(waiting, *in_flight)
    for condition in conditions:
        possible = And(possible, condition)
    is_added = partial(pipeline.sending.is_added_between, pipeline)
    return Action(
        "give_up",
        "producer",
        lane="producer",
        arguments={"batch": batch.number},
        guard=possible,
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the producer gives up on {record_name(batch)}: the send fails with TimeoutException"
            + ("; its transaction had the partition by then" if is_added(before, after) else "")
            + pipeline.sending.stop_in_words(pipeline, before, after)
        ),
        semantics="3.1 P7 P8",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the actions of the producer and its application."""
    for batch in pipeline.producer.batches:
        yield send(pipeline, batch)
        yield refuse_send(pipeline, batch)
        yield from pipeline.recovery.actions_after_stop(pipeline, batch, refuse_after_stop)
        for leader in pipeline.replicas:
            yield transmit(pipeline, batch, leader)
        if pipeline.deployment.producer.sender.connecting_counts and pipeline.deployment.producer.acks is not Acks.NONE:
            yield fail_to_connect(pipeline, batch)
        yield from pipeline.recovery.actions_of_waiting(pipeline, batch, give_up)
    yield from pipeline.recovery.actions_at_rest(pipeline)
