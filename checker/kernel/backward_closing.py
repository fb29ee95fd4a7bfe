"""Backward reachability in one partition of a distributed search: the rows from which steps reach a good row.

A row's mark is a number. A row in which the goal holds has the mark 1. Another row is marked once a step is known to
lead from the row to a marked state, with a larger mark than that state. So marks are ranks of states, plus one. A mark
is never changed.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.kernel.closing import (
    DEPTH_SHIFT,
    MOST_PARTITIONS,
    MOST_SOURCES,
    PARTITION_SHIFT,
    SOURCE_SHIFT,
    Ownership,
    Region,
    owner_of,
)
from proofka.checker.kernel.memory import Integer, call_expand, call_inspect, load_short, load_word
from proofka.checker.kernel.table import LOW_HALF, SLOTS, STATES, TABLE, find_slot, hash_of, home

TOP = 0xFFFF
"""The largest mark, which further rows keep: the ranks of a combination with such a mark are too large to be written.
"""

Marks = NDArray[np.uint16]
"""The marks of rows; 0 for a row without a mark."""


@njit(cache=True, nogil=True)
def mark_where(
    inspect: int,
    words: int,
    region: Region,
    rows: NDArray[np.int64],
    good: Marks,
    dead: NDArray[np.uint8],
    owners: Ownership,
    bits: int,
) -> None:
    """Mark the given rows in which one of the predicates in ``bits`` holds, and the rows that lead to these rows."""
    for row in rows:
        if not good[row] and call_inspect(inspect, region[STATES] + row * (words + 1) * 8) & np.uint64(bits):
            _mark(row, 1, words, region, good, dead, owners)


@njit(cache=True, nogil=True)
def _mark(
    row: Integer,
    mark: Integer,
    words: Integer,
    region: Region,
    good: Marks,
    dead: NDArray[np.uint8],
    owners: Ownership,
) -> None:
    """Mark a row, its predecessor by a step, and so on, up to the first row outside this partition.

    A row that was replaced gets no mark, because the row that counts can get a larger one than its predecessors.
    """
    own = np.uint64(owners.own)
    while not good[row] and not (dead.shape[0] > 0 and dead[row]):
        good[row] = min(mark, TOP)
        mark += 1
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
    good: Marks,
    dead: NDArray[np.uint8],
    owners: Ownership,
    smaller: NDArray[np.int64],
    marks: NDArray[np.int64],
    answered: Region,
) -> int:
    """Mark the given rows that have a good successor, in order.

    Return the number of unmarked rows, which then stand first in ``rows``. A successor is good if its row is marked, if
    one of the regions ``smaller`` holds it (``marks``: the addresses of their marks), or, if another partition owns the
    successor, if ``answered`` holds it, with its mark in the lower half of the origin. ``scratch`` has room for the
    successors of one state.
    """
    out, apart = scratch.ctypes.data, (words + 1) * 8
    left = 0
    for row in rows:
        after = np.int64(0)
        count = 0 if good[row] else call_expand(function, region[STATES] + row * apart, out)
        for number in range(count):
            state = out + number * apart
            half = hash_of(state, words) >> np.uint64(32)
            if owner_of(state, words, owners.mask, owners.partitions) != owners.own:
                index = row_of(state, half, words, answered)
                if index >= 0:
                    after = np.int64(load_word(answered[STATES] + index * apart + words * 8) & np.uint64(LOW_HALF))
            else:
                index = row_of(state, half, words, region)
                after = np.int64(good[index]) if index >= 0 else _mark_in(state, half, words, smaller, marks)
            if after:
                _mark(row, after + 1, words, region, good, dead, owners)
                break
        if not good[row]:
            rows[left] = row
            left += 1
    return left


@njit(cache=True, nogil=True, inline="always")
def row_of(state: Integer, half: np.uint64, words: Integer, region: Region) -> np.int64:
    """Return the row of the state at an address, or -1."""
    table, slots = region[TABLE], region[SLOTS]
    slot = find_slot(state, half, home(half, slots), words, region[STATES], (words + 1) * 8, table, slots)
    return np.int64(load_word(table + slot * 8) & np.uint64(LOW_HALF)) - 1


@njit(cache=True, nogil=True, inline="always")
def _mark_in(
    state: Integer, half: np.uint64, words: Integer, regions: NDArray[np.int64], marks: NDArray[np.int64]
) -> np.int64:
    """Return the mark of the state at an address in the first region that holds the state; 0 if no region holds it.

    All states of these regions are good: a state without a mark counts as one with the mark 1.
    """
    for other in range(regions.shape[0]):
        if regions[other, SLOTS] > 0:
            index = row_of(state, half, words, regions[other])
            if index >= 0:
                mark = np.int64(load_short(marks[other] + index * 2)) if marks[other] else np.int64(0)
                return max(mark, np.int64(1))
    return np.int64(0)


@njit(cache=True, nogil=True)
def answer(
    questions: NDArray[np.uint64],
    region: Region,
    good: Marks,
    smaller: NDArray[np.int64],
    marks: NDArray[np.int64],
    answers: NDArray[np.int64],
) -> int:
    """Write for each state (one per row) its mark, 0 if the state is not known to be good.

    Return the number of states that are in no region.
    """
    words = questions.shape[1] - 1
    missing = 0
    for number in range(questions.shape[0]):
        state = questions.ctypes.data + number * (words + 1) * 8
        half = hash_of(state, words) >> np.uint64(32)
        index = row_of(state, half, words, region)
        answers[number] = good[index] if index >= 0 else _mark_in(state, half, words, smaller, marks)
        if index < 0 and not answers[number]:
            missing += 1
    return missing
