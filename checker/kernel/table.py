"""An exact visited set in sixteen partitions: whole states in the order found, and a table of where they are.

A state belongs to the partition that the low bits of its hash name. A table slot holds the upper half of the hash
and the state's index, so most slots that hold another state are passed over without looking at it. A slot's place
is the half hash scaled to the table's size: larger tables keep the order of the slots, and growing one is a
sequential pass that reads no state. Reference: linear probing as in Knuth, *The Art of Computer Programming*,
volume 3, 6.4.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.kernel.memory import Integer, copy, load_word, store_word

PARTITION_BITS = 4
PARTITIONS = 1 << PARTITION_BITS
MOST_STATES = 1 << (32 - PARTITION_BITS)
"""States of one partition: a state's reference (index and partition) is 32 bits."""

STATES, ROOM, COUNT, TABLE, SLOTS, PARENTS, GOOD, LEADS_TO = range(8)
"""Columns of a shard's ``places``: addresses of a partition's arrays, and their sizes in rows."""
PLACES = 8

LOW_HALF = 0xFFFFFFFF
"""Of a table's entry: the state's index, and one."""

Places = NDArray[np.int64]
"""Where the arrays of a shard's partitions are: PARTITIONS rows of PLACES columns."""


@njit(cache=True, nogil=True, inline="always")
def hash_of(row: Integer, words: Integer) -> np.uint64:
    """The hash of the packed state at an address."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for word in range(words):
        value ^= load_word(row + word * 8)
        value *= np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(29))


@njit(cache=True, nogil=True, inline="always")
def partition_of(hashed: np.uint64) -> np.int64:
    """The partition that a state with this hash belongs to."""
    return np.int64(hashed & np.uint64(PARTITIONS - 1))


@njit(cache=True, nogil=True, inline="always")
def same(one: Integer, other: Integer, words: Integer) -> bool:
    """Whether two packed states are equal."""
    for word in range(words):  # noqa: SIM110 (Numba compiles the loop, not the generator)
        if load_word(one + word * 8) != load_word(other + word * 8):
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def home(half: np.uint64, slots: Integer) -> np.int64:
    """The slot at which the search for a half hash begins."""
    return np.int64((half * np.uint64(slots)) >> np.uint64(32))


@njit(cache=True, nogil=True, inline="always")
def next_slot(slot: Integer, slots: Integer) -> np.int64:
    """The slot after this one, round the end."""
    return np.int64(0) if slot + 1 == slots else np.int64(slot + 1)


@njit(cache=True, nogil=True, inline="always")
def candidate(half: np.uint64, slot: Integer, table: Integer, slots: Integer) -> np.int64:
    """From ``slot`` on, the first slot that is free or holds this half hash."""
    while True:
        entry = load_word(table + slot * 8)
        if entry == np.uint64(0) or entry >> np.uint64(32) == half:
            return np.int64(slot)
        slot = next_slot(slot, slots)


@njit(cache=True, nogil=True, inline="always")
def find_slot(
    row: Integer,
    half: np.uint64,
    slot: Integer,
    words: Integer,
    states: Integer,
    apart: Integer,
    table: Integer,
    slots: Integer,
) -> np.int64:
    """The slot of the state at address ``row``, or the free one where it would go; looked for from ``slot`` on.

    States lie ``apart`` bytes from each other.
    """
    while True:
        slot = candidate(half, slot, table, slots)
        entry = load_word(table + slot * 8)
        if entry == np.uint64(0):
            return np.int64(slot)
        if same(row, states + (np.int64(entry & np.uint64(LOW_HALF)) - 1) * apart, words):
            return np.int64(slot)
        slot = next_slot(slot, slots)


@njit(cache=True, nogil=True, inline="always")
def find(
    row: Integer, half: np.uint64, slot: Integer, words: Integer, states: Integer, table: Integer, slots: Integer
) -> np.int64:
    """The index of the state at address ``row``, looked for from ``slot`` on.

    If it is not there, -1 - slot with the free slot where it would go.
    """
    slot = find_slot(row, half, slot, words, states, words * 8, table, slots)
    entry = load_word(table + slot * 8)
    return np.int64(-1 - slot) if entry == np.uint64(0) else np.int64(entry & np.uint64(LOW_HALF)) - 1


@njit(cache=True, nogil=True)
def move_partition(old: NDArray[np.int64], new: NDArray[np.int64], words: Integer) -> None:
    """Move what a partition holds from one row of places to another, as far as they differ; a new table is empty."""
    sizes = ((STATES, words * 8), (PARENTS, 4), (GOOD, 1), (LEADS_TO, 4))
    for column, size in sizes:
        if new[column] != old[column]:
            copy(new[column], old[column], old[COUNT] * size)
    if new[TABLE] != old[TABLE]:
        move_entries(old[TABLE], old[SLOTS], new[TABLE], new[SLOTS])


@njit(cache=True, nogil=True)
def move_entries(old: Integer, old_slots: Integer, new: Integer, slots: Integer) -> None:
    for place in range(old_slots):
        entry = load_word(old + place * 8)
        if entry != np.uint64(0):
            slot = home(entry >> np.uint64(32), slots)
            while load_word(new + slot * 8) != np.uint64(0):
                slot = next_slot(slot, slots)
            store_word(new + slot * 8, entry)


@njit(cache=True, nogil=True)
def enter_all(states: NDArray[np.uint64], count: int, table: NDArray[np.uint64]) -> None:
    """Enter the first ``count`` states, all different, into an empty table."""
    words, slots = states.shape[1], table.shape[0]
    for index in range(count):
        half = hash_of(states.ctypes.data + index * words * 8, words) >> np.uint64(32)
        slot = home(half, slots)
        while table[slot] != np.uint64(0):
            slot = next_slot(slot, slots)
        table[slot] = (half << np.uint64(32)) | np.uint64(index + 1)
