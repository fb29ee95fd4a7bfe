"""Where the threads of a compiled loop wait for each other, and what one of them decides for all.

A gate is one array in memory that all of them share. Between two waits every thread reads the same of it; only the
last to arrive writes, before it lets the others go on. Reference: the central barrier in Mellor-Crummey and Scott,
*Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors*, 1991.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.kernel.memory import Integer, add_atomically, load_atomically, yield_processor

APART = 16
"""Numbers left unused between those that different threads write, so that they never share a line of the cache."""

ARRIVED, ROUND, CLAIMED = 0, APART, 2 * APART
FIRST, PENDING, ROOM, ROWS, ROUNDS, CUT_SHORT = range(3 * APART, 3 * APART + 6)
"""The next row to expand, pieces in the boxes that wait to be entered, whether there is room for what is in them, rows
in a piece; for those who measure, how many rounds were shared out, and how many of them a full box ended early."""

SPINS = 2_000
"""Looks at the gate before a waiting thread offers its processor to others."""

Gate = NDArray[np.int64]


def new_gate() -> Gate:
    """A gate at which nobody waits."""
    return np.zeros(4 * APART, dtype=np.int64)


@njit(cache=True, nogil=True)
def is_last(gate: Gate, threads: Integer) -> bool:
    """Wait for the other threads. The last to arrive does not: it alone gets True, and has to :func:`open_gate`."""
    passed = load_atomically(gate.ctypes.data + ROUND * 8)
    if add_atomically(gate.ctypes.data + ARRIVED * 8, 1) == threads - 1:
        return True
    spins = 0
    while load_atomically(gate.ctypes.data + ROUND * 8) == passed:
        spins += 1
        if spins >= SPINS:
            yield_processor()
    return False


@njit(cache=True, nogil=True)
def open_gate(gate: Gate) -> None:
    """Let the others go on, with nothing claimed."""
    gate[ARRIVED] = 0
    gate[CLAIMED] = 0
    add_atomically(gate.ctypes.data + ROUND * 8, 1)


@njit(cache=True, nogil=True)
def claim(gate: Gate) -> np.int64:
    """A number that no other thread gets until the gate is opened: 0, 1, 2, ..."""
    return np.int64(add_atomically(gate.ctypes.data + CLAIMED * 8, 1))
