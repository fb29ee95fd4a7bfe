"""The lexicographic order of packed states: sorts by some of the bits that differ, each among the rows that tie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.kernel.layout import WORD_BITS

Rows = NDArray[np.uint64]
"""Packed states, one row each."""

Run = tuple[int, int, int]
"""Neighbouring bits of a word: the word, the lowest bit, and the number of bits."""


def order_of(rows: Rows) -> NDArray[np.int64]:
    """Return the places of rows in lexicographic order, word 0 first."""
    order = np.arange(len(rows))
    if len(rows) == 0:
        return order
    runs = _runs(np.bitwise_or.reduce(rows ^ rows[0], axis=0))
    tied, groups = np.arange(len(rows)), np.zeros(len(rows), dtype=np.uint64)
    while runs and len(tied):
        first, runs = _split(runs, WORD_BITS - int(groups[-1]).bit_length())
        keys = _keys(rows, order[tied], groups, np.array(first, dtype=np.int64))
        places = np.argsort(keys)
        order[tied] = order[tied][places]
        keys = keys[places]
        begins = np.concatenate(([True], keys[1:] != keys[:-1]))
        still = ~(begins & np.concatenate((begins[1:], [True])))
        tied, groups = tied[still], np.cumsum(begins[still], dtype=np.uint64) - np.uint64(1)
    return order


def _runs(bits: Rows) -> list[Run]:
    """Return the bits that are set in a row, the highest bit of word 0 first."""
    runs = []
    for word, left in enumerate(map(int, bits)):
        while left:
            high = left.bit_length()
            low = high
            while low and left >> (low - 1) & 1:
                low -= 1
            runs.append((word, low, high - low))
            left &= (1 << low) - 1
    return runs


def _split(runs: Sequence[Run], most: int) -> tuple[list[Run], list[Run]]:
    """Return the first ``most`` bits of runs, and the other bits."""
    first: list[Run] = []
    for place, (word, low, width) in enumerate(runs):
        if width > most:
            rest = [(word, low, width - most), *runs[place + 1 :]]
            return [*first, (word, low + width - most, most)] if most else first, rest
        first.append((word, low, width))
        most -= width
    return first, []


@njit(cache=True, nogil=True)
def _keys(rows: Rows, order: NDArray[np.int64], groups: Rows, runs: NDArray[np.int64]) -> Rows:
    """Return a key for each row that ``order`` names: its group, and behind the group the bits of the runs."""
    keys = np.empty(len(order), dtype=np.uint64)
    for place in range(len(order)):
        row = order[place]
        key = groups[place]
        for run in range(len(runs)):
            width = np.uint64(runs[run, 2])
            bits = rows[row, runs[run, 0]] >> np.uint64(runs[run, 1])
            if width < np.uint64(64):
                bits &= (np.uint64(1) << width) - np.uint64(1)
                key <<= width
            key |= bits
        keys[place] = key
    return keys
