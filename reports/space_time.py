"""A trace as a space-time diagram: a vertical lane for each actor, a mark for each step, an arrow for each message.

Rows are the steps, from 1, and columns the lanes, from 0; row 0 is the initial state. :mod:`reports.html.svg` draws
diagrams for a page, :mod:`reports.figures.space_time` for slides.
Reference: L. Lamport, "Time, clocks, and the ordering of events in a distributed system", CACM 21 (7), 1978.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proofka.model.state.request_words import abandoned_at, goes_to
from proofka.properties.verdict import Change, Step, Trace, states_of
from proofka.reports.messages import Message, message_of

PRODUCER, COORDINATOR, CONTROLLER, CONSUMER = "producer", "coordinator", "controller", "consumer"
REQUEST, ABANDONED = "request", "abandoned"
"""Names of messages: a request in flight to a leader, and a request that its sender has abandoned."""

DOWN = "down"
"""The value of a lane's own part of the state while its process is down."""

_LANE_OF = {"application": PRODUCER, "network": PRODUCER, "brokers": COORDINATOR}
"""The lane of an actor without a lane of its own; the lane of all brokers together is the coordinator."""


class End(StrEnum):
    """The end of a message: it arrives, is lost, or is in flight at the end of the trace."""

    ARRIVES = "arrives"
    LOST = "lost"
    OPEN = "open"


@dataclass(frozen=True)
class Mark:
    """A step on the lane of its actor."""

    row: int
    lane: int
    fault: str | None


@dataclass(frozen=True)
class Arrow:
    """A message from a lane at a row to another lane at another row."""

    row: int
    lane: int
    to_row: int
    to_lane: int
    what: str
    end: End = End.ARRIVES


@dataclass(frozen=True)
class Gap:
    """A lane whose process is down from the step at ``row`` to the step at ``to_row``, or to the end of the trace."""

    lane: int
    row: int
    to_row: int


@dataclass(frozen=True)
class SpaceTime:
    """The diagram of one trace; ``rows`` is the number of its steps."""

    lanes: tuple[str, ...]
    rows: int
    marks: tuple[Mark, ...]
    arrows: tuple[Arrow, ...]
    gaps: tuple[Gap, ...]


def space_time(trace: Trace) -> SpaceTime:
    """Return the diagram of a trace, with a lane for every actor, sender, receiver and broker."""
    lanes = _lanes(trace)
    marks = tuple(Mark(row, lanes.index(lane_of(step)), step.fault) for row, step in enumerate(trace.steps, 1))
    gaps = tuple(_gaps(trace, lanes))
    return SpaceTime(lanes, len(trace.steps), marks, tuple(_Arrows(lanes).of(trace.steps)), gaps)


def lane_of(step: Step) -> str:
    """Return the lane on which a step is marked."""
    return _LANE_OF.get(step.actor, step.actor)


def _lanes(trace: Trace) -> tuple[str, ...]:
    messages = [message_of(step) for step in trace.steps]
    used = {lane_of(step) for step in trace.steps}
    used |= {end for message in messages if message for end in (message.sender, message.receiver) if end}
    brokers = {shown.owner for shown in trace.start if shown.entries is not None}
    named = (PRODUCER, COORDINATOR, CONTROLLER, CONSUMER)
    others = sorted((used | brokers).difference(named), key=_by_number)
    order = (PRODUCER, COORDINATOR, *others, CONTROLLER, CONSUMER)
    return tuple(lane for lane in order if lane in used or lane in brokers)


def _by_number(lane: str) -> tuple[str, int]:
    word, _, number = lane.rpartition(" ")
    return (word, int(number)) if number.isdigit() else (lane, 0)


@dataclass(frozen=True)
class _Sent:
    """A request in flight: the row of the step that sent the request, and the destination broker."""

    row: int
    broker: str


@dataclass
class _Arrows:
    """The arrows of a trace, found from its first step to its last.

    The state has the requests in flight for each record: ``requests``, and ``abandoned`` requests, of which the model
    keeps one for each record. ``records``: the name of a batch in the trace, known from its first request.
    ``received``: lane and row at which a record was received last.
    """

    lanes: Sequence[str]
    requests: dict[str, _Sent] = field(default_factory=dict)
    abandoned: dict[str, _Sent] = field(default_factory=dict)
    records: dict[int, str] = field(default_factory=dict)
    received: dict[str, tuple[int, int]] = field(default_factory=dict)

    def of(self, steps: Sequence[Step]) -> Iterator[Arrow]:
        for row, step in enumerate(steps, 1):
            message = message_of(step)
            for change in step.changes:
                yield from self._of_record(row, step, message, change)
            if message is not None:
                yield from self._of_message(row, step, message)
        for what, left in ((REQUEST, self.requests), (ABANDONED, self.abandoned)):
            for sent in left.values():
                yield self._arrow(sent, len(steps) + 1, what, End.OPEN)

    def _of_record(self, row: int, step: Step, message: Message | None, change: Change) -> Iterator[Arrow]:
        """Yield the arrows of the requests of a record that end in a step."""
        record = change.what
        ended = self.requests.pop(record) if record in self.requests and not goes_to(change.after) else None
        kept = self.abandoned.get(record)
        left_at = abandoned_at(change.after)
        if ended is not None:
            if self._is_received(step, message, record, ended.broker):
                yield self._received(row, record, ended, REQUEST)
            elif left_at == ended.broker and not self._is_lost(step, message, record):
                if kept is not None:
                    yield self._arrow(kept, row, ABANDONED, End.LOST)
                self.abandoned[record] = ended
            else:
                yield self._arrow(ended, row, REQUEST, End.LOST)
        if kept is not None and self.abandoned[record] is kept and left_at != kept.broker:
            del self.abandoned[record]
            if ended is None and self._is_received(step, message, record, kept.broker):
                yield self._received(row, record, kept, ABANDONED)
            else:
                yield self._arrow(kept, row, ABANDONED, End.LOST)
        broker = goes_to(change.after)
        if message is not None and message.phase == "sends" and message.receiver == broker:
            self.requests[record] = _Sent(row, broker)
            self.records[_batch(step)] = record

    def _is_received(self, step: Step, message: Message | None, record: str, broker: str) -> bool:
        """Tell whether the destination broker reads a request of this record that ends in this step."""
        match message.phase if message is not None else "":
            case "splits":
                return message is not None and message.receiver == broker
            case "receives" | "answers" | "hears":
                return self.records.get(_batch(step)) == record
        return False

    def _is_lost(self, step: Step, message: Message | None, record: str) -> bool:
        return message is not None and message.phase == "loses" and self.records.get(_batch(step)) == record

    def _received(self, row: int, record: str, sent: _Sent, what: str) -> Arrow:
        self.received[record] = self.lanes.index(sent.broker), row
        return self._arrow(sent, row, what, End.ARRIVES)

    def _arrow(self, sent: _Sent, to_row: int, what: str, end: End) -> Arrow:
        return Arrow(sent.row, self.lanes.index(PRODUCER), to_row, self.lanes.index(sent.broker), what, end)

    def _of_message(self, row: int, step: Step, message: Message) -> Iterator[Arrow]:
        """Yield the arrows of messages that are sent and received in one step, and of answers."""
        sender, receiver = (self.lanes.index(end) if end else -1 for end in (message.sender, message.receiver))
        last, when = self.received.get(self.records.get(_batch(step), ""), (-1, 0))
        match message.phase:
            case "both":
                yield Arrow(row, sender, row, receiver, message.what)
            case "answers" | "splits":
                yield Arrow(row, receiver, row, sender, "refusal")
            case "hears" if sender >= 0 or when == row:
                yield Arrow(row, sender if sender >= 0 else last, row, receiver, message.what)
            case "loses" if receiver >= 0 and last >= 0:
                yield Arrow(row, last, row, receiver, message.what, End.LOST)


def _batch(step: Step) -> int:
    return step.arguments.get("batch", -1)


def _gaps(trace: Trace, lanes: Sequence[str]) -> Iterator[Gap]:
    """Yield the gaps of lanes whose own part of the state is :data:`DOWN`."""
    since: dict[str, int] = {}
    for row, state in enumerate(states_of(trace)):
        for shown in state:
            if shown.what not in lanes:
                continue
            if shown.value == DOWN:
                since.setdefault(shown.what, row)
            elif shown.what in since:
                yield Gap(lanes.index(shown.what), since.pop(shown.what), row)
    for lane, row in since.items():
        yield Gap(lanes.index(lane), row, len(trace.steps))
