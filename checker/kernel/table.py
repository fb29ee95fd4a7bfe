"""A hash table of whole packed states: from a state to its row.

A table slot holds the upper half of a state's hash and the state's index, so most slots with another state are skipped
without reading that state. A slot's place is the half hash scaled to the table's size. Reference: linear probing as in
Knuth, *The Art of Computer Programming*, volume 3, 6.4.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from proofka.checker.kernel.memory import Integer, load_word, store_word

STATES, ROOM, COUNT, TABLE, SLOTS = range(5)
"""Columns of the place of a set of states: addresses of its arrays, and their sizes in rows."""

LOW_HALF = 0xFFFFFFFF
"""Mask of a table entry's bits for the state's index plus one."""


@njit(cache=True, nogil=True, inline="always")
def hash_of(row: Integer, words: Integer) -> np.uint64:
    """Return the hash of the packed state at an address."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for word in range(words):
        value ^= load_word(row + word * 8)
        value *= np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(29))


@njit(cache=True, nogil=True, inline="always")
def same(one: Integer, other: Integer, words: Integer) -> bool:
    """Tell whether two packed states are equal."""
    for word in range(words):  # noqa: SIM110 (Numba compiles the loop, not the generator)
        if load_word(one + word * 8) != load_word(other + word * 8):
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def home(half: np.uint64, slots: Integer) -> np.int64:
    """Return the slot at which the search for a half hash begins."""
    return np.int64((half * np.uint64(slots)) >> np.uint64(32))


@njit(cache=True, nogil=True, inline="always")
def next_slot(slot: Integer, slots: Integer) -> np.int64:
    """Return the next slot; the first slot follows the last."""
    return np.int64(0) if slot + 1 == slots else np.int64(slot + 1)


@njit(cache=True, nogil=True, inline="always")
def candidate(half: np.uint64, slot: Integer, table: Integer, slots: Integer) -> np.int64:
    """Return the first slot, from ``slot`` on, that is free or holds this half hash."""
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
    """Return the slot of the state at address ``row``, or the free slot for the state, searching from ``slot`` on.

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


@njit(cache=True, nogil=True)
def move_entries(old: Integer, old_slots: Integer, new: Integer, slots: Integer) -> None:
    """Enter the entries of a table into a larger empty table. The slots keep their order, and no state is read."""
    for place in range(old_slots):
        entry = load_word(old + place * 8)
        if entry != np.uint64(0):
            slot = home(entry >> np.uint64(32), slots)
            while load_word(new + slot * 8) != np.uint64(0):
                slot = next_slot(slot, slots)
            store_word(new + slot * 8, entry)
