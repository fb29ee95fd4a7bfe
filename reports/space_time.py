"""A trace as a space-time diagram: a vertical lane for each actor, a mark for each step, an arrow for each message.

Rows are the steps, from 1, and columns the lanes, from 0; row 0 is the initial state. How they are drawn is somebody
else's: :mod:`reports.html.svg` for a page, :mod:`reports.figures.space_time` for slides.
Reference: L. Lamport, "Time, clocks, and the ordering of events in a distributed system", CACM 21 (7), 1978.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from properties.verdict import Step, Trace, states_of
from reports.messages import message_of

PRODUCER, COORDINATOR, CONTROLLER, CONSUMER = "producer", "coordinator", "controller", "consumer"
REQUEST, ABANDONED = "request", "abandoned"
"""Messages by name: a record on its way to a leader, and one on which its sender has given up."""

DOWN = "down"
"""What a lane's own part of the state says while its process is gone."""

_Key = tuple[str, int]
"""A message: what it is, and of which batch."""

_LANE_OF = {"application": PRODUCER, "network": PRODUCER, "brokers": COORDINATOR}
"""Whose lane it is where an actor has none of its own; what all brokers keep together is a coordinator's."""


class End(StrEnum):
    """What becomes of a message."""

    ARRIVES = "arrives"
    LOST = "lost"
    OPEN = "open"


@dataclass(frozen=True)
class Mark:
    """A step on the lane of who takes it."""

    row: int
    lane: int
    fault: str | None


@dataclass(frozen=True)
class Arrow:
    """A message from a lane at a row to another, which it reaches, or not, or not within the trace."""

    row: int
    lane: int
    to_row: int
    to_lane: int
    what: str
    end: End = End.ARRIVES


@dataclass(frozen=True)
class Gap:
    """A lane whose process is gone from the step at ``row`` until the one at ``to_row``, or to the end of the trace."""

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
    """The diagram of a trace, with a lane for everyone who acts, sends or receives, and for every broker."""
    lanes = _lanes(trace)
    marks = tuple(Mark(row, lanes.index(lane_of(step)), step.fault) for row, step in enumerate(trace.steps, 1))
    gaps = tuple(_gaps(trace, lanes))
    return SpaceTime(lanes, len(trace.steps), marks, tuple(_Arrows(lanes).of(trace.steps, gaps)), gaps)


def lane_of(step: Step) -> str:
    """The lane on which a step is marked."""
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


@dataclass
class _Arrows:
    """The arrows of a trace, found from its first step to its last.

    ``on_the_way``: the rows and ends of what was sent and has not arrived; ``received``: who received a record last.
    """

    lanes: Sequence[str]
    on_the_way: dict[_Key, tuple[int, int, int]] = field(default_factory=dict)
    received: dict[int, int] = field(default_factory=dict)

    def of(self, steps: Sequence[Step], gaps: Sequence[Gap]) -> Iterator[Arrow]:
        for row, step in enumerate(steps, 1):
            for gap in gaps:
                if gap.row == row:
                    yield from self._end(row, gap.lane)
            message = message_of(step)
            if message is not None:
                sender, receiver = (self.lanes.index(end) if end else -1 for end in (message.sender, message.receiver))
                yield from self._of(
                    row, (message.what, step.arguments.get("batch", -1)), message.phase, sender, receiver
                )
        for (what, _), (row, sender, receiver) in self.on_the_way.items():
            yield Arrow(row, sender, len(steps) + 1, receiver, what, End.OPEN)

    def _lane(self, name: str) -> int:
        return self.lanes.index(name) if name else -1

    def _of(self, row: int, key: _Key, phase: str, sender: int, receiver: int) -> Iterator[Arrow]:
        what, batch = key
        match phase:
            case "both":
                yield Arrow(row, sender, row, receiver, what)
            case "sends":
                yield from self._lost(row, key)
                self.on_the_way[key] = (row, sender, receiver)
            case "holds":
                if key in self.on_the_way:
                    self.on_the_way[ABANDONED, batch] = self.on_the_way.pop(key)
            case "receives" | "answers":
                if what == ABANDONED and key not in self.on_the_way:
                    # Its sender is gone: what it had in flight is abandoned without a step of its own.
                    key = (REQUEST, batch)
                sent, *_ = self.on_the_way.pop(key, (row,))
                yield Arrow(sent, sender, row, receiver, what)
                self.received[batch] = receiver
                if phase == "answers":
                    yield Arrow(row, receiver, row, sender, "refusal")
            case "loses" if receiver < 0:
                yield from self._lost(row, key)
            case "loses" if batch in self.received:
                yield Arrow(row, self.received[batch], row, receiver, what, End.LOST)
            case "drops":
                yield from self._end(row, receiver)

    def _lost(self, row: int, key: _Key) -> Iterator[Arrow]:
        if key in self.on_the_way:
            sent, sender, receiver = self.on_the_way.pop(key)
            yield Arrow(sent, sender, row, receiver, key[0], End.LOST)

    def _end(self, row: int, receiver: int) -> Iterator[Arrow]:
        """Nothing that is on its way to this lane arrives any more."""
        for key in [key for key, (*_, to) in self.on_the_way.items() if to == receiver]:
            yield from self._lost(row, key)


def _gaps(trace: Trace, lanes: Sequence[str]) -> Iterator[Gap]:
    """Where a lane's own part of the state says that it is down."""
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
