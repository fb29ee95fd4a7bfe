"""Backward reachability on a whole shard: the states from which fault-free steps reach a good state."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.kernel.components import Dictionaries, decode, encode_like
from proofka.checker.kernel.memory import (
    Integer,
    call_expand,
    call_inspect,
    load_byte,
    load_half,
    load_word,
    store_byte,
    store_half,
)
from proofka.checker.kernel.table import hash_of, home
from proofka.checker.kernel.visited import (
    GOAL_REACHED,
    GOOD,
    LEADS_TO,
    NO_STEP,
    PARTITION_BITS,
    PARTITIONS,
    SLOTS,
    STATES,
    TABLE,
    Places,
    find,
    half_hash_of,
    partition_of,
)


@njit(cache=True, nogil=True, inline="always")
def _is_good(shard: Places, reference: Integer) -> bool:
    return bool(load_byte(shard[reference & (PARTITIONS - 1), GOOD] + (reference >> PARTITION_BITS)) != np.uint8(0))


@njit(cache=True, nogil=True)
def mark_along_remembered(shard: Places, levels: NDArray[np.int64]) -> None:
    """Mark each state whose remembered successor is good, deepest level first, until nothing changes.

    ``levels[d]`` holds the first row of depth ``d`` for each partition. The last entry holds the numbers of rows.
    """
    changed = True
    while changed:
        changed = False
        for depth in range(levels.shape[0] - 2, -1, -1):
            for part in range(PARTITIONS):
                good, leads_to = shard[part, GOOD], shard[part, LEADS_TO]
                for row in range(levels[depth, part], levels[depth + 1, part]):
                    if load_byte(good + row):
                        continue
                    step = np.int64(load_half(leads_to + row * 4))
                    if step != NO_STEP and _is_good(shard, step - 1):
                        store_byte(good + row, np.uint8(GOAL_REACHED))
                        changed = True


@njit(cache=True, nogil=True)
def mark_where(
    inspect: int,
    dictionaries: Dictionaries,
    scratch: NDArray[np.uint64],
    shard: Places,
    counts: NDArray[np.int64],
    bits: int,
    mark: int,
) -> None:
    """Mark each unmarked state in which one of the predicates in ``bits`` holds; ``scratch`` has room for one state."""
    packed = scratch.ctypes.data
    for part in range(PARTITIONS):
        good, states = shard[part, GOOD], shard[part, STATES]
        for row in range(counts[part]):
            if load_byte(good + row):
                continue
            decode(dictionaries, load_word(states + row * 8), packed)
            if call_inspect(inspect, packed) & np.uint64(bits):
                store_byte(good + row, np.uint8(mark))


@njit(cache=True, nogil=True)
def find_where(
    inspect: int,
    dictionaries: Dictionaries,
    scratch: NDArray[np.uint64],
    shard: Places,
    firsts: NDArray[np.int64],
    counts: NDArray[np.int64],
    bit: int,
    found: NDArray[np.int64],
) -> int:
    """Write the references of states in which a predicate holds, up to the length of ``found``; return their number.

    The search begins at row ``firsts[part]`` of each partition. ``scratch`` has room for one state.
    """
    packed = scratch.ctypes.data
    number = 0
    for part in range(PARTITIONS):
        states = shard[part, STATES]
        for row in range(firsts[part], counts[part]):
            decode(dictionaries, load_word(states + row * 8), packed)
            if call_inspect(inspect, packed) & np.uint64(bit):
                if number == len(found):
                    return number
                found[number] = (row << PARTITION_BITS) | part
                number += 1
    return number


@njit(cache=True, nogil=True)
def mark_by_steps(
    function: int,
    words: int,
    dictionaries: Dictionaries,
    scratch: NDArray[np.uint64],
    shard: Places,
    levels: NDArray[np.int64],
) -> int:
    """Mark each state with a good successor, deepest level first; return the number of newly marked states.

    A successor outside this shard is in the shard of a smaller fault combination, where every state is good.
    ``scratch`` has room for one state and its successors.
    """
    packed = scratch.ctypes.data
    out = packed + words * 8
    marked = 0
    for depth in range(levels.shape[0] - 2, -1, -1):
        for part in range(PARTITIONS):
            good, states = shard[part, GOOD], shard[part, STATES]
            for row in range(levels[depth, part], levels[depth + 1, part]):
                if load_byte(good + row):
                    continue
                before = load_word(states + row * 8)
                decode(dictionaries, before, packed)
                for number in range(call_expand(function, packed, out)):
                    state = out + number * (words + 1) * 8
                    place = shard[partition_of(hash_of(state, words))]
                    index = np.int64(-1)
                    if place[SLOTS] > 0:
                        word = encode_like(dictionaries, state, packed, before)
                        half = half_hash_of(word)
                        first = home(half, place[SLOTS])
                        index = find(word, half, first, place[STATES], place[TABLE], place[SLOTS])
                    if index < 0 or load_byte(place[GOOD] + index):
                        store_byte(good + row, np.uint8(GOAL_REACHED))
                        marked += 1
                        break
    return marked


@njit(cache=True, nogil=True)
def remember_steps(
    function: int,
    words: int,
    dictionaries: Dictionaries,
    scratch: NDArray[np.uint64],
    shard: Places,
    part: int,
    rows: int,
) -> None:
    """Remember for the first rows of a partition the step that a search remembers while it expands these rows.

    All successors in the shard are known. ``scratch`` has room for one state and its successors.
    """
    packed = scratch.ctypes.data
    out = packed + words * 8
    for row in range(rows):
        before = load_word(shard[part, STATES] + row * 8)
        decode(dictionaries, before, packed)
        last = np.uint32(NO_STEP)
        for number in range(call_expand(function, packed, out)):
            state = out + number * (words + 1) * 8
            into = partition_of(hash_of(state, words))
            place = shard[into]
            if place[SLOTS] == 0:
                continue
            word = encode_like(dictionaries, state, packed, before)
            half = half_hash_of(word)
            index = find(word, half, home(half, place[SLOTS]), place[STATES], place[TABLE], place[SLOTS])
            if index >= 0 and (index != row or into != part):
                last = max(last, np.uint32(((index << PARTITION_BITS) | into) + 1))
        store_half(shard[part, LEADS_TO] + row * 4, last)
