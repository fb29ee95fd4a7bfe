"""Answers that reach a client from 2.1 to 3.5 after delivery.timeout.ms (semantics 3.4, KAFKA-14397).

The send has failed by then, and its number is in doubt. An error counts nevertheless, as if the record were not
written. Up to 2.4 the numbers after it move up, and the next record can get a number that is used. From 2.5 on the
producer bumps its epoch at once, and a record that is written and waits to be sent again gets a number that no broker
knows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from itertools import product

import z3

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.outages import modelled_brokers
from proofka.model.language import Action, Effect, State, Variable, present
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or
from proofka.model.recovery.accumulator import Accumulator
from proofka.model.sequencing.arrival import accepts, held_up, is_at, offset_of, queues_at, replicated, waits_at
from proofka.model.sequencing.idempotence import check_sequence, epoch_left
from proofka.model.sequencing.network import abandon, attempts_left, complete, drop_delayed
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.sequence_check import SequenceCheck
from proofka.model.state.wording import record_name


class HearsLateErrors(Accumulator):
    """A client that can hear answers to a send that has failed (a Java client without transactions)."""

    new_epoch = "it bumps its epoch"
    """The client's reaction to a late answer that it takes for lost data, in the words of a trace."""

    def declare_late(self, deployment: Deployment, name: str, *, alone_counts: bool) -> Variable | None:
        """Return the variable for the broker that has still to answer; None where such an answer changes nothing.

        ``alone_counts``: that is not so where the client has nothing else in flight.
        """
        alone = deployment.bounds.records * deployment.bounds.sends == 1 or deployment.producer.max_in_flight == 1
        if not deployment.producer.sender.late_errors_count or (alone and not alone_counts):
            return None
        return Variable(f"{name}_late", 0, modelled_brokers(deployment) + 1, 0)

    @abstractmethod
    def hear_error(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> tuple[z3.BoolRef, ...]:
        """Change the numbers of other records for a late error; return what has to be so."""

    @abstractmethod
    def hear_refusal(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
        """Take the late refusal of a number for lost data."""

    def is_current(self, pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
        """Tell whether the record's number counts: it is of the producer id that the client has now."""
        return BoolVal(True)

    def is_refused(self, check: SequenceCheck) -> z3.BoolRef:
        """Tell whether the leader refuses the late request for its numbers."""
        return Or(check.out_of_order, check.fenced)

    def note_offset(self, pipeline: Pipeline, effect: Effect, batch: Batch, offset: z3.ArithRef) -> None:
        """Note the offset in an answer, where the client compares it later."""

    def forget_late_answers(self, pipeline: Pipeline, effect: Effect) -> None:
        for batch in heard_late(pipeline):
            _over(effect, batch)

    def give_up(self, pipeline: Pipeline, effect: Effect, batch: Batch) -> tuple[z3.BoolRef, ...]:
        """Keep the number of a record that fails in flight until its request is answered (semantics 3.4)."""
        expect_late_answer(pipeline, effect, batch)
        return ()


def heard_late(pipeline: Pipeline) -> list[Batch]:
    """Return the batches whose answers count after their sends have failed."""
    return [batch for batch in pipeline.producer.batches if batch.late is not None]


def _late(batch: Batch) -> Variable:
    assert batch.late is not None
    return batch.late


def _error_is_due(pipeline: Pipeline, batch: Batch) -> z3.BoolRef:
    """Tell whether the answer will be an error.

    The connection is gone, or the broker will not get the record to the ISR within the request's timeout.
    """
    late = _late(batch)
    due = [late.term == late.high]
    for broker in pipeline.replicas:
        silent = [
            And(broker.isr[follower.number].is_set, follower.does_not_fetch_from(broker))
            for follower in pipeline.followers_of(broker)
        ]
        not_followed = And(Not(replicated(pipeline, batch, broker)), Or(*silent))
        fails = Or(Not(broker.presumes_leadership), Not(pipeline.enough_in_sync(broker)), not_followed)
        due.append(And(late.term == broker.number, fails))
    return Or(*due)


def give_ups(
    pipeline: Pipeline, batch: Batch, free_number: Callable[[Effect], None], *, out_of_retries: bool = False
) -> Iterator[Action]:
    """Yield the errors that come when delivery.timeout.ms is over, before the client looks (3.4, KAFKA-14397).

    The client does not retry, and ``free_number`` counts the number as unused without doubt, though the record can be
    written.
    """

    def failed() -> Effect:
        effect = Effect()
        free_number(effect)
        abandon(pipeline, effect, batch, batch.is_(Fate.SENT))
        complete(pipeline, effect, batch, Fate.FAILED, BoolVal(True), out_of_retries=out_of_retries)
        return effect

    yield give_up_on_error(pipeline, batch, failed())
    for leader in pipeline.replicas:
        yield give_up_on_timeout(pipeline, batch, leader, failed())


def _give_up(
    pipeline: Pipeline,
    batch: Batch,
    name: str,
    arguments: Mapping[str, int],
    error: str,
    when: z3.BoolRef,
    effect: Effect,
) -> Action:
    """Fail a send by an error that comes when delivery.timeout.ms is over, before the client looks (3.4)."""

    def sentence(before: State, after: State) -> str:
        freed = after[pipeline.producer.next_sequence.name] < before[pipeline.producer.next_sequence.name]
        words = f"{error} for {record_name(batch)} comes when delivery.timeout.ms is over: the send fails"
        return words + (", and the producer counts the sequence number as unused" if freed else "")

    return Action(
        name,
        "producer",
        lane="producer",
        arguments=arguments,
        guard=when,
        updates=effect.updates,
        sentence=sentence,
        semantics="3.1 P8, 3.4",
    )


def give_up_on_error(pipeline: Pipeline, batch: Batch, effect: Effect) -> Action:
    """Let the connection break, or the leader refuse the record, when delivery.timeout.ms is over (semantics 3.4)."""
    fails = [batch.is_(Fate.UNANSWERED)]
    for leader in pipeline.replicas:
        refused = And(is_at(pipeline, batch, leader), Not(pipeline.enough_in_sync(leader)))
        shrunk = And(waits_at(batch, leader), replicated(pipeline, batch, leader), Not(pipeline.enough_in_sync(leader)))
        elsewhere = And(is_at(pipeline, batch, leader), Not(leader.presumes_leadership))
        fails += [refused, shrunk, elsewhere]
    return _give_up(pipeline, batch, "give_up_on_error", {"batch": batch.number}, "an error", Or(*fails), effect)


def give_up_on_timeout(pipeline: Pipeline, batch: Batch, leader: Replica, effect: Effect) -> Action:
    """Let the request time out at the leader or client, which waits for the ISR (semantics 3.2, 3.4)."""
    waits = Or(held_up(pipeline, batch, leader), queues_at(pipeline, batch, leader))
    arguments = {"batch": batch.number, "leader": leader.number}
    return _give_up(pipeline, batch, "give_up_on_timeout", arguments, "a timeout", waits, effect)


def _kept(batch: Batch) -> tuple[Variable, ...]:
    """Return the variables that keep the numbers of the request until it is answered."""
    numbered_by = None if batch.numbering is None else batch.numbering.producer_id
    return present(numbered_by, batch.sent_epoch, batch.sent_sequence)


def _over(effect: Effect, batch: Batch) -> None:
    """Reset the batch's numbers, which do not matter any more once the late answer has come, whatever it is."""
    assert batch.sequence is not None
    effect[_late(batch)] = 0
    effect[batch.sequence] = -1
    for variable in _kept(batch):
        effect[variable] = variable.initial


def _said_of_numbers(pipeline: Pipeline, client: HearsLateErrors, before: State, after: State) -> str:
    producer = pipeline.producer
    if after[producer.epoch.name] > before[producer.epoch.name]:
        return f"; {client.new_epoch}"
    freed = after[producer.next_sequence.name] < before[producer.next_sequence.name]
    return ": it counts the sequence number as unused" if freed else ""


def hear_late_error(pipeline: Pipeline, client: HearsLateErrors, batch: Batch) -> Action:
    """Let an error, or the end of the connection, after the failed send change the numbers of later records (3.4)."""
    effect = Effect()
    due = _error_is_due(pipeline, batch)
    for condition in client.hear_error(pipeline, effect, batch):
        due = And(due, condition)
    _over(effect, batch)
    for broker in pipeline.replicas:
        refuses = Not(And(broker.presumes_leadership, pipeline.enough_in_sync(broker)))
        drop_delayed(effect, batch, And(_late(batch).term == broker.number, refuses))
    return Action(
        "hear_late_error",
        "producer",
        lane="producer",
        arguments={"batch": batch.number},
        guard=due,
        updates=effect.updates,
        sentence=lambda before, after: (
            f"an error comes late for {record_name(batch)}, which the producer has given up on"
            + _said_of_numbers(pipeline, client, before, after)
        ),
        semantics="3.4",
    )


def hear_late_success(pipeline: Pipeline, client: HearsLateErrors, batch: Batch, leader: Replica) -> Action:
    """Let an acknowledgement after the failed send tell the client that the number is used (3.4)."""
    producer = pipeline.producer
    assert batch.sequence is not None
    effect = Effect()
    current = client.is_current(pipeline, batch)
    later = And(current, batch.sequence.term > producer.last_acknowledged.term)
    effect.set_when(later, producer.last_acknowledged, batch.sequence.term)
    effect.set_when(current, producer.heard, 1)
    client.note_offset(pipeline, effect, batch, offset_of(pipeline, batch, leader))
    _over(effect, batch)
    drop_delayed(effect, batch, batch.delayed.term == leader.number)
    here = And(_late(batch).term == leader.number, leader.presumes_leadership)
    return Action(
        "hear_late_success",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(here, replicated(pipeline, batch, leader), pipeline.enough_in_sync(leader)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} acknowledges {record_name(batch)}, which the producer has given up on"
        ),
        semantics="3.4",
    )


def late_refusal_due(pipeline: Pipeline, client: HearsLateErrors, batch: Batch, leader: Replica) -> z3.BoolRef:
    """Tell whether the request reaches its leader, which finds a gap before it or does not know the producer."""
    assert batch.delayed_epoch is not None and batch.delayed_sequence is not None
    check = check_sequence(pipeline, leader, batch, batch.delayed_epoch.term, batch.delayed_sequence.term)
    refused = client.is_refused(check)
    if check.unknown is not None:
        refused = Or(refused, check.unknown)
    here = And(_late(batch).term == leader.number, batch.delayed.term == leader.number, leader.presumes_leadership)
    return And(here, accepts(pipeline, leader), refused)


def hear_late_refusal(pipeline: Pipeline, client: HearsLateErrors, batch: Batch, leader: Replica) -> Action:
    """Refuse a sequence number after its send has failed, which the client treats as lost data all the same (3.4)."""
    effect = Effect()
    current = client.is_current(pipeline, batch)
    client.hear_refusal(pipeline, effect, batch)
    _over(effect, batch)
    drop_delayed(effect, batch, BoolVal(True))
    due = late_refusal_due(pipeline, client, batch, leader)
    return Action(
        "hear_late_refusal",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(due, Or(Not(current), epoch_left(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} refuses the sequence of {record_name(batch)}, which the producer has given up on"
            + _said_of_numbers(pipeline, client, before, after)
        ),
        semantics="3.4, 3.5",
    )


def expect_late_answer(pipeline: Pipeline, effect: Effect, batch: Batch) -> None:
    """Keep the number of a batch whose send fails in flight until its request is answered.

    After the last retry the answer has no effect.
    """
    if batch.late is None:
        return
    assert batch.sequence is not None
    in_flight = And(batch.in_flight, attempts_left(pipeline, batch))
    lost = If(batch.is_(Fate.UNANSWERED), IntVal(batch.late.high), batch.target.term)
    effect.set_when(in_flight, batch.late, lost)
    effect.set_when(in_flight, batch.sequence, batch.sequence.term)
    for variable in _kept(batch):
        effect.set_when(in_flight, variable, variable.term)


def waits_for_late_answer(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether an answer to a failed send is still to come: with one request in flight the partition is muted."""
    return Or(*(_late(batch).term > 0 for batch in heard_late(pipeline)))


def late_bumps_due(pipeline: Pipeline, client: HearsLateErrors) -> Iterator[z3.BoolRef]:
    """Yield the conditions under which a late answer would make the client bump its epoch, or take another id."""
    for batch, leader in product(heard_late(pipeline), pipeline.replicas):
        yield And(late_refusal_due(pipeline, client, batch, leader), client.is_current(pipeline, batch))


def late_errors_due(pipeline: Pipeline) -> Iterator[z3.BoolRef]:
    """Yield the conditions under which a late answer is an error."""
    yield from (_error_is_due(pipeline, batch) for batch in heard_late(pipeline))


def late_answers(pipeline: Pipeline, client: HearsLateErrors, batch: Batch) -> Iterator[Action]:
    """Yield the answers that can come for this record after its send has failed."""
    yield hear_late_error(pipeline, client, batch)
    for leader in pipeline.replicas:
        yield hear_late_success(pipeline, client, batch, leader)
        yield hear_late_refusal(pipeline, client, batch, leader)
