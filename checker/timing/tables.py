"""Differences between clocks as tables of monitors (checker/kernel/monitored.py): the rules of monitors.py, as numbers.

The two modules are written separately, and tests compare them: the same system with the same differences has the same
reachable states in both.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proofka.checker.cone import FreeVariables
from proofka.checker.kernel.monitored import (
    BY_FLAGS,
    EARLIER,
    LATER,
    MOST_FLAGS,
    NO_CLOCK,
    NOT_NEGATIVE,
    OWN_DEADLINE,
    Monitors,
)
from proofka.checker.kernel.native import MOST_CLOCKS
from proofka.checker.timing.differences import NOW, Difference, excluded_by
from proofka.checker.timing.monitors import Watched
from proofka.model.language import Action, ClockKey, Needs

WORD = 64

Bits = NDArray[np.uint64]

FLAGS = 2 * WORD
"""Place of the first flag in a row of bits, behind two words of clocks. A row is a Python integer until it is
written."""

Bound = tuple[ClockKey, int]
"""A clock, and its least or greatest value, in ms."""


class TooManyFlags(Exception):
    """The differences need more flags than a state can carry."""


def tables(
    actions: Sequence[Action],
    needs_of: Needs,
    clocks: Mapping[ClockKey, Watched],
    running: Collection[ClockKey],
    differences: Iterable[Difference],
    places: Mapping[ClockKey, int] | None = None,
    free: FreeVariables | None = None,
) -> Monitors:
    """Return tables for a system's actions, by label.

    ``running``: the clocks that run in the initial state. ``places``: the place of each clock in the machine code, if
    the code knows further clocks. ``free``: cached variables of terms. Raise :class:`TooManyFlags`, also for too many
    clocks.
    """
    if len(clocks) > MOST_CLOCKS:
        raise TooManyFlags(f"{len(clocks)} clocks; at most {MOST_CLOCKS}")
    deadlines = {key: clock.deadline for key, clock in clocks.items()}
    watched = {*clocks, NOW}
    chosen = sorted(one for one in set(differences) if one.earlier in watched and one.later in watched)
    if len(chosen) > MOST_FLAGS:
        raise TooManyFlags(f"{len(chosen)} differences between clocks; at most {MOST_FLAGS}")
    places = places or {key: place for place, key in enumerate(clocks)}
    free = free or FreeVariables()
    maker = _Tables(chosen, deadlines, places)
    classes: list[int] = []
    needs: list[Bits] = [maker.needs((), (), ())]
    for action in actions:
        own = needs_of.get(action.key, ())
        now = [need for need in own if need.until is None and need.clock.key in deadlines]
        at_least = [(need.clock.key, need.at_least.at_least()) for need in now if need.at_least is not None]
        least = [(key, value) for key, value in at_least if value]
        at_most = [(need.clock.key, need.at_most.at_most()) for need in now if need.at_most is not None]
        most = [(key, value) for key, value in at_most if value is not None]
        excluded = excluded_by(own, deadlines)
        classes.append(len(needs) if least or most or excluded else 0)
        if classes[-1]:
            needs.append(maker.needs(least, most, excluded))
    initial = [one.most >= 0 and one.earlier in running and one.later in running for one in chosen]
    return Monitors(
        tuple(clock.runs for clock in clocks.values()),
        _touched(actions, {places[key]: free.of(clock.runs) for key, clock in clocks.items()}).view(np.int64),
        maker.flags().view(np.int64),
        np.array(classes, dtype=np.int64),
        np.array(needs).view(np.int64),
        maker.alternatives().view(np.int64),
        np.array(maker.spans, dtype=np.int64),
        _words(sum(1 << number for number, holds in enumerate(initial) if holds), maker.words),
    )


def _touched(actions: Sequence[Action], reads: Mapping[int, frozenset[str]]) -> Bits:
    """Return the clocks that each action can start or stop, as bits; ``reads``: the variables of each clock's
    condition.
    """
    starts_or_stops: dict[str, int] = {}
    for place, names in reads.items():
        for name in names:
            starts_or_stops[name] = starts_or_stops.get(name, 0) | 1 << place
    rows = []
    for action in actions:
        row = 0
        for variable in action.updates:
            row |= starts_or_stops.get(variable.name, 0)
        rows.append(row)
    return _rows(rows, 2)


def _tightest(bounds: Iterable[Bound]) -> dict[ClockKey, int]:
    """Return the smallest upper bound of each clock."""
    found: dict[ClockKey, int] = {}
    for key, bound in bounds:
        found[key] = min(bound, found.get(key, bound))
    return found


class _Tables:
    def __init__(
        self,
        differences: Sequence[Difference],
        deadlines: Mapping[ClockKey, int | None],
        places: Mapping[ClockKey, int],
    ) -> None:
        self._differences = differences
        self._deadlines = {key: deadline for key, deadline in deadlines.items() if deadline is not None}
        self._place = places
        self._pairs: dict[tuple[ClockKey, ClockKey], _Flags] = {}
        self._laters: dict[ClockKey, list[ClockKey]] = {}
        self._earliers: dict[ClockKey, list[ClockKey]] = {}
        self._recent: dict[tuple[ClockKey, int], int] = {}
        for number, one in enumerate(differences):
            if (one.earlier, one.later) not in self._pairs:
                self._laters.setdefault(one.earlier, []).append(one.later)
                self._earliers.setdefault(one.later, []).append(one.earlier)
            known = self._pairs.setdefault((one.earlier, one.later), _Flags([], []))
            known.most.append(one.most)
            known.bits.append(1 << FLAGS + number)
        self.words = -(-len(differences) // WORD)
        self._alternatives: list[tuple[int, int]] = []
        self.spans: list[list[tuple[int, int]]] = []

    def _clock(self, key: ClockKey) -> int:
        return 1 << self._place[key]

    def _weakest(self, earlier: ClockKey, later: ClockKey, most: int) -> int:
        """Return the weakest flag of this pair among those with a bound of at most ``most``."""
        known = self._pairs.get((earlier, later), NONE)
        place = bisect_right(known.most, most)
        return known.bits[place - 1] if place else 0

    def flags(self) -> Bits:
        """Return, for each flag, the causes that set it when its later clock starts, and whether the start of the
        earlier sets it.
        """
        rows = np.zeros((len(self._differences), BY_FLAGS + self.words), dtype=np.uint64)
        for number, one in enumerate(self._differences):
            row = rows[number]
            row[EARLIER] = np.uint64(NO_CLOCK & (2**64 - 1)) if one.earlier == NOW else self._place[one.earlier]
            row[LATER] = self._place[one.later]
            row[NOT_NEGATIVE] = one.most >= 0
            if one.earlier != NOW:
                recent = self._by_deadlines(one.earlier, one.most)
                row[OWN_DEADLINE] = bool(recent & self._clock(one.earlier))
                row[BY_FLAGS:] = _words(recent >> FLAGS, self.words)
        return rows

    def _by_deadlines(self, earlier: ClockKey, most: int) -> int:
        """Return the reasons, as bits (own deadline, flags), why a clock started at most ``most`` ms before any
        step.
        """
        asked = earlier, most
        if asked not in self._recent:
            self._recent[asked] = self._at_most(self._deadlines, earlier, most)
        return self._recent[asked]

    def _at_most(self, bounds: Mapping[ClockKey, int], earlier: ClockKey, most: int) -> int:
        """Return the reasons, as bits, that follow from these clocks' greatest values."""
        own = bounds.get(earlier)
        found = self._clock(earlier) if own is not None and own <= most else 0
        for later in self._laters.get(earlier, ()):
            if (bound := bounds.get(later)) is not None:
                found |= self._weakest(earlier, later, most - bound)
        return found

    def needs(self, least: Sequence[Bound], most: Sequence[Bound], excluded: Sequence[Difference]) -> Bits:
        """Return the causes by which a step with these needs sets each flag; the last row holds the causes that exclude
        the step.

        For each flag there is a row for the start of its earlier clock, and, behind these rows, one for the start of
        the later clock.
        """
        most_of = _tightest(most)
        older = {later for key, _ in least for later in (key, *self._laters.get(key, ()))}
        recent = {earlier for key in most_of for earlier in (key, *self._earliers.get(key, ()))}
        long_ago = {later: self._long_ago(least, later) for later in older}
        by_earlier = list(self._by_now)
        by_later = [0] * len(self._differences)
        spans = list(self._spans_by_now) if least else [NO_SPAN] * len(self._differences)
        for number, one in enumerate(self._differences):
            is_older, is_recent = one.later in older, one.earlier in recent and one.earlier != NOW
            if is_older:
                by_earlier[number] = self._since(least, one.later, one.most)
            if is_recent:
                by_later[number] = self._at_most(most_of, one.earlier, one.most)
            if least and one.earlier != NOW and (is_older or is_recent):
                known = long_ago[one.later] if is_older else self._long_ago((), one.later)
                spans[number] = self._span(self._between(known, most_of if is_recent else {}, one))
        self.spans.append(spans)
        conflict = 0
        for key, bound in (*self._deadlines.items(), *most):
            conflict |= self._since(least, key, -bound - 1)
        for one in excluded:
            same = one.earlier == one.later
            conflict |= self._clock(one.earlier) if same else self._weakest(one.earlier, one.later, one.most)
        return _rows([*by_earlier, *by_later, conflict], 2 + self.words)

    @cached_property
    def _by_now(self) -> list[int]:
        """The flags that imply each difference because its later clock was started long ago."""
        return [self._weakest(NOW, one.later, one.most) for one in self._differences]

    @cached_property
    def _spans_by_now(self) -> list[tuple[int, int]]:
        """The alternatives of each difference that do not depend on what a step needs."""
        laters = {one.later: self._long_ago((), one.later) for one in self._differences}
        none: dict[ClockKey, int] = {}
        return [
            NO_SPAN if one.earlier == NOW else self._span(self._between(laters[one.later], none, one))
            for one in self._differences
        ]

    def _span(self, alternatives: Iterable[tuple[int, int]]) -> tuple[int, int]:
        """Add alternatives; return the place of the first, and their number."""
        first = len(self._alternatives)
        self._alternatives += alternatives
        return first, len(self._alternatives) - first

    def alternatives(self) -> Bits:
        """Return the causes that set the flag of two clocks that keep running: one of the first half, and one of the
        second.
        """
        halves = [half for both in self._alternatives or [(0, 0)] for half in both]
        return _rows(halves, 2 + self.words).reshape(-1, 2 * (2 + self.words))

    def _long_ago(self, least: Sequence[Bound], later: ClockKey) -> list[tuple[int, int]]:
        """Return lower bounds on the time since the start of ``later``, as negative ms, each with its causes, longest
        first.
        """
        found: dict[int, int] = {}

        def add(flags: _Flags, value: int) -> None:
            for most, bit in zip(flags.most, flags.bits, strict=True):
                found[most - value] = found.get(most - value, 0) | bit

        add(self._pairs.get((NOW, later), NONE), 0)
        for key, value in least:
            if key == later:
                found[-value] = found.get(-value, 0) | self._clock(key)
            add(self._pairs.get((key, later), NONE), value)
        return sorted(found.items())

    def _between(
        self, long_ago: Iterable[tuple[int, int]], most: Mapping[ClockKey, int], one: Difference
    ) -> Iterator[tuple[int, int]]:
        """Yield causes for an early start of ``later`` and a late start of ``earlier`` that together imply the
        difference.
        """
        for total, by in long_ago:
            recent = self._by_deadlines(one.earlier, one.most - total)
            if most:
                recent |= self._at_most(most, one.earlier, one.most - total)
            if recent:
                yield by, recent

    def _since(self, least: Sequence[Bound], later: ClockKey, most: int) -> int:
        """Return the running clocks and flags that imply that ``later`` started at most ``most`` (negative) ms after
        now.
        """
        found = self._weakest(NOW, later, most)
        for key, value in least:
            if key == later and -value <= most:
                found |= self._clock(key)
            found |= self._weakest(key, later, most + value)
        return found


class _Flags(NamedTuple):
    """The flags of a pair of clocks: each bound in ms, least first, and its bit."""

    most: list[int]
    bits: list[int]


NONE = _Flags([], [])

NO_SPAN = 0, 0
"""No alternatives."""


def _words(bits: int, words: int) -> tuple[int, ...]:
    """Return bits as a number of words."""
    return tuple(bits >> WORD * word & 2**WORD - 1 for word in range(words))


def _rows(bits: Sequence[int], words: int) -> Bits:
    """Return bits as rows of a number of words."""
    size = words * WORD // 8
    nothing = bytes(size)
    written = b"".join(row.to_bytes(size, "little") if row else nothing for row in bits)
    return np.frombuffer(written, dtype="<u8").reshape(-1, words).astype(np.uint64)
