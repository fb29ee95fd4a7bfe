"""A set of packed states, each one stored once, in the order in which they were added."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.kernel.layout import Words
from proofka.checker.kernel.memory import Integer, call_expand
from proofka.checker.kernel.table import hash_of

FIRST_ROWS = 64
"""The number of rows for which a new set has room."""

SLOTS_PER_ROW = 2
"""The number of slots of the hash table for each row for which the set has room."""

Slots = NDArray[np.int64]
"""A hash table: one more than the number of a row, or 0 for a free slot."""


class RowSet:
    """A set of packed states of ``words`` 64-bit words."""

    def __init__(self, words: int) -> None:
        self.words = words
        self.count = 0
        self._rows: Words = np.zeros((FIRST_ROWS, words), dtype=np.uint64)
        self._slots: Slots = np.zeros(FIRST_ROWS * SLOTS_PER_ROW, dtype=np.int64)

    @property
    def rows(self) -> Words:
        """The states, one row each."""
        return self._rows[: self.count]

    def add(self, rows: Words) -> None:
        """Add states, one row each; states that are in the set already change nothing."""
        self._make_room(self.count + len(rows))
        self.count = int(_enter(np.ascontiguousarray(rows), self.words, self._rows, self._slots, self.count))

    def _make_room(self, wanted: int) -> None:
        if wanted <= len(self._rows):
            return
        room = max(wanted, 2 * len(self._rows))
        old = self.rows
        self._rows = np.zeros((room, self.words), dtype=np.uint64)
        self._slots = np.zeros(room * SLOTS_PER_ROW, dtype=np.int64)
        self.count = int(_enter(old, self.words, self._rows, self._slots, 0))


@njit(cache=True, nogil=True)
def _enter(fresh: Words, words: Integer, rows: Words, slots: Slots, count: Integer) -> Integer:
    """Enter states into rows and slots, which have room for all of them; return the new number of states."""
    address = fresh.ctypes.data
    apart = fresh.shape[1] * 8
    for number in range(fresh.shape[0]):
        slot = np.int64(hash_of(address + number * apart, words) % np.uint64(slots.shape[0]))
        while True:
            entry = slots[slot]
            if entry == 0:
                for word in range(words):
                    rows[count, word] = fresh[number, word]
                count += 1
                slots[slot] = count
                break
            same = True
            for word in range(words):
                same = same and rows[entry - 1, word] == fresh[number, word]
            if same:
                break
            slot = np.int64(slot + 1 if slot + 1 < slots.shape[0] else 0)
    return count


@njit(cache=True, nogil=True)
def expand_rows(function: Integer, rows: Words, out: Words) -> Integer:
    """Write the successors of states by a function of the kernel to ``out``, which has room; return their number.

    A successor is a packed state and the label of its action.
    """
    start, apart = rows.ctypes.data, rows.shape[1] * 8
    target, step = out.ctypes.data, out.shape[1] * 8
    made = 0
    for number in range(rows.shape[0]):
        made += call_expand(function, start + number * apart, target + made * step)
    return made
