"""The states of the model that are compatible with the events so far (trace validation).

The tracker keeps sets of packed states. For each event it closes a set under silent actions, takes the steps that
explain the event, and keeps the states in which the event's condition holds. An empty set names the event that the
model does not allow. Reference: Cirstea, Kuppe, Loillier, Merz, *Validating Traces of Distributed Programs Against TLA+
Specifications*, 2024.

The events of overlapping intervals happen in any order, so there is a set for each combination of those that have
happened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from proofka.checker.conformance.events import Event
from proofka.checker.conformance.observed_system import SILENTLY, ObservedSystem, Way
from proofka.checker.conformance.row_set import RowSet, expand_rows
from proofka.checker.kernel.layout import Words
from proofka.model.language import State

MOST_STATES = 2_000_000
"""Default limit of the states that are kept at once."""

MOST_OVERLAPPING = 64
"""Largest number of events whose intervals are open at the same moment."""

CHUNK_BYTES = 64 << 20
"""Bytes of the successors that are computed at once."""

SHOWN_STATES = 3
"""The number of states that a rejection shows."""


class Answer(StrEnum):
    """The answers to the question whether a run is a behaviour of the model.

    ``BOUND``: the model rejects the run, and a bound of the model stopped some behaviour before. ``TOO_MANY``: the
    tracker would keep more states than its limit, or more events overlap than it can tell apart.
    """

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    BOUND = "bound"
    TOO_MANY = "too-many"


@dataclass(frozen=True)
class Outcome:
    """The answer for one run.

    ``sizes``: the number of states kept after each event. ``event``: the number of the event at which the tracker
    stopped, or None. ``states``: some of the states before that event. ``enabled``: the actions that were possible
    there, in words. ``bounds``: the bounds that stopped a behaviour there.
    """

    answer: Answer
    sizes: tuple[int, ...]
    event: int | None = None
    states: tuple[State, ...] = ()
    enabled: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()


class _TooMany(Exception):
    """More states, or more overlapping events, than the limit."""


def check_run(
    system: ObservedSystem,
    events: Sequence[Event],
    most: int = MOST_STATES,
    *,
    without: Collection[str] = (),
) -> Outcome:
    """Tell whether some behaviour of the model shows the events. ``without``: names of actions that never happen."""
    tracker = _Tracker(system, events, most, without)
    sizes: list[int] = []
    for number, opens in _marks(events):
        try:
            if opens:
                tracker.open(number)
                continue
            before = tracker.close(number)
        except _TooMany:
            return Outcome(Answer.TOO_MANY, tuple(sizes), number)
        sizes.append(tracker.count)
        if not tracker.count:
            return _rejection(system, before, tuple(sizes), number)
    return Outcome(Answer.ACCEPTED, tuple(sizes))


def _marks(events: Sequence[Event]) -> list[tuple[int, bool]]:
    """Return the beginnings and ends of the events' intervals, in order: an event's number, and whether it begins.

    At the same moment, intervals begin before others end.
    """
    marks = [(event.opens, 0, number) for number, event in enumerate(events)]
    marks += [(event.closes, 1, number) for number, event in enumerate(events)]
    return [(number, not ends) for _, ends, number in sorted(marks)]


class _Tracker:
    """The sets of states, by the events of open intervals that have happened, as bits."""

    def __init__(self, system: ObservedSystem, events: Sequence[Event], most: int, without: Collection[str]) -> None:
        self._system = system
        self._most = most
        never = [label for label, action in enumerate(system.actions) if action.name in without]
        self._never = np.array(never, dtype=np.uint64)
        self._ways = [system.ways(event) for event in events]
        self._predecessors = _predecessors(events)
        self._bits: dict[int, int] = {}
        self._closed: set[int] = set()
        self._permitted: set[int] = set()
        first = RowSet(system.layout.words)
        first.add(system.layout.pack(system.system.initial)[np.newaxis, :])
        self._sets: dict[int, RowSet] = {0: first}
        self._tried: dict[tuple[int, int | None], int] = {}

    @property
    def count(self) -> int:
        """The number of states that are kept."""
        return sum(rows.count for rows in self._sets.values())

    def open(self, number: int) -> None:
        """Let an event happen from now on."""
        if any(way.permits for way in self._ways[number]):
            self._permitted.add(number)
            return
        used = set(self._bits.values())
        free = (bit for bit in (1 << place for place in range(MOST_OVERLAPPING)) if bit not in used)
        bit = next(free, None)
        if bit is None:
            raise _TooMany
        self._bits[number] = bit

    def close(self, number: int) -> list[Words]:
        """Keep the states in which the event has happened; return the states before that, in sets."""
        self._saturate()
        if number in self._permitted:
            self._permitted.remove(number)
            self._tried = {(mask, what): done for (mask, what), done in self._tried.items() if what != number}
            return []
        before = [rows.rows for rows in self._sets.values()]
        bit = self._bits.pop(number)
        self._closed.add(number)
        self._sets = {mask & ~bit: rows for mask, rows in self._sets.items() if mask & bit}
        self._tried = {(mask & ~bit, what): done for (mask, what), done in self._tried.items() if mask & bit}
        return before

    def _saturate(self) -> None:
        """Add every state that silent actions and open events lead to."""
        grown = True
        while grown:
            grown = False
            for mask in list(self._sets):
                for what in (None, *self._can_happen(mask)):
                    rows, done = self._sets[mask], self._tried.get((mask, what), 0)
                    if done < rows.count:
                        grown = True
                        self._tried[mask, what] = rows.count
                        self._try(mask, what, rows.rows[done:])

    def _can_happen(self, mask: int) -> list[int]:
        """Return the open events that can happen next in the states of a set."""
        found = list(self._permitted)
        for number, bit in self._bits.items():
            earlier = self._predecessors[number]
            waits = earlier is not None and earlier not in self._closed and not mask & self._bits.get(earlier, 0)
            if not mask & bit and not waits:
                found.append(number)
        return found

    def _try(self, mask: int, what: int | None, rows: Words) -> None:
        if what is None:
            for made in self._expanded(SILENTLY, rows):
                self._enter(mask, made[:, :-1])
            return
        target = mask | self._bits.get(what, 0)
        for way in self._ways[what]:
            if way.stays is not None:
                self._enter(target, rows[way.stays.holds(rows)])
            for after in self._explained(way, rows):
                self._enter(target, after)

    def _explained(self, way: Way, rows: Words) -> Iterator[Words]:
        """Yield the states after the steps that explain an event."""
        if not way.labels:
            return
        rows = rows[way.before.holds(rows)]
        labels = np.array(sorted(way.labels), dtype=np.uint64)
        for function in way.functions:
            for made in self._expanded(function, rows):
                after = made[np.isin(made[:, -1], labels), :-1]
                yield after[way.after.holds(after)]

    def _expanded(self, function: str, rows: Words) -> Iterator[Words]:
        """Yield the successors of states by a function of the kernel, each with its action's label."""
        kernel, words = self._system.kernel, self._system.layout.words
        most = kernel.most_successors[function]
        if not most:
            return
        chunk = max(1, CHUNK_BYTES // (most * (words + 1) * 8))
        for begin in range(0, len(rows), chunk):
            part = np.ascontiguousarray(rows[begin : begin + chunk])
            out = np.empty((len(part) * most, words + 1), dtype=np.uint64)
            made = out[: expand_rows(kernel.addresses[function], part, out)]
            yield made[~np.isin(made[:, -1], self._never)] if len(self._never) else made

    def _enter(self, mask: int, rows: Words) -> None:
        if not len(rows):
            return
        if mask not in self._sets:
            self._sets[mask] = RowSet(self._system.layout.words)
        self._sets[mask].add(rows)
        if self.count > self._most:
            raise _TooMany


def _predecessors(events: Sequence[Event]) -> Mapping[int, int | None]:
    """Return, for each event, the event before it in its chain."""
    last: dict[str, int] = {}
    found: dict[int, int | None] = {}
    for number, event in enumerate(events):
        found[number] = last.get(event.chain) if event.chain else None
        last[event.chain] = number
    return found


def _rejection(system: ObservedSystem, before: Sequence[Words], sizes: tuple[int, ...], number: int) -> Outcome:
    """Return the outcome for an event that no state before it allows."""
    rows = np.concatenate(before)
    stopped = tuple(name for name, limit in system.limits.items() if limit.holds(rows).any())
    shown = rows[:: max(1, len(rows) // SHOWN_STATES)][:SHOWN_STATES]
    kernel = system.kernel
    steps = [step for state in shown for name in kernel.most_successors for step in kernel.successors(name, state)]
    labels = {int(step[-1]) for step in steps}
    return Outcome(
        Answer.BOUND if stopped else Answer.REJECTED,
        sizes,
        number,
        tuple({**system.constants, **system.layout.unpack(state)} for state in shown),
        tuple(str(system.actions[label]) for label in sorted(labels)),
        stopped,
    )
