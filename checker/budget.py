"""What an exploration may cost, and how it is told to stop."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_SECONDS = 8.0
"""Seconds from the beginning of exploring to the last layer of faults, when the user names no total: with the start of
the program before and the traces behind, the answer is there after ten."""

SECONDS_FOR_CLOCKS = 30.0
"""Seconds from the beginning of a check to the end of timed re-exploration of few faults, when no total is named."""

SECONDS_FOR_FAULT_SETS = 8.0
"""The same of a property that is known to be violated, of which only the list of fault sets is open."""

ANSWERED_TO = 1
"""Number of faults up to which every property is decided when the user names no total, however long that takes."""

ALWAYS_COVERED = 2
"""Number of faults in every combination that is explored where the total has to be a number: audits, exports, any
number of faults."""

ANSWERED = "answered"
"""Reason why an exploration ended: a violation was found, and nobody asked for larger fault sets."""


MEMORY_SHARE = 0.6
"""The part of the machine's memory that an exploration may take unless the user says otherwise."""


LEAST_SHARE = 8
"""The part (one in so many) of the memory allowed that states may take however large the process itself is."""


SET_ASIDE = 96 << 20
"""Bytes that an exploration needs besides its states: machine code in the making, successors, traces."""


SET_ASIDE_FOR_A_THREAD = 4 << 20
"""Bytes that each thread needs: boxes of successors, its stack."""


def physical_memory() -> int:
    """The machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def process_memory() -> int:
    """What this process has in memory now, in bytes; 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


CPU_SHARE = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux says how much processor time a container gets: microseconds, or max, and of how many."""


def processors() -> int:
    """How many processors this process may use: those that it is bound to, and no more than its share of time."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        share, of = CPU_SHARE.read_text(encoding="ascii").split()
        return max(1, min(bound, int(share) // int(of)))
    except (OSError, ValueError, ZeroDivisionError):
        return bound


@dataclass(frozen=True)
class Budget:
    """Limits of one check: wall-clock ``seconds``, distinct ``states``, ``memory`` in bytes, ``threads``.

    ``seconds=None`` means the default: where no total of faults was asked for, about ten seconds, but at least every
    single fault; otherwise no limit. ``memory`` is at most the larger part of the machine's. Whoever sets
    ``stop`` (Ctrl-C) ends the exploration at its next opportunity.
    """

    seconds: float | None = None
    states: int | None = None
    memory: int = field(default_factory=lambda: int(physical_memory() * MEMORY_SHARE))
    threads: int = field(default_factory=processors)
    stop: threading.Event = field(default_factory=threading.Event, compare=False)


class Meter:
    """Watches a budget while shards grow; safe to read from several threads.

    ``timed``: no total of faults was asked for, so that the default time applies: to larger fault sets from the
    beginning, and once ``is_answered`` is set to everything.
    """

    def __init__(self, budget: Budget, timed: bool = True) -> None:
        self._budget = budget
        self._timed = timed
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._allowed = budget.memory
        self.is_answered = False
        self.states = 0
        self.memory = 0

    def start(self, begun: float | None = None) -> None:
        """Start the clock at ``begun``, or now: what was stored before counts against the memory."""
        self._started = time.monotonic() if begun is None else begun
        self.allot()

    def renew(self, budget: Budget) -> None:
        """Go on within another budget: its time begins now, and what was found so far counts."""
        self._budget = budget
        self.start()

    def allot(self) -> None:
        """Leave to states what the process does not take for anything else now: code, terms, traces."""
        besides = max(process_memory() - self.memory, 0) + SET_ASIDE + self._budget.threads * SET_ASIDE_FOR_A_THREAD
        self._allowed = max(self._budget.memory - besides, self._budget.memory // LEAST_SHARE)

    @property
    def elapsed(self) -> float:
        """Seconds since the exploration began."""
        return time.monotonic() - self._started

    @property
    def most_states(self) -> int | None:
        """How many distinct states there may be; None without a limit."""
        return self._budget.states

    def seconds_left(self, layer: int) -> float | None:
        """How long exploring in this layer of faults may go on; None without a limit."""
        seconds = self._budget.seconds
        if seconds is None and self._timed and (layer > ANSWERED_TO or self.is_answered):
            seconds = DEFAULT_SECONDS
        return None if seconds is None else seconds - self.elapsed

    @property
    def seconds_were_given(self) -> bool:
        """Whether somebody said how long it may take."""
        return self._budget.seconds is not None

    @property
    def interrupted(self) -> bool:
        """Whether somebody asked to stop."""
        return self._budget.stop.is_set()

    def interrupt(self) -> None:
        """Ask every thread to stop at its next opportunity."""
        self._budget.stop.set()

    def grow(self, states: int, memory: int) -> None:
        """Count newly stored states and newly used bytes."""
        with self._lock:
            self.states += states
            self.memory += memory

    @property
    def room(self) -> int:
        """Bytes of memory that may still be taken."""
        return max(self._allowed - self.memory, 0)

    def out_of_time(self, layer: int) -> str | None:
        """Tell whether somebody asked to stop, or the time for this layer of faults is over: why to stop, or None."""
        if self.interrupted:
            return "interrupted"
        left = self.seconds_left(layer)
        return "time" if left is not None and left < 0 else None

    def out_of_time_for_clocks(self, layer: int, *, is_violated: bool = False) -> str | None:
        """Tell the same of what is explored or solved with clocks, which has a default limit for few faults as well.

        ``is_violated``: a violation of the property is known already.
        """
        ended = self.out_of_time(layer)
        most = SECONDS_FOR_FAULT_SETS if is_violated else SECONDS_FOR_CLOCKS
        if ended is None and self._timed and self._budget.seconds is None and self.elapsed > most:
            return "time"
        return ended

    def exceeded(self, layer: int) -> str | None:
        """Why to stop exploring in this layer of faults, or None."""
        if (ended := self.out_of_time(layer)) is not None:
            return ended
        budget = self._budget
        if budget.states is not None and self.states > budget.states:
            return "states"
        if self.memory > self._allowed:
            return "memory"
        return None


class PartMeter(Meter):
    """Watches a part of what ``whole`` watches, which ends after ``most_states`` states of its own where that is said.

    What it counts counts for the whole as well, until it is released.
    """

    def __init__(self, whole: Meter, most_states: int | None, reason: str) -> None:
        super().__init__(whole._budget, whole._timed)
        self._started = whole._started
        self._whole, self._most, self._reason = whole, most_states, reason

    def grow(self, states: int, memory: int) -> None:
        super().grow(states, memory)
        self._whole.grow(states, memory)

    def allot(self) -> None:
        self._whole.allot()

    def release(self) -> None:
        """The memory that was counted is free again."""
        self._whole.grow(0, -self.memory)
        self.memory = 0

    def exceeded(self, layer: int) -> str | None:
        if self._most is not None and self.states > self._most:
            return self._reason
        return self._whole.out_of_time_for_clocks(layer) or self._whole.exceeded(layer)

    @property
    def room(self) -> int:
        """Bytes of memory that the whole may still take."""
        return self._whole.room

    def out_of_time(self, layer: int) -> str | None:
        return self._whole.out_of_time(layer)
