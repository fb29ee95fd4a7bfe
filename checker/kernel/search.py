"""The loops around the kernel: one level of breadth-first search, in two phases.

Expanding writes the successors of some rows into boxes, one per partition of the visited set; entering looks each
up in its partition and stores what is new. Different rows are expanded, and different partitions entered, by different
threads at the same time without a lock. States are entered in the order of the rows they come from, so what is
stored, and in which order, does not depend on how many threads there are. The loops are Numba, cached on disk, and
release the interpreter lock.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.kernel.memory import (
    Integer,
    call_expand,
    call_inspect,
    load_word,
    prefetch,
    store_byte,
    store_half,
    store_word,
)
from checker.kernel.table import (
    COUNT,
    GOOD,
    LEADS_TO,
    PARENTS,
    PARTITION_BITS,
    PARTITIONS,
    ROOM,
    SLOTS,
    STATES,
    TABLE,
    Places,
    candidate,
    find,
    hash_of,
    home,
    partition_of,
)

AHEAD = 12
"""How many successors ahead a table slot is asked for; half as far ahead the state that it names."""
SPOTS = 16
"""Slots remembered between asking for a state and comparing it: a power of two, no less than ``AHEAD``."""
LOW_HALF = 0xFFFFFFFF


@njit(cache=True, nogil=True)
def expand_rows(
    function: Integer,
    words: Integer,
    source: Places,
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    first: Integer,
    last: Integer,
    most: Integer,
    scratch: NDArray[np.uint64],
    boxes: NDArray[np.uint64],
    fills: NDArray[np.int64],
    piece: Integer,
) -> Integer:
    """Put the successors of a level's rows ``first..last`` into the boxes of ``piece``; return where it stopped.

    The level is rows ``begin[p]..end[p]`` of every partition ``p`` of ``source``, counted through. ``boxes`` has a box
    per piece and partition, of which ``fills`` is set to the number of entries. An entry is the packed state, then a
    word with half its hash and the reference of the row it came from. It stops early, before the row that it returns,
    where ``most`` more might not fit into a box. ``scratch`` has room for the successors of one row. (It is the
    caller's: Numba would free an array of this function's own once only its address is in use.)
    """
    stride = words + 1
    room = boxes.shape[2] // stride
    base = boxes.ctypes.data + piece * PARTITIONS * boxes.shape[2] * 8
    box_bytes = boxes.shape[2] * 8
    successors = scratch.ctypes.data
    for part in range(PARTITIONS):
        fills[piece, part] = 0
    fullest = 0
    passed = 0
    for part in range(PARTITIONS):
        rows = end[part] - begin[part]
        low, high = max(first - passed, 0), min(last - passed, rows)
        states = source[part, STATES]
        for row in range(begin[part] + low, begin[part] + high):
            if fullest + most > room:
                return np.int64(passed + row - begin[part])
            reference = np.uint64((row << PARTITION_BITS) | part)
            for number in range(call_expand(function, states + row * words * 8, successors)):
                state = successors + number * stride * 8
                hashed = hash_of(state, words)
                target = partition_of(hashed)
                filled = fills[piece, target]
                entry = base + target * box_bytes + filled * stride * 8
                for word in range(words):
                    store_word(entry + word * 8, load_word(state + word * 8))
                store_word(entry + words * 8, (hashed & np.uint64(LOW_HALF << 32)) | reference)
                fills[piece, target] = filled + 1
                fullest = max(fullest, filled + 1)
        passed += rows
    return np.int64(last)


@njit(cache=True, nogil=True)
def enter_box(
    part: Integer,
    words: Integer,
    box: Integer,
    filled: Integer,
    shard: Places,
    smaller: NDArray[np.int64],
    inspect: Integer,
    goal_bit: Integer,
    own_step: bool,
    seen: NDArray[np.uint64],
    first_seen: NDArray[np.int64],
    held: NDArray[np.int64],
) -> None:
    """Store what is new in the box at an address, of partition ``part``; there is room for all of it.

    ``smaller`` lists the places of the shards of smaller combinations: a state that is in one of them is not entered
    again. ``seen`` collects the predicates that held, by partition; ``first_seen`` the first state per predicate,
    ``held`` in how many states it held (nothing is counted if it has no columns). ``own_step``: the successors were
    made by steps without a fault from rows of this very shard.
    """
    stride = (words + 1) * 8
    states, table, slots = shard[part, STATES], shard[part, TABLE], shard[part, SLOTS]
    count = shard[part, COUNT]
    found_at = np.empty(SPOTS, dtype=np.int64)
    for number in range(filled + AHEAD):
        if number < filled:
            half = load_word(box + number * stride + words * 8) >> np.uint64(32)
            prefetch(table + home(half, slots) * 8)
        near = number - AHEAD // 2
        if 0 <= near < filled:
            half = load_word(box + near * stride + words * 8) >> np.uint64(32)
            slot = candidate(half, home(half, slots), table, slots)
            entry = load_word(table + slot * 8)
            prefetch(states + (np.int64(entry & np.uint64(LOW_HALF)) - 1) * words * 8)
            found_at[near & (SPOTS - 1)] = slot
        if number < AHEAD:
            continue
        state = box + (number - AHEAD) * stride
        origin = load_word(state + words * 8)
        half = origin >> np.uint64(32)
        row = np.int64(origin & np.uint64(LOW_HALF))
        index = find(state, half, found_at[(number - AHEAD) & (SPOTS - 1)], words, states, table, slots)
        if index >= 0:
            if goal_bit >= 0 and own_step:
                _lead(shard, row, (index << PARTITION_BITS) | part)
            continue
        if _is_in_smaller(state, half, words, part, smaller):
            if goal_bit >= 0 and own_step:
                store_byte(shard[row & (PARTITIONS - 1), GOOD] + (row >> PARTITION_BITS), np.uint8(1))
            continue
        for word in range(words):
            store_word(states + (count * words + word) * 8, load_word(state + word * 8))
        store_half(shard[part, PARENTS] + count * 4, np.uint32(row))
        store_word(table + (-1 - index) * 8, (half << np.uint64(32)) | np.uint64(count + 1))
        bits = call_inspect(inspect, state)
        if goal_bit >= 0:
            reference = (count << PARTITION_BITS) | part
            store_byte(shard[part, GOOD] + count, np.uint8((bits >> np.uint64(goal_bit)) & np.uint64(1)))
            store_half(shard[part, LEADS_TO] + count * 4, np.uint32(reference))
            if own_step:
                _lead(shard, row, reference)
        fresh = bits & ~seen[part]
        if fresh != np.uint64(0):
            seen[part] |= fresh
            for bit in range(first_seen.shape[1]):
                if (fresh >> np.uint64(bit)) & np.uint64(1):
                    first_seen[part, bit] = count
        if bits != np.uint64(0):
            for bit in range(held.shape[1]):
                held[part, bit] += np.int64((bits >> np.uint64(bit)) & np.uint64(1))
        count += 1
    shard[part, COUNT] = count


@njit(cache=True, nogil=True, inline="always")
def _lead(shard: Places, row: Integer, reference: Integer) -> None:
    """Remember one successor of a row, other than the row itself."""
    if row != reference:
        store_half(shard[row & (PARTITIONS - 1), LEADS_TO] + (row >> PARTITION_BITS) * 4, np.uint32(reference))


@njit(cache=True, nogil=True, inline="always")
def _is_in_smaller(state: Integer, half: np.uint64, words: Integer, part: Integer, smaller: NDArray[np.int64]) -> bool:
    for other in range(smaller.shape[0]):
        slots = smaller[other, part, SLOTS]
        states, table = smaller[other, part, STATES], smaller[other, part, TABLE]
        if slots > 0 and find(state, half, home(half, slots), words, states, table, slots) >= 0:
            return True
    return False


@njit(cache=True, nogil=True)
def enter_partitions(
    share: Integer,
    shares: Integer,
    pieces: Integer,
    words: Integer,
    boxes: NDArray[np.uint64],
    fills: NDArray[np.int64],
    shard: Places,
    smaller: NDArray[np.int64],
    inspect: Integer,
    goal_bit: Integer,
    own_step: bool,
    seen: NDArray[np.uint64],
    first_seen: NDArray[np.int64],
    held: NDArray[np.int64],
) -> None:
    """Enter what ``pieces`` put into their boxes, in order, of every ``shares``-th partition from ``share`` on."""
    box_bytes = boxes.shape[2] * 8
    for part in range(share, PARTITIONS, shares):
        for piece in range(pieces):
            enter_box(
                part,
                words,
                boxes.ctypes.data + (piece * PARTITIONS + part) * box_bytes,
                fills[piece, part],
                shard,
                smaller,
                inspect,
                goal_bit,
                own_step,
                seen,
                first_seen,
                held,
            )


@njit(cache=True, nogil=True)
def have_room(shard: Places, fills: NDArray[np.int64], pieces: Integer) -> bool:
    """Whether everything in the boxes could be new and still fit."""
    for part in range(PARTITIONS):
        wanted = shard[part, COUNT]
        for piece in range(pieces):
            wanted += fills[piece, part]
        if wanted > shard[part, ROOM]:
            return False
    return True


@njit(cache=True, nogil=True)
def search_rows(
    function: Integer,
    words: Integer,
    source: Places,
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    first: Integer,
    last: Integer,
    most: Integer,
    scratch: NDArray[np.uint64],
    boxes: NDArray[np.uint64],
    fills: NDArray[np.int64],
    shard: Places,
    smaller: NDArray[np.int64],
    inspect: Integer,
    goal_bit: Integer,
    own_step: bool,
    seen: NDArray[np.uint64],
    first_seen: NDArray[np.int64],
    held: NDArray[np.int64],
    transitions: NDArray[np.int64],
) -> tuple[Integer, bool]:
    """Expand and enter a level's rows ``first..last`` in one thread; return the row before which it stopped.

    It also stops, and returns False, where the shard must grow before it can enter what the first boxes hold.
    """
    while first < last:
        first = expand_rows(function, words, source, begin, end, first, last, most, scratch, boxes, fills, 0)
        for part in range(PARTITIONS):
            transitions[0] += fills[0, part]
        if not have_room(shard, fills, 1):
            return first, False
        enter_partitions(
            0, 1, 1, words, boxes, fills, shard, smaller, inspect, goal_bit, own_step, seen, first_seen, held
        )
    return first, True
