"""Backward reachability in one partition of a distributed search: which rows can get to a good one by steps.

A row's mark is a byte, set once it is known that a good state can be reached from it, and never taken back.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.kernel.closing import Ownership, Region, is_in, owner_of
from checker.kernel.memory import Integer, call_expand, call_inspect, load_word
from checker.kernel.table import LOW_HALF, SLOTS, STATES, TABLE, find_slot, hash_of, home


@njit(cache=True, nogil=True)
def mark_where(
    inspect: int, words: int, region: Region, rows: NDArray[np.int64], good: NDArray[np.uint8], bits: int
) -> None:
    """Mark those of the rows in which one of the predicates in ``bits`` holds."""
    for row in rows:
        if call_inspect(inspect, region[STATES] + row * (words + 1) * 8) & np.uint64(bits):
            good[row] = 1


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
    """Mark those of the rows that have a good successor, in their order; how many are left, which come first then.

    A successor is good if its row is marked, if it is in one of ``smaller``, or, where another partition owns it, in
    ``answered``. ``scratch`` has room for the successors of one state.
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
                good[row] = 1
                break
        if not found:
            rows[left] = row
            left += 1
    return left


@njit(cache=True, nogil=True, inline="always")
def row_of(state: Integer, half: np.uint64, words: Integer, region: Region) -> np.int64:
    """The row of the state at an address, or -1."""
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
    """Write for each state, a row each, whether it is known to be good; how many are in no region at all."""
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
