"""The states that a search enters if the search does not enter all: names of states, in a table for each fault
combination.

The name of a state is a hash of some of its bits. All states with the same name are entered, so a table can admit too
many states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.combinations import Combination
from proofka.checker.kernel.components import Dictionaries, decode
from proofka.checker.kernel.memory import Integer, load_word
from proofka.checker.kernel.visited import STATES, Places

FREE = np.uint64(0)
"""A slot of a table without a name."""

Names = NDArray[np.uint64]

EVERY_STATE: Names = np.empty(0, dtype=np.uint64)
"""The table that stands for all states."""


@dataclass(frozen=True)
class Wanted:
    """The states that an exploration enters: ``tables`` by fault combination; all states if a combination has no table.

    ``mask``: for each word, the bits of a packed state that determine the state's name.
    """

    mask: NDArray[np.uint64] = field(default_factory=EVERY_STATE.copy)
    tables: Mapping[Combination, Names] = field(default_factory=dict)

    def table_of(self, combination: Combination) -> Names:
        """Return the table of a fault combination."""
        return self.tables.get(combination, EVERY_STATE)


@njit(cache=True, nogil=True, inline="always")
def name_of(state: Integer, mask: NDArray[np.uint64]) -> np.uint64:
    """Return the hash of the bits of a packed state under a mask (one word each). The hash is never FREE."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for word in range(len(mask)):
        value ^= load_word(state + word * 8) & mask[word]
        value *= np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value | np.uint64(1)


@njit(cache=True, nogil=True)
def names_of_marked(
    dictionaries: Dictionaries,
    shard: Places,
    part: int,
    marks: NDArray[np.uint64],
    bit: np.uint64,
    mask: NDArray[np.uint64],
    scratch: NDArray[np.uint64],
) -> NDArray[np.uint64]:
    """Return the names (see ``name_of``) of the marked states of a partition."""
    packed = scratch.ctypes.data
    count = 0
    for row in range(len(marks)):
        count += marks[row] & bit != np.uint64(0)
    names = np.empty(count, dtype=np.uint64)
    count = 0
    for row in range(len(marks)):
        if marks[row] & bit != np.uint64(0):
            decode(dictionaries, load_word(shard[part, STATES] + row * 8), packed)
            names[count] = name_of(packed, mask)
            count += 1
    return names


@njit(cache=True, nogil=True)
def table_of(names: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Build a table for looking up names, at most half full."""
    slots = 2
    while slots < 2 * len(names):
        slots *= 2
    table = np.zeros(slots, dtype=np.uint64)
    for name in names:
        slot = np.int64(name >> np.uint64(32)) & (slots - 1)
        while table[slot] != FREE and table[slot] != name:
            slot = (slot + 1) & (slots - 1)
        table[slot] = name
    return table


@njit(cache=True, nogil=True, inline="always")
def is_wanted(state: Integer, mask: NDArray[np.uint64], table: NDArray[np.uint64]) -> bool:
    """Tell whether the name of a packed state is in a table."""
    name = name_of(state, mask)
    last = len(table) - 1
    slot = np.int64(name >> np.uint64(32)) & last
    while table[slot] != FREE:
        if table[slot] == name:
            return True
        slot = (slot + 1) & last
    return False
