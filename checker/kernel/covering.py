"""States with flags of which only those with the fewest flags are stored.

A state *covers* another one if the two agree on their fields and each flag of the first is set in the second. Flags
only exclude steps (:mod:`checker.kernel.monitored`): they are set and read by conditions without negation. So the
covering state has every run of the covered one. If it was found before, also with fewer faults, the covered state is
not entered. If it was found later at the same depth, the covered state is not expanded. A covering state that was found
at a greater depth replaces nothing, so shortest runs keep their lengths (docs/reductions.md).

The first half of such a state holds the fields, and the second half the flags. The table of a shard is then a table of
first halves, in which one half can stand several times. The hash of the fields alone names the partition.

References: M. De Wulf, L. Doyen, T. Henzinger, J.-F. Raskin, "Antichains", CAV 2006; C. Daws, S. Tripakis, "Model
checking of real-time reachability properties using abstractions", TACAS 1998 (inclusion of zones).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.kernel.components import KEYS, WORDS, Dictionaries
from proofka.checker.kernel.memory import Integer, load_half, load_word
from proofka.checker.kernel.table import LOW_HALF, home, next_slot
from proofka.checker.kernel.visited import INDEX, SLOTS, STATES, TABLE, candidate, half_hash_of

FLAGS_HALF = 1
"""Number of the dictionary of the halves with flags."""


@njit(cache=True, nogil=True, inline="always")
def _is_part(one: np.uint64, other: np.uint64, keys: Integer, words: Integer) -> bool:
    """Tell whether each flag of one half is set in the other half; halves are given by the words of their states."""
    first, second = one >> np.uint64(32), other >> np.uint64(32)
    if first == second:
        return True
    mine, theirs = keys + np.int64(first) * words * 8, keys + np.int64(second) * words * 8
    for word in range(words):  # noqa: SIM110 (Numba compiles the loop, not the generator)
        if load_word(mine + word * 8) & ~load_word(theirs + word * 8) != np.uint64(0):
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def find_covering(
    word: np.uint64,
    half: np.uint64,
    slot: Integer,
    states: Integer,
    table: Integer,
    slots: Integer,
    dictionaries: Dictionaries,
) -> np.int64:
    """Return the index of a stored state that covers the state of a word, searching from ``slot`` on.

    If no state does, return -1 - slot for the free slot of the word.
    """
    fields = word & np.uint64(LOW_HALF)
    keys, words = dictionaries[FLAGS_HALF, KEYS], dictionaries[FLAGS_HALF, WORDS]
    while True:
        slot = candidate(half, slot, table, slots)
        index = np.int64(load_half(table + slot * 4) & np.uint32(INDEX)) - 1
        if index < 0:
            return np.int64(-1 - slot)
        stored = load_word(states + index * 8)
        if stored & np.uint64(LOW_HALF) == fields and _is_part(stored, word, keys, words):
            return index
        slot = next_slot(slot, slots)


@njit(cache=True, nogil=True, inline="always")
def is_covered(
    row: Integer, word: np.uint64, place: NDArray[np.int64], end: Integer, dictionaries: Dictionaries
) -> bool:
    """Tell whether another row before ``end`` covers a row of the partition at ``place``."""
    states, table, slots = place[STATES], place[TABLE], place[SLOTS]
    fields = word & np.uint64(LOW_HALF)
    half = half_hash_of(fields)
    keys, words = dictionaries[FLAGS_HALF, KEYS], dictionaries[FLAGS_HALF, WORDS]
    slot = home(half, slots)
    while True:
        slot = candidate(half, slot, table, slots)
        index = np.int64(load_half(table + slot * 4) & np.uint32(INDEX)) - 1
        if index < 0:
            return False
        if index < end and index != row:
            stored = load_word(states + index * 8)
            if stored & np.uint64(LOW_HALF) == fields and _is_part(stored, word, keys, words):
                return True
        slot = next_slot(slot, slots)
