"""An exact visited set in sixteen partitions: the words of states in the order found, and a table of where they are.

A state belongs to the partition that the low bits of its hash name, so the order of states depends on nothing but what
they are. The table goes by the hash of the state's word (checker/kernel/components.py). A slot has four bytes: the
index of the word, and four bits of its hash, so most slots that hold another state are passed over without looking at
that state. A slot's place is the half hash scaled to the table's size. Growing a table enters every word anew.
Reference: linear probing as in Knuth, *The Art of Computer Programming*, volume 3, 6.4.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.kernel.memory import Integer, copy, load_half, load_word, prefetch, store_half
from checker.kernel.table import LOW_HALF, home, next_slot

PARTITION_BITS = 4
PARTITIONS = 1 << PARTITION_BITS
INDEX_BITS = 32 - PARTITION_BITS
MOST_STATES = (1 << INDEX_BITS) - 1
"""States of one partition: a state's reference (index and partition) is 32 bits, and so is a slot (index, one, tag)."""

STATES, ROOM, COUNT, TABLE, SLOTS, PARENTS, GOOD, LEADS_TO = range(8)
"""Columns of a shard's ``places``: addresses of a partition's arrays, and their sizes in rows."""
PLACES = 8

INDEX = (1 << INDEX_BITS) - 1
"""Of a slot: the state's index, and one."""
AHEAD = 8
"""How many words ahead a slot is asked for while a table is filled."""

Places = NDArray[np.int64]
"""Where the arrays of a shard's partitions are: PARTITIONS rows of PLACES columns."""


@njit(cache=True, nogil=True, inline="always")
def partition_of(hashed: np.uint64) -> np.int64:
    """The partition that a state with this hash belongs to."""
    return np.int64(hashed & np.uint64(PARTITIONS - 1))


@njit(cache=True, nogil=True, inline="always")
def half_hash_of(word: np.uint64) -> np.uint64:
    """The half hash of a state's word: of its lowest bits a slot keeps some, its highest say where the slot is."""
    value = (np.uint64(0x9E3779B97F4A7C15) ^ word) * np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(32)
    return (value * np.uint64(0xC4CEB9FE1A85EC53)) >> np.uint64(32)


@njit(cache=True, nogil=True, inline="always")
def _tag_of(half: np.uint64) -> np.uint32:
    return np.uint32((half << np.uint64(INDEX_BITS)) & np.uint64(LOW_HALF))


@njit(cache=True, nogil=True, inline="always")
def candidate(half: np.uint64, slot: Integer, table: Integer, slots: Integer) -> np.int64:
    """From ``slot`` on, the first slot that is free or may hold a word with this half hash."""
    tag = _tag_of(half) >> np.uint32(INDEX_BITS)
    while True:
        entry = load_half(table + slot * 4)
        if entry == np.uint32(0) or entry >> np.uint32(INDEX_BITS) == tag:
            return np.int64(slot)
        slot = next_slot(slot, slots)


@njit(cache=True, nogil=True, inline="always")
def find(word: np.uint64, half: np.uint64, slot: Integer, states: Integer, table: Integer, slots: Integer) -> np.int64:
    """The index of a word, looked for from ``slot`` on.

    If it is not there, -1 - slot with the free slot where it would go.
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
    """Note in a free slot where the word with this half hash is."""
    store_half(table + slot * 4, _tag_of(half) | np.uint32(index + 1))


@njit(cache=True, nogil=True)
def move_partition(old: NDArray[np.int64], new: NDArray[np.int64]) -> None:
    """Move what a partition holds from one row of places to another, as far as they differ; a new table is empty."""
    sizes = ((STATES, 8), (PARENTS, 4), (GOOD, 1), (LEADS_TO, 4))
    for column, size in sizes:
        if new[column] != old[column]:
            copy(new[column], old[column], old[COUNT] * size)
    if new[TABLE] != old[TABLE]:
        enter_all(new[STATES], old[COUNT], new[TABLE], new[SLOTS])


@njit(cache=True, nogil=True)
def enter_all(states: Integer, count: Integer, table: Integer, slots: Integer) -> None:
    """Enter the first ``count`` words, all different, into an empty table."""
    for number in range(count + AHEAD):
        if number < count:
            prefetch(table + home(half_hash_of(load_word(states + number * 8)), slots) * 4)
        if number < AHEAD:
            continue
        half = half_hash_of(load_word(states + (number - AHEAD) * 8))
        slot = home(half, slots)
        while load_half(table + slot * 4) != np.uint32(0):
            slot = next_slot(slot, slots)
        put(half, slot, table, number - AHEAD)
