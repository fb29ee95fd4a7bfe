"""Limits of an exploration, and requests to stop."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_SECONDS = 8.0
"""Seconds from the beginning of exploring to the last layer of faults, if the user names no total. With the start of
the program and the traces, an answer takes about ten seconds."""

SECONDS_FOR_CLOCKS = 30.0
"""Seconds from the beginning of a check to the end of timed re-exploration of few faults, if the user names no
total. Required properties have no such limit while no violation of theirs is known, because single faults always decide
these."""

SECONDS_FOR_FAULT_SETS = 8.0
"""Seconds from the beginning of a check to the end of timed re-exploration of a property that is known to be violated,
if the user names no total; only its list of fault sets is open."""

ANSWERED_TO = 1
"""Largest number of faults for which every property is decided without a time limit, if the user names no total."""

ALWAYS_COVERED = 2
"""Largest number of faults in the explored fault combinations if a number is needed: audits, exports, any number of
faults."""

ANSWERED = "answered"
"""Reason for the end of an exploration: a violation was found, and larger fault sets were not requested."""


MEMORY_SHARE = 0.6
"""Part of the machine's memory that an exploration can use by default."""


LEAST_SHARE = 8
"""Divisor: states can use at least one part in LEAST_SHARE of the allowed memory, however large the process itself
is."""


SET_ASIDE = 96 << 20
"""Bytes that an exploration needs besides its states: code generation, successors, traces."""


SET_ASIDE_FOR_A_THREAD = 4 << 20
"""Bytes that each thread needs: boxes of successors, its stack."""


def physical_memory() -> int:
    """Return the machine's memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def process_memory() -> int:
    """Return the bytes of memory that this process uses now; 0 if the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


CPU_SHARE = Path("/sys/fs/cgroup/cpu.max")
"""The file in which Linux gives a container's share of processor time: microseconds or max, and the period."""


def processors() -> int:
    """Return the number of processors for this process: its processor affinity, limited by its share of processor
    time.
    """
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        share, of = CPU_SHARE.read_text(encoding="ascii").split()
        return max(1, min(bound, int(share) // int(of)))
    except (OSError, ValueError, ZeroDivisionError):
        return bound


@dataclass(frozen=True)
class Budget:
    """Limits of one check: wall-clock ``seconds``, distinct ``states``, ``memory`` in bytes, ``threads``.

    ``seconds=None`` means the default: about ten seconds, but at least every single fault, if no total of faults is
    given; otherwise no limit. ``memory`` is by default a part of the machine's memory (MEMORY_SHARE). Setting ``stop``
    (Ctrl-C) ends the exploration at its next opportunity.
    """

    seconds: float | None = None
    states: int | None = None
    memory: int = field(default_factory=lambda: int(physical_memory() * MEMORY_SHARE))
    threads: int = field(default_factory=processors)
    stop: threading.Event = field(default_factory=threading.Event, compare=False)


class Meter:
    """A meter that compares used time, states and memory with a budget; several threads can read it.

    ``timed``: no total of faults is given, so the default time applies. The default time limits larger fault sets from
    the beginning, and limits everything once ``is_answered`` is set.
    """

    def __init__(self, budget: Budget, timed: bool = True) -> None:
        self._budget = budget
        self._timed = timed
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._allowed = budget.memory
        self.is_answered = False
        self._is_promised: Callable[[], bool] = lambda: False
        self.states = 0
        self.memory = 0

    def start(self, begun: float | None = None) -> None:
        """Start the clock at ``begun``, or now; states stored before count against the memory."""
        self._started = time.monotonic() if begun is None else begun
        self.allot()

    def renew(self, budget: Budget) -> None:
        """Continue with another budget. Its time begins now, and states found so far count."""
        self._budget = budget
        self.start()

    def allot(self) -> None:
        """Allot to states the memory that the process does not use for code, terms and traces."""
        besides = max(process_memory() - self.memory, 0) + SET_ASIDE + self._budget.threads * SET_ASIDE_FOR_A_THREAD
        self._allowed = max(self._budget.memory - besides, self._budget.memory // LEAST_SHARE)

    @property
    def elapsed(self) -> float:
        """Seconds since the exploration began."""
        return time.monotonic() - self._started

    @property
    def most_states(self) -> int | None:
        """Largest number of distinct states; None without a limit."""
        return self._budget.states

    def seconds_left(self, layer: int) -> float | None:
        """Return the seconds left for exploring this layer of faults; None without a limit."""
        seconds = self._budget.seconds
        if seconds is None and self._timed and (layer > ANSWERED_TO or self.is_answered):
            seconds = DEFAULT_SECONDS
        return None if seconds is None else seconds - self.elapsed

    @property
    def seconds_were_given(self) -> bool:
        """Tell whether the user set a time limit."""
        return self._budget.seconds is not None

    @property
    def interrupted(self) -> bool:
        """Tell whether the exploration was asked to stop."""
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
        """Bytes of memory that are still allowed."""
        return max(self._allowed - self.memory, 0)

    def out_of_time(self, layer: int) -> str | None:
        """Return the reason to stop exploring this layer of faults, ``interrupted`` or ``time``, or None."""
        if self.interrupted:
            return "interrupted"
        left = self.seconds_left(layer)
        return "time" if left is not None and left < 0 else None

    @contextmanager
    def promising(self, is_promised: Callable[[], bool]) -> Iterator[None]:
        """Set no default limit of timed re-exploration of few faults within the block while ``is_promised``."""
        self._is_promised = is_promised
        try:
            yield
        finally:
            self._is_promised = lambda: False

    def out_of_time_for_clocks(self, layer: int, *, is_violated: bool = False) -> str | None:
        """Return the reason to stop timed re-exploration or timed solving, which has a default limit for few faults as
        well.

        ``is_violated``: a violation of the property is already known.
        """
        ended = self.out_of_time(layer)
        if layer <= ANSWERED_TO and self._is_promised():
            return ended
        most = SECONDS_FOR_FAULT_SETS if is_violated else SECONDS_FOR_CLOCKS
        if ended is None and self._timed and self._budget.seconds is None and self.elapsed > most:
            return "time"
        return ended

    def exceeded(self, layer: int) -> str | None:
        """Return the reason to stop exploring in this layer of faults, or None."""
        if (ended := self.out_of_time(layer)) is not None:
            return ended
        budget = self._budget
        if budget.states is not None and self.states > budget.states:
            return "states"
        if self.memory > self._allowed:
            return "memory"
        return None


class PartMeter(Meter):
    """A meter of one part of the exploration that ``whole`` measures.

    The part ends after ``most_states`` states of its own, if given, with ``reason``. Its states and memory count for
    the whole as well, until they are released.
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
        """Release the counted memory."""
        self._whole.grow(0, -self.memory)
        self.memory = 0

    def exceeded(self, layer: int) -> str | None:
        if self._most is not None and self.states > self._most:
            return self._reason
        return self._whole.out_of_time_for_clocks(layer) or self._whole.exceeded(layer)

    @property
    def room(self) -> int:
        """Bytes of memory that the whole can still use."""
        return self._whole.room

    def out_of_time(self, layer: int) -> str | None:
        return self._whole.out_of_time(layer)

    def out_of_time_for_clocks(self, layer: int, *, is_violated: bool = False) -> str | None:
        return self._whole.out_of_time_for_clocks(layer, is_violated=is_violated)
