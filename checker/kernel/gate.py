"""A barrier for the threads of a compiled loop, and the values that one thread decides for all.

A gate is one array that all threads share. Between two waits every thread reads the same values; only the last thread
to arrive writes, before the others continue. Reference: the central barrier in Mellor-Crummey and Scott, *Algorithms
for Scalable Synchronization on Shared-Memory Multiprocessors*, 1991.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.kernel.memory import Integer, add_atomically, load_atomically, yield_processor

APART = 16
"""Unused numbers between numbers that different threads write, so that two such numbers never share a cache line."""

ARRIVED, ROUND, CLAIMED = 0, APART, 2 * APART
FIRST, PENDING, ROOM, ROWS, ROUNDS, CUT_SHORT = range(3 * APART, 3 * APART + 6)
"""Places in a gate: the next row to expand, the pieces in the boxes that wait to be entered, whether there is room for
their entries, and the rows in a piece. For measurements: the number of shared rounds, and the number of rounds that a
full box ended early."""

SPINS = 2_000
"""Reads of the gate by a waiting thread before the thread yields its processor."""

Gate = NDArray[np.int64]


def new_gate() -> Gate:
    """Return a gate at which no thread waits."""
    return np.zeros(4 * APART, dtype=np.int64)


@njit(cache=True, nogil=True)
def is_last(gate: Gate, threads: Integer) -> bool:
    """Wait for the other threads, and return False.

    The last thread to arrive does not wait. It alone gets True, and must call :func:`open_gate`.
    """
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
    """Let the other threads continue, with no numbers claimed."""
    gate[ARRIVED] = 0
    gate[CLAIMED] = 0
    add_atomically(gate.ctypes.data + ROUND * 8, 1)


@njit(cache=True, nogil=True)
def claim(gate: Gate) -> np.int64:
    """Return a number that no other thread gets until the gate is opened: 0, 1, 2 and so on."""
    return np.int64(add_atomically(gate.ctypes.data + CLAIMED * 8, 1))
