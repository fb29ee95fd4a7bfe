"""The steps of the model that explain an event, and what must hold of the model's state after the event."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import z3

from checker.conformance.errors import UnknownAction, UnknownEvent
from checker.conformance.events import Event
from model.deployment.choices import Acks
from model.language import Action, ActionKey
from model.language.terms import And, BoolVal, Not, Or
from model.sequencing.network import is_dead
from model.state.pipeline import Batch, Fate, Pipeline, Replica

_TABLE = Path(__file__).parent / "tables" / "silent.csv"

ACTION_ROWS: Mapping[str, Mapping[str, str]] = {
    row["action"]: row for row in csv.DictReader(_TABLE.read_text(encoding="utf-8").splitlines())
}
"""Name of an action -> its row of the table: the kinds of event that show the action, none for a silent action."""

SILENT: tuple[str, ...] = ()
"""The kinds of event that show a silent action."""

NEVER = ("never",)
"""The entry of the table for an action that no run of the lab has."""

NOT_LEADER = 6
"""Kafka's number of the error NOT_LEADER_OR_FOLLOWER."""


FENCE = "fence"
"""The name of the action by which the controller fences a broker."""

BEGIN_SHUTDOWN = "begin_shutdown"
"""The name of the action in which a broker announces its stop."""


def seen_as(action: Action) -> tuple[str, ...]:
    """Return the kinds of event that show the action, SILENT or NEVER. Raise :class:`UnknownAction`."""
    row = ACTION_ROWS.get(action.name)
    if row is None:
        raise UnknownAction(action.name)
    return tuple(row["seen_as"].split())


_ALWAYS, _NEVER = BoolVal(True), BoolVal(False)


@dataclass(frozen=True)
class Explanation:
    """The ways in which an event can have happened.

    Either one of ``steps`` (keys of actions) happened, from a state with ``before`` to a state with ``after``; or no
    step of the model was needed, in a state with ``stays``. With ``permits`` the steps can happen as often as one
    likes as long as the event's interval is open, and need not happen.
    """

    steps: frozenset[ActionKey] = frozenset()
    before: z3.BoolRef = _ALWAYS
    after: z3.BoolRef = _ALWAYS
    stays: z3.BoolRef = _NEVER
    permits: bool = False

    @property
    def conditions(self) -> tuple[z3.BoolRef, ...]:
        """The conditions on the model's state."""
        return self.before, self.after, self.stays


def explain(pipeline: Pipeline, actions: Sequence[Action], event: Event) -> Explanation:
    """Return what explains an event, by actions of ``actions``.

    Raise :class:`UnknownEvent` for an event that names a broker or a record that the model lacks.
    """
    try:
        return _WAYS[event.kind](_Asked(pipeline, actions, event))
    except (KeyError, IndexError) as error:
        raise UnknownEvent(f"the model cannot express {event}: {error} is not part of the model") from error


@dataclass(frozen=True)
class _Asked:
    """An event to explain, with the pipeline and the actions that can explain the event."""

    pipeline: Pipeline
    actions: Sequence[Action]
    event: Event

    def argument(self, name: str) -> Any:
        return self.event.arguments[name]

    @property
    def broker(self) -> Replica:
        number = self.argument("broker")
        if not 1 <= number <= len(self.pipeline.replicas):
            raise IndexError(f"broker {number}")
        return self.pipeline.replica(number)

    @property
    def batches(self) -> list[Batch]:
        """The batches of the event's record."""
        found = self.pipeline.producer.of_record(self.argument("record"))
        if not found:
            raise IndexError(f"record {self.argument('record')}")
        return found

    @property
    def batch(self) -> Batch:
        number = self.argument("batch")
        if number < 0:
            raise IndexError(f"batch {number}")
        batch: Batch = self.pipeline.producer.batches[number]
        return batch

    def steps(
        self, matches: Callable[[Mapping[str, int]], bool] | None = None, error: int | None = None
    ) -> frozenset[ActionKey]:
        """Return the keys of the actions that the kind of event shows, and whose arguments match.

        Without ``matches``, the arguments with the names of the event's arguments must be equal. With ``error``, only
        actions that Kafka answers with this error.
        """
        found = [action for action in self.actions if self.event.kind in seen_as(action)]
        if error is not None:
            found = [action for action in found if str(error) in ACTION_ROWS[action.name]["errors"].split()]
        wanted = self.event.arguments
        if matches is None:
            return frozenset(
                action.key
                for action in found
                if all(wanted[name] == value for name, value in action.arguments.items() if name in wanted)
            )
        return frozenset(action.key for action in found if matches(action.arguments))

    def steps_of_record(self, error: int | None = None) -> frozenset[ActionKey]:
        """Return the keys of the actions for the event's record at the event's broker."""
        numbers = {batch.number for batch in self.batches}
        broker = self.broker.number
        return self.steps(
            lambda given: given["batch"] in numbers and broker in (given.get("leader"), given.get("broker")), error
        )


def _by_step(asked: _Asked) -> Explanation:
    """Explain an event whose arguments are those of the action."""
    if "broker" in asked.event.arguments:
        assert asked.broker is not None
    return Explanation(asked.steps())


def _ended(asked: _Asked) -> Explanation:
    """Explain the end of a process; a process that has not taken part yet ends without a step of the model."""
    return Explanation(_by_step(asked).steps, stays=And(Not(asked.broker.up.is_set), *_keeps(asked)))


def _ended_producer(asked: _Asked) -> Explanation:
    """Explain the end of the producer's process; an end that finds every send over changes nothing in the model."""
    pipeline = asked.pipeline
    return Explanation(asked.steps(), stays=Not(pipeline.sending.is_going_on(pipeline)))


def _keeps(asked: _Asked) -> list[z3.BoolRef]:
    """Return the condition that the log of the broker has what the event says."""
    kept = asked.event.arguments.get("kept")
    return [] if kept is None else [asked.broker.log.end.term == kept]


def _possibly(asked: _Asked) -> Explanation:
    """Explain an event that had an effect or had none: a short silence has none."""
    return Explanation(_by_step(asked).steps, permits=True)


def _sent(asked: _Asked) -> Explanation:
    return Explanation(asked.steps(), before=asked.batch.is_(Fate.UNSENT))


def _requested(asked: _Asked) -> Explanation:
    """Explain a request: the client sends, or a broker that does not lead in the model will refuse the request.

    The model leaves out such a request, and a request over a dead connection (semantics, choices 25 and 26).
    """
    broker = asked.broker
    elsewhere = Or(Not(broker.presumes_leadership), is_dead(asked.pipeline, broker))
    return Explanation(asked.steps_of_record(), stays=And(_any(asked.batches, Fate.BUFFERED), elsewhere))


def _answered(asked: _Asked) -> Explanation:
    """Explain an answer: the model's broker answers, or the client has ended the send before.

    A broker that stops leading refuses what waits in the step in which it learns of its leader; a request that the
    model leaves out is refused as well.
    """
    error = asked.argument("error")
    over = [Fate.ACKNOWLEDGED, Fate.FAILED, Fate.FORGOTTEN]
    if error == NOT_LEADER:
        over.append(Fate.BUFFERED)
    return Explanation(asked.steps_of_record(error), stays=_any(asked.batches, *over))


def _broken(asked: _Asked) -> Explanation:
    """Explain a broken connection: one step leaves everything in flight on the connection without an answer."""
    number = asked.broker.number
    in_flight = Or(
        *(And(batch.can_be_answered, batch.target.term == number) for batch in asked.pipeline.producer.batches)
    )
    return Explanation(asked.steps(), before=in_flight, after=Not(in_flight), stays=Not(in_flight))


def _reported(asked: _Asked) -> Explanation:
    """Explain a report: the send has ended so, or the client gives the record up now.

    With acks=0 the client reports a success when it has written the request (semantics, choice 33).
    """
    if asked.argument("error") is None:
        written = (Fate.SENT,) if asked.pipeline.deployment.producer.acks is Acks.NONE else ()
        return Explanation(stays=asked.batch.is_(Fate.ACKNOWLEDGED, *written))
    failed = asked.batch.is_(Fate.FAILED)
    return Explanation(asked.steps(), after=failed, stays=failed)


def _log(asked: _Asked) -> Explanation:
    """Explain a log: it has these entries."""
    capacity, entries = asked.broker.log.capacity, asked.argument("entries")
    if len(entries) > capacity:
        raise UnknownEvent(f"{asked.event} has more records than the model's logs: raise bounds.log above {capacity}")
    return Explanation(stays=log_is(asked.pipeline, asked.broker, entries))


def log_is(pipeline: Pipeline, broker: Replica, entries: Sequence[Mapping[str, int]]) -> z3.BoolRef:
    """Tell whether a broker's log has exactly these entries.

    An entry has ``record`` and ``epoch`` (the leader epoch), and, where they are known, ``producer_epoch`` and
    ``sequence``.
    """
    conditions = [broker.log.end.term == len(entries)]
    for slot, entry in zip(broker.log.slots, entries, strict=False):
        batches = [batch.number for batch in pipeline.producer.of_record(entry["record"])]
        conditions.append(Or(*(slot["batch"].term == number for number in batches)))
        conditions += [slot[name].term == value for name, value in entry.items() if name != "record" and name in slot]
    return And(*conditions)


def _decided(asked: _Asked) -> Explanation:
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
    before = controller.unfenced[gone].is_set if gone else _ALWAYS
    return Explanation(steps, before=before, after=And(*conditions))


def _is_set_of(flags: Mapping[int, Any], numbers: Sequence[int]) -> list[z3.BoolRef]:
    for number in numbers:
        if number not in flags:
            raise IndexError(f"broker {number}")
    return [flag.term == int(number in numbers) for number, flag in flags.items()]


def _any(batches: Sequence[Batch], *fates: Fate) -> z3.BoolRef:
    """Tell whether one of the batches has one of the fates."""
    return Or(*(batch.is_(*fates) for batch in batches))


_WAYS: Mapping[str, Callable[[_Asked], Explanation]] = {
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
}
"""Kind of event -> the function that explains it."""
