"""An exact visited set in sixteen partitions: the words of states in the order found, and a table of their places.

The low bits of a state's hash name its partition, so the order of states depends only on the states themselves. The
table uses the hash of the state's word (checker/kernel/components.py). A slot has four bytes: the index of the word,
and four bits of its hash. So most slots with another state are skipped without reading that state. A slot's place is
the half hash scaled to the table's size. A table grows by entering every word again.

Reference: linear probing as in Knuth, *The Art of Computer Programming*, volume 3, 6.4.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.kernel.memory import Integer, copy, load_half, load_word, prefetch, store_half
from proofka.checker.kernel.table import LOW_HALF, home, next_slot

PARTITION_BITS = 4
PARTITIONS = 1 << PARTITION_BITS
INDEX_BITS = 32 - PARTITION_BITS
MOST_STATES = (1 << INDEX_BITS) - 1
"""Largest number of states in one partition: a state's reference (index and partition) is 32 bits, and so is a slot
(index plus one, tag)."""

STATES, ROOM, COUNT, TABLE, SLOTS, PARENTS, GOOD, LEADS_TO, HASHED = range(9)
"""Columns of a shard's ``places``: addresses of a partition's arrays, their sizes in rows, and the bits of a state's
word by which the table finds the word."""
PLACES = 9

WHOLE_WORD = -1
"""All bits of a word, in the column HASHED. The functions that look a word up elsewhere hash the whole word."""

GOAL_HOLDS, GOAL_REACHED = 1, 2
"""Marks of the column GOOD: the goal holds in the state, or steps lead from the state to such a state."""
NO_STEP = 0
"""The mark of the column LEADS_TO for a state without a remembered step; otherwise the reference of a successor, plus
one."""

INDEX = (1 << INDEX_BITS) - 1
"""Mask of a slot's bits for the state's index plus one."""
AHEAD = 8
"""Words between prefetching a slot and using the slot while a table is filled."""

Places = NDArray[np.int64]
"""The places of the arrays of a shard's partitions: PARTITIONS rows of PLACES columns."""


@njit(cache=True, nogil=True, inline="always")
def partition_of(hashed: np.uint64) -> np.int64:
    """Return the partition of a state with this hash."""
    return np.int64(hashed & np.uint64(PARTITIONS - 1))


@njit(cache=True, nogil=True, inline="always")
def half_hash_of(word: np.uint64) -> np.uint64:
    """Return the half hash of a state's word.

    A slot keeps some of its lowest bits; its highest bits determine the slot.
    """
    value = (np.uint64(0x9E3779B97F4A7C15) ^ word) * np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(32)
    return (value * np.uint64(0xC4CEB9FE1A85EC53)) >> np.uint64(32)


@njit(cache=True, nogil=True, inline="always")
def _tag_of(half: np.uint64) -> np.uint32:
    return np.uint32((half << np.uint64(INDEX_BITS)) & np.uint64(LOW_HALF))


@njit(cache=True, nogil=True, inline="always")
def candidate(half: np.uint64, slot: Integer, table: Integer, slots: Integer) -> np.int64:
    """Return the first slot, from ``slot`` on, that is free or can hold a word with this half hash."""
    tag = _tag_of(half) >> np.uint32(INDEX_BITS)
    while True:
        entry = load_half(table + slot * 4)
        if entry == np.uint32(0) or entry >> np.uint32(INDEX_BITS) == tag:
            return np.int64(slot)
        slot = next_slot(slot, slots)


@njit(cache=True, nogil=True, inline="always")
def find(word: np.uint64, half: np.uint64, slot: Integer, states: Integer, table: Integer, slots: Integer) -> np.int64:
    """Return the index of a word, searching from ``slot`` on.

    If the word is missing, return -1 - slot for the free slot of the word.
    """
    while True:
        slot = candidate(half, slot, table, slots)
        index = np.int64(load_half(table + slot * 4) & np.uint32(INDEX)) - 1
        if index < 0:
            return np.int64(-1 - slot)
        if load_word(states + index * 8) == word:
            return index
        slot = next_slot(slot, slots)


@njit(cache=True, nogil=True, inline="always")
def put(half: np.uint64, slot: Integer, table: Integer, index: Integer) -> None:
    """Store the index of the word with this half hash in a free slot."""
    store_half(table + slot * 4, _tag_of(half) | np.uint32(index + 1))


@njit(cache=True, nogil=True)
def move_partition(old: NDArray[np.int64], new: NDArray[np.int64]) -> None:
    """Move the content of a partition from one row of places to another, for the arrays that differ.

    A new table is empty.
    """
    sizes = ((STATES, 8), (PARENTS, 4), (GOOD, 1), (LEADS_TO, 4))
    for column, size in sizes:
        if new[column] != old[column]:
            copy(new[column], old[column], old[COUNT] * size)
    if new[TABLE] != old[TABLE]:
        enter_all(new[STATES], old[COUNT], new[TABLE], new[SLOTS], new[HASHED])


@njit(cache=True, nogil=True)
def enter_all(states: Integer, count: Integer, table: Integer, slots: Integer, hashed: Integer) -> None:
    """Enter the first ``count`` words, all different, into an empty table; ``hashed``: the bits that are hashed."""
    mask = np.uint64(hashed)
    for number in range(count + AHEAD):
        if number < count:
            prefetch(table + home(half_hash_of(load_word(states + number * 8) & mask), slots) * 4)
        if number < AHEAD:
            continue
        half = half_hash_of(load_word(states + (number - AHEAD) * 8) & mask)
        slot = home(half, slots)
        while load_half(table + slot * 4) != np.uint32(0):
            slot = next_slot(slot, slots)
        put(half, slot, table, number - AHEAD)
