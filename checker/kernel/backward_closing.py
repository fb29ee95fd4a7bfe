"""Backward reachability in one partition of a distributed search: the rows from which steps reach a good row.

A row's mark is a byte. The mark is set once the row is known to reach a good state, and is never removed.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.kernel.closing import (
    DEPTH_SHIFT,
    MOST_PARTITIONS,
    MOST_SOURCES,
    PARTITION_SHIFT,
    SOURCE_SHIFT,
    Ownership,
    Region,
    is_in,
    owner_of,
)
from checker.kernel.memory import Integer, call_expand, call_inspect, load_word
from checker.kernel.table import LOW_HALF, SLOTS, STATES, TABLE, find_slot, hash_of, home


@njit(cache=True, nogil=True)
def mark_where(
    inspect: int,
    words: int,
    region: Region,
    rows: NDArray[np.int64],
    good: NDArray[np.uint8],
    owners: Ownership,
    bits: int,
) -> None:
    """Mark the given rows in which one of the predicates in ``bits`` holds, and the rows that lead to these rows."""
    for row in rows:
        if not good[row] and call_inspect(inspect, region[STATES] + row * (words + 1) * 8) & np.uint64(bits):
            _mark(row, words, region, good, owners)


@njit(cache=True, nogil=True)
def _mark(row: Integer, words: Integer, region: Region, good: NDArray[np.uint8], owners: Ownership) -> None:
    """Mark a row, its predecessor by a step, and so on, up to the first row outside this partition."""
    own = np.uint64(owners.own)
    while not good[row]:
        good[row] = 1
        origin = load_word(region[STATES] + (row * (words + 1) + words) * 8)
        by_step = (origin >> np.uint64(SOURCE_SHIFT)) & np.uint64(MOST_SOURCES - 1) == np.uint64(0)
        partition = (origin >> np.uint64(PARTITION_SHIFT)) & np.uint64(MOST_PARTITIONS - 1)
        if origin >> np.uint64(DEPTH_SHIFT) == np.uint64(0) or not by_step or partition != own:
            break
        row = np.int64(origin & np.uint64(LOW_HALF))


@njit(cache=True, nogil=True)
def mark_by_steps(
    function: int,
    words: int,
    scratch: NDArray[np.uint64],
    region: Region,
    rows: NDArray[np.int64],
    good: NDArray[np.uint8],
    owners: Ownership,
    smaller: NDArray[np.int64],
    answered: NDArray[np.int64],
) -> int:
    """Mark the given rows that have a good successor, in order.

    Return the number of unmarked rows, which then stand first in ``rows``. A successor is good if its row is marked, if
    one of the regions ``smaller`` holds it, or, if another partition owns the successor, if ``answered`` holds it.
    ``scratch`` has room for the successors of one state.
    """
    out, apart = scratch.ctypes.data, (words + 1) * 8
    left = 0
    for row in rows:
        found = good[row] != 0
        count = 0 if found else call_expand(function, region[STATES] + row * apart, out)
        for number in range(count):
            state = out + number * apart
            half = hash_of(state, words) >> np.uint64(32)
            if owner_of(state, words, owners.mask, owners.partitions) != owners.own:
                found = is_in(state, half, words, answered)
            else:
                index = row_of(state, half, words, region)
                found = good[index] != 0 if index >= 0 else is_in(state, half, words, smaller)
            if found:
                _mark(row, words, region, good, owners)
                break
        if not found:
            rows[left] = row
            left += 1
    return left


@njit(cache=True, nogil=True, inline="always")
def row_of(state: Integer, half: np.uint64, words: Integer, region: Region) -> np.int64:
    """Return the row of the state at an address, or -1."""
    table, slots = region[TABLE], region[SLOTS]
    slot = find_slot(state, half, home(half, slots), words, region[STATES], (words + 1) * 8, table, slots)
    return np.int64(load_word(table + slot * 8) & np.uint64(LOW_HALF)) - 1


@njit(cache=True, nogil=True)
def answer(
    questions: NDArray[np.uint64],
    region: Region,
    good: NDArray[np.uint8],
    smaller: NDArray[np.int64],
    answers: NDArray[np.bool_],
) -> int:
    """Write for each state (one per row) whether the state is known to be good.

    Return the number of states that are in no region.
    """
    words = questions.shape[1] - 1
    missing = 0
    for number in range(questions.shape[0]):
        state = questions.ctypes.data + number * (words + 1) * 8
        half = hash_of(state, words) >> np.uint64(32)
        index = row_of(state, half, words, region)
        answers[number] = good[index] != 0 if index >= 0 else is_in(state, half, words, smaller)
        if index < 0 and not answers[number]:
            missing += 1
    return missing
