"""Differences between clocks as tables of monitors (checker/kernel/monitored.py): the rules of monitors.py, as numbers.

The two are written apart and held against each other in tests: the same system with the same differences has the same
reachable states, whichever way it is explored.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from checker.cone import FreeVariables
from checker.kernel.monitored import BY_FLAGS, EARLIER, LATER, NO_CLOCK, NOT_NEGATIVE, OWN_DEADLINE, Monitors
from checker.kernel.native import MOST_CLOCKS
from checker.timing.differences import NOW, Difference, excluded_by_needs
from checker.timing.monitors import Watched
from model.language import Action, ClockKey

WORD = 64

Bits = NDArray[np.uint64]

Bound = tuple[ClockKey, int]
"""A clock, and how much it shows at least or at most, in ms."""


class TooManyFlags(Exception):
    """More differences than states should carry."""


MOST_FLAGS = 512


def tables(
    actions: Sequence[Action],
    clocks: Mapping[ClockKey, Watched],
    running: Collection[ClockKey],
    differences: Iterable[Difference],
    places: Mapping[ClockKey, int] | None = None,
    free: FreeVariables | None = None,
) -> Monitors:
    """Tables for a system's actions, by label.

    ``running``: the clocks that run in the initial state. ``places``: the place of each clock in the machine code,
    where these are not all that it knows. ``free``: the variables of terms, as far as somebody knows them already.
    Raises :class:`TooManyFlags`, also where clocks are too many.
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
        now = [need for need in action.needs if need.until is None and need.clock.key in deadlines]
        at_least = [(need.clock.key, need.at_least.at_least()) for need in now if need.at_least is not None]
        least = [(key, value) for key, value in at_least if value]
        at_most = [(need.clock.key, need.at_most.at_most()) for need in now if need.at_most is not None]
        most = [(key, value) for key, value in at_most if value is not None]
        excluded = excluded_by_needs(action, deadlines)
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
        maker.mask(number for number, holds in enumerate(initial) if holds),
    )


def _touched(actions: Sequence[Action], reads: Mapping[int, frozenset[str]]) -> Bits:
    """The clocks that each action may start or stop, as bits; ``reads``: the variables in the condition of each."""
    rows = np.zeros((len(actions), 2), dtype=np.uint64)
    for row, action in zip(rows, actions, strict=True):
        written = {variable.name for variable in action.updates}
        for place, names in reads.items():
            if written & names:
                row[place // WORD] |= np.uint64(1 << place % WORD)
    return rows


def _tightest(bounds: Iterable[Bound]) -> dict[ClockKey, int]:
    """What each clock shows at most, where more than one bound says so."""
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
        self._bit = places
        self._pairs: dict[tuple[ClockKey, ClockKey], list[int]] = {}
        self._laters: dict[ClockKey, list[ClockKey]] = {}
        self._recent: dict[tuple[ClockKey, int], tuple[list[int], list[int]]] = {}
        for number, one in enumerate(differences):
            if (one.earlier, one.later) not in self._pairs:
                self._laters.setdefault(one.earlier, []).append(one.later)
            self._pairs.setdefault((one.earlier, one.later), []).append(number)
        self.words = -(-len(differences) // WORD)
        self._alternatives: list[Bits] = []
        self.spans: list[list[tuple[int, int]]] = []

    def mask(self, numbers: Iterable[int], words: int | None = None) -> tuple[int, ...]:
        """These bits, as words."""
        found = [0] * (self.words if words is None else words)
        for number in numbers:
            found[number // WORD] |= 1 << number % WORD
        return tuple(found)

    def _weakest(self, earlier: ClockKey, later: ClockKey, most: int) -> tuple[int, ...]:
        """The flag of this pair that is set most often among those that say at most ``most``."""
        known = self._pairs.get((earlier, later))
        place = 0 if known is None else bisect_right(known, most, key=lambda n: self._differences[n].most)
        return () if known is None or place == 0 else (known[place - 1],)

    def flags(self) -> Bits:
        """What sets a flag when the later of its clocks starts, and whether the start of the earlier does."""
        rows = np.zeros((len(self._differences), BY_FLAGS + self.words), dtype=np.uint64)
        for number, one in enumerate(self._differences):
            row = rows[number]
            row[EARLIER] = np.uint64(NO_CLOCK & (2**64 - 1)) if one.earlier == NOW else self._bit[one.earlier]
            row[LATER] = self._bit[one.later]
            row[NOT_NEGATIVE] = one.most >= 0
            if one.earlier != NOW:
                recent, by = self._by_deadlines(one.earlier, one.most)
                row[OWN_DEADLINE] = bool(recent)
                row[BY_FLAGS:] = self.mask(by)
        return rows

    def _by_deadlines(self, earlier: ClockKey, most: int) -> tuple[list[int], list[int]]:
        """By its own deadline (its bit), or by which flags, a clock was started at most so long before any step."""
        asked = earlier, most
        if asked not in self._recent:
            self._recent[asked] = self._at_most(self._deadlines, earlier, most)
        return self._recent[asked]

    def _at_most(self, bounds: Mapping[ClockKey, int], earlier: ClockKey, most: int) -> tuple[list[int], list[int]]:
        """The same by what these clocks show at most."""
        own = bounds.get(earlier)
        by = [
            flag
            for later in self._laters.get(earlier, ())
            if (bound := bounds.get(later)) is not None
            for flag in self._weakest(earlier, later, most - bound)
        ]
        return ([self._bit[earlier]] if own is not None and own <= most else []), by

    def needs(self, least: Sequence[Bound], most: Sequence[Bound], excluded: Sequence[Difference]) -> Bits:
        """What a step that needs this of clocks sets by it; in the last row, what makes it impossible.

        For each flag a row for the start of its earlier clock, and behind these one for the start of the later.
        """
        flags, most_of = len(self._differences), _tightest(most)
        rows = np.zeros((2 * flags + 1, 2 + self.words), dtype=np.uint64)
        spans: list[tuple[int, int]] = []
        for number, one in enumerate(self._differences):
            rows[number] = self._since(least, one.later, one.most)
            if one.earlier != NOW and most_of:
                recent, by = self._at_most(most_of, one.earlier, one.most)
                rows[flags + number] = np.array([*self.mask(recent, 2), *self.mask(by)], dtype=np.uint64)
            added = [] if one.earlier == NOW or not least else list(self._between(least, most_of, one))
            spans.append((len(self._alternatives), len(added)))
            self._alternatives += added
        self.spans.append(spans)
        conflict = np.zeros(2 + self.words, dtype=np.uint64)
        for key, bound in (*self._deadlines.items(), *most):
            conflict |= self._since(least, key, -bound - 1)
        for one in excluded:
            clocks = [self._bit[one.earlier]] if one.earlier == one.later else []
            together = () if clocks else self._weakest(one.earlier, one.later, one.most)
            conflict |= np.array([*self.mask(clocks, 2), *self.mask(together)], dtype=np.uint64)
        rows[-1] = conflict
        return rows

    def alternatives(self) -> Bits:
        """What sets the flag of two clocks that run all along: one of the first half, with one of the second."""
        none = np.zeros(2 * (2 + self.words), dtype=np.uint64)
        return np.array(self._alternatives or [none])

    def _between(self, least: Sequence[Bound], most: Mapping[ClockKey, int], one: Difference) -> Iterator[Bits]:
        """By what ``later`` was started so long before now, and ``earlier`` so short, that the difference holds."""
        long_ago: dict[int, tuple[list[int], list[int]]] = {}
        for flag in self._pairs.get((NOW, one.later), ()):
            long_ago.setdefault(self._differences[flag].most, ([], []))[1].append(flag)
        for key, value in least:
            if key == one.later:
                long_ago.setdefault(-value, ([], []))[0].append(self._bit[key])
            for flag in self._pairs.get((key, one.later), ()):
                long_ago.setdefault(self._differences[flag].most - value, ([], []))[1].append(flag)
        for total, (clocks, flags) in sorted(long_ago.items()):
            recent, by = self._by_deadlines(one.earlier, one.most - total)
            needed, by_needs = self._at_most(most, one.earlier, one.most - total) if most else ([], [])
            recent, by = recent + needed, by + by_needs
            if recent or by:
                halves = (*self.mask(clocks, 2), *self.mask(flags), *self.mask(recent, 2), *self.mask(by))
                yield np.array(halves, dtype=np.uint64)

    def _since(self, least: Sequence[Bound], later: ClockKey, most: int) -> Bits:
        """By which clocks that ran, or flags, ``later`` was started at most ``most`` (less than 0) ms after now."""
        flags = list(self._weakest(NOW, later, most))
        clocks = []
        for key, value in least:
            if key == later and -value <= most:
                clocks.append(self._bit[key])
            flags += self._weakest(key, later, most + value)
        return np.array([*self.mask(clocks, 2), *self.mask(flags)], dtype=np.uint64)
