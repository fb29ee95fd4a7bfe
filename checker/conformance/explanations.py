"""The steps of the model that explain an event, and what must hold of the model's state after the event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import z3

from proofka.checker.conformance.asked_event import ALWAYS, AskedEvent, Explanation, seen_as
from proofka.checker.conformance.consumer_events import WAYS as OF_CONSUMERS
from proofka.checker.conformance.errors import UnknownEvent
from proofka.checker.conformance.events import Event
from proofka.checker.conformance.transaction_events import WAYS as OF_TRANSACTIONS
from proofka.model.deployment.choices import Acks
from proofka.model.language import Action
from proofka.model.language.terms import And, Not, Or
from proofka.model.sequencing.network import is_dead
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica

NOT_LEADER = 6
"""Kafka's number of the error NOT_LEADER_OR_FOLLOWER."""


FENCE = "fence"
"""The name of the action by which the controller fences a broker."""

BEGIN_SHUTDOWN = "begin_shutdown"
"""The name of the action in which a broker announces its stop."""


def explain(pipeline: Pipeline, actions: Sequence[Action], event: Event) -> tuple[Explanation, ...]:
    """Return the ways in which an event can have happened, by actions of ``actions``.

    Raise :class:`UnknownEvent` for an event that names a broker or a record that the model lacks.
    """
    asked = AskedEvent(pipeline, actions, event)
    try:
        if event.kind in OF_CONSUMERS:
            return OF_CONSUMERS[event.kind](asked)
        return (_WAYS[event.kind](asked),)
    except (KeyError, IndexError) as error:
        raise UnknownEvent(f"the model cannot express {event}: {error} is not part of the model") from error


def _by_step(asked: AskedEvent) -> Explanation:
    """Explain an event whose arguments are those of the action."""
    if "broker" in asked.event.arguments:
        assert asked.broker is not None
    return Explanation(asked.steps())


def _ended(asked: AskedEvent) -> Explanation:
    """Explain the end of a process; a process that has not taken part yet ends without a step of the model."""
    return Explanation(_by_step(asked).steps, stays=And(Not(asked.broker.up.is_set), *_keeps(asked)))


def _ended_producer(asked: AskedEvent) -> Explanation:
    """Explain the end of the producer's process; an end that finds every send over changes nothing in the model."""
    pipeline = asked.pipeline
    return Explanation(asked.steps(), stays=Not(pipeline.sending.is_going_on(pipeline)))


def _keeps(asked: AskedEvent) -> list[z3.BoolRef]:
    """Return the condition that the log of the broker has what the event says."""
    kept = asked.event.arguments.get("kept")
    return [] if kept is None else [asked.broker.log.end.term == kept]


def _possibly(asked: AskedEvent) -> Explanation:
    """Explain an event that had an effect or had none: a short silence has none."""
    return Explanation(_by_step(asked).steps, permits=True)


def _sent(asked: AskedEvent) -> Explanation:
    return Explanation(asked.steps(), before=asked.batch.is_(Fate.UNSENT))


def _requested(asked: AskedEvent) -> Explanation:
    """Explain a request: the client sends, or a broker that does not lead in the model will refuse the request.

    The model leaves out such a request, and a request over a dead connection (semantics, choices 25 and 26).
    """
    broker = asked.broker
    elsewhere = Or(Not(broker.presumes_leadership), is_dead(asked.pipeline, broker))
    return Explanation(asked.steps_of_record(), stays=And(_any(asked.batches, Fate.BUFFERED), elsewhere))


def _answered(asked: AskedEvent) -> Explanation:
    """Explain an answer: the model's broker answers, or the client has ended the send before.

    A broker that stops leading refuses what waits in the step in which it learns of its leader; a request that the
    model leaves out is refused as well.
    """
    error = asked.argument("error")
    over = [Fate.ACKNOWLEDGED, Fate.FAILED, Fate.FORGOTTEN]
    if error == NOT_LEADER:
        over.append(Fate.BUFFERED)
    return Explanation(asked.steps_of_record(error), stays=_any(asked.batches, *over))


def _broken(asked: AskedEvent) -> Explanation:
    """Explain a broken connection: one step leaves everything in flight on the connection without an answer."""
    number = asked.broker.number
    in_flight = Or(
        *(And(batch.can_be_answered, batch.target.term == number) for batch in asked.pipeline.producer.batches)
    )
    return Explanation(asked.steps(), before=in_flight, after=Not(in_flight), stays=Not(in_flight))


def _reported(asked: AskedEvent) -> Explanation:
    """Explain a report: the send has ended so, or the client gives the record up now.

    With acks=0 the client reports a success when it has written the request (semantics, choice 33).
    """
    if asked.argument("error") is None:
        written = (Fate.SENT,) if asked.pipeline.deployment.producer.acks is Acks.NONE else ()
        return Explanation(stays=asked.batch.is_(Fate.ACKNOWLEDGED, *written))
    failed = asked.batch.is_(Fate.FAILED)
    return Explanation(asked.steps(), after=failed, stays=failed)


def _log(asked: AskedEvent) -> Explanation:
    """Explain a log: it has these entries."""
    capacity, entries = asked.broker.log.capacity, asked.argument("entries")
    if len(entries) > capacity:
        raise UnknownEvent(f"{asked.event} has more records than the model's logs: raise bounds.log above {capacity}")
    return Explanation(stays=log_is(asked.pipeline, asked.broker, entries))


def log_is(pipeline: Pipeline, broker: Replica, entries: Sequence[Mapping[str, int]]) -> z3.BoolRef:
    """Tell whether a broker's log has exactly these entries.

    An entry has ``record``, or ``commits`` (1 or 0) if it is the marker of a transaction. It has ``epoch`` (the leader
    epoch), and, where they are known, ``producer_epoch`` and ``sequence``.
    """
    conditions = [broker.log.end.term == len(entries)]
    for slot, entry in zip(broker.log.slots, entries, strict=False):
        conditions.append(Or(*(slot["batch"].term == number for number in _content(pipeline, entry))))
        conditions += [slot[name].term == value for name, value in entry.items() if name in slot]
    return And(*conditions)


def _content(pipeline: Pipeline, entry: Mapping[str, int]) -> list[int]:
    """Return the numbers that can stand in a log for an entry: batches of a record, or markers of transactions."""
    if "record" in entry:
        return [batch.number for batch in pipeline.producer.of_record(entry["record"])]
    transactions = pipeline.transactions
    if transactions is None:
        raise KeyError("the marker of a transaction")
    return [transactions.marker(one, commits=bool(entry["commits"])) for one in transactions.each]


def _decided(asked: AskedEvent) -> Explanation:
    """Explain a change of the controller's log: a step of the controller, after which its decision is this one.

    The brokers that are not fenced are not compared: the model takes a broker back when the broker has caught up, and
    Kafka's controller takes the broker back before (semantics, choices 9 and 10).
    """
    controller, given = asked.pipeline.controller, asked.event.arguments
    fenced, stopping = given.get("fenced", 0), given.get("stopping", 0)
    gone = fenced or stopping
    conditions = [
        controller.leader.term == asked.argument("leader"),
        controller.epoch.term == asked.argument("epoch"),
        *_is_set_of(controller.isr, asked.argument("isr")),
    ]
    if gone:
        conditions.append(Not(controller.unfenced[gone].is_set))
    keys = [action.key for action in asked.actions if asked.event.kind in seen_as(action)]
    named = FENCE if fenced else BEGIN_SHUTDOWN if stopping else ""
    steps = frozenset(key for key in keys if key[0] == named or (not named and key[0] not in (FENCE, BEGIN_SHUTDOWN)))
    before = controller.unfenced[gone].is_set if gone else ALWAYS
    return Explanation(steps, before=before, after=And(*conditions))


def _is_set_of(flags: Mapping[int, Any], numbers: Sequence[int]) -> list[z3.BoolRef]:
    for number in numbers:
        if number not in flags:
            raise IndexError(f"broker {number}")
    return [flag.term == int(number in numbers) for number, flag in flags.items()]


def _any(batches: Sequence[Batch], *fates: Fate) -> z3.BoolRef:
    """Tell whether one of the batches has one of the fates."""
    return Or(*(batch.is_(*fates) for batch in batches))


_WAYS: Mapping[str, Callable[[AskedEvent], Explanation]] = {
    "sent": _sent,
    "refused_send": _by_step,
    "requested": _requested,
    "answered": _answered,
    "broken": _broken,
    "reported": _reported,
    "log": _log,
    "killed": _ended,
    "lost_power": _ended,
    "lost_disk": _by_step,
    "stopped": _by_step,
    "cut_off": _possibly,
    "reconnected": _possibly,
    "slowed": _possibly,
    "quickened": _possibly,
    "decided": _decided,
    "unfenced": _by_step,
    "registered": _by_step,
    "ended_producer": _ended_producer,
    **OF_TRANSACTIONS,
}
"""Kind of event -> the function that explains it."""
