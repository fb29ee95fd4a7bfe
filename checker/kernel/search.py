"""The loops around the kernel: one level of breadth-first search, in rounds of two phases.

The first phase, expanding, writes the successors of some rows into boxes, one for each partition of the visited set.
The second phase, entering, looks each successor up in its partition and stores new states. Threads expand different
rows, and enter different partitions, at the same time without a lock; between the phases they wait for each other.
States are entered in the order of the rows that they come from. So the stored states and their order do not depend on
the number of threads. The loops are compiled by Numba, cached on disk, and release the interpreter lock.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.kernel.components import Dictionaries, decode, encode_like
from proofka.checker.kernel.covering import find_covering, is_covered
from proofka.checker.kernel.gate import (
    CUT_SHORT,
    FIRST,
    PENDING,
    ROUNDS,
    ROWS,
    Gate,
    claim,
    is_last,
    open_gate,
)
from proofka.checker.kernel.gate import (
    ROOM as HAS_ROOM,
)
from proofka.checker.kernel.memory import (
    Integer,
    call_expand,
    call_inspect,
    load_byte,
    load_half,
    load_word,
    prefetch,
    raise_half_atomically,
    store_byte,
    store_half,
    store_word,
)
from proofka.checker.kernel.table import LOW_HALF, hash_of, home
from proofka.checker.kernel.visited import (
    COUNT,
    GOAL_REACHED,
    GOOD,
    HASHED,
    INDEX,
    LEADS_TO,
    NO_STEP,
    PARENTS,
    PARTITION_BITS,
    PARTITIONS,
    ROOM,
    SLOTS,
    STATES,
    TABLE,
    WHOLE_WORD,
    Places,
    candidate,
    find,
    half_hash_of,
    partition_of,
    put,
)
from proofka.checker.kernel.wanted import Names, is_wanted

AHEAD = 12
"""Successors between prefetching a table slot and using the slot. The state named there is prefetched half as far
ahead."""
SPOTS = 16
"""Slots remembered between prefetching a state and comparing the state: a power of two, at least ``AHEAD``."""


class Level(NamedTuple):
    """Rows to expand by one of the kernel's functions: ``begin[p]..end[p]`` of every partition ``p`` of ``source``.

    Rows are counted from 0, over all partitions. Successors that are not ``wanted``, by the bits that ``mask`` keeps,
    are left out (checker/kernel/wanted.py).
    """

    function: int
    source: Places
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    mask: NDArray[np.uint64]
    wanted: Names


ENTRY = 2
"""Words of an entry of a box: a state's word; half its hash, and the reference of the row that led to the state."""


class Boxes(NamedTuple):
    """Boxes in which successors wait before they are entered: one for each piece of a level and each partition.

    ``fills``: number of entries in each box. ``dictionaries``: the meaning of the words of states, for packed states of
    ``words`` words. The hash of the first ``placed`` words names a state's partition, and the hash of the bits
    ``hashed`` of the state's word its slot. ``reached``: the row at which each piece stopped. ``scratch``: for each
    thread, room for one packed state and for its successors, whose number is below ``most``. ``spots``: the slots that
    each thread remembers. The caller owns these arrays: Numba would free a function's own array once only its address
    is in use, and a thread that failed to get memory would keep the others waiting. ``aim``: planned fill of the
    fullest box, from 0 to 1.
    """

    words: int
    placed: int
    hashed: int
    dictionaries: Dictionaries
    most: int
    aim: float
    entries: NDArray[np.uint64]
    fills: NDArray[np.int64]
    reached: NDArray[np.int64]
    scratch: NDArray[np.uint64]
    spots: NDArray[np.int64]


class Visited(NamedTuple):
    """The set that states are entered into, and the records of the entered states.

    ``smaller`` lists the places of the shards of smaller fault combinations: states in one of these shards are not
    entered again. ``own_step``: the successors come from fault-free steps from rows of the same shard. ``seen``
    collects the predicates that held, by partition. ``first_seen`` is the first state for each predicate, and ``held``
    the number of states in which each predicate held (no columns: no counts).
    """

    places: Places
    smaller: NDArray[np.int64]
    inspect: int
    goal_bit: int
    own_step: bool
    seen: NDArray[np.uint64]
    first_seen: NDArray[np.int64]
    held: NDArray[np.int64]
    transitions: NDArray[np.int64]


@njit(cache=True, nogil=True)
def expand_rows(level: Level, first: Integer, last: Integer, boxes: Boxes, piece: Integer, thread: Integer) -> None:
    """Put the successors of a level's rows ``first..last`` into the boxes of ``piece``.

    If a row's successors might not fit into a box, the loop stops early and records the row.
    """
    words, most, dictionaries = boxes.words, boxes.most, boxes.dictionaries
    placed, hashed = boxes.placed, np.uint64(boxes.hashed)
    covers = boxes.hashed != WHOLE_WORD
    box_bytes = boxes.entries.shape[2] * 8
    room = boxes.entries.shape[2] // ENTRY
    base = boxes.entries.ctypes.data + piece * PARTITIONS * box_bytes
    packed = boxes.scratch.ctypes.data + thread * boxes.scratch.shape[1] * 8
    successors = packed + words * 8
    fills = boxes.fills[piece]
    for part in range(PARTITIONS):
        fills[part] = 0
    fullest = 0
    passed = 0
    for part in range(PARTITIONS):
        rows = level.end[part] - level.begin[part]
        low, high = max(first - passed, 0), min(last - passed, rows)
        states = level.source[part, STATES]
        for row in range(level.begin[part] + low, level.begin[part] + high):
            if fullest + most > room:
                boxes.reached[piece] = passed + row - level.begin[part]
                return
            reference = np.uint64((row << PARTITION_BITS) | part)
            before = load_word(states + row * 8)
            if covers and is_covered(row, before, level.source[part], level.end[part], dictionaries):
                continue
            decode(dictionaries, before, packed)
            for number in range(call_expand(level.function, packed, successors)):
                state = successors + number * (words + 1) * 8
                if level.wanted.shape[0] > 0 and not is_wanted(state, level.mask, level.wanted):
                    continue
                target = partition_of(hash_of(state, placed))
                word = encode_like(dictionaries, state, packed, before)
                filled = fills[target]
                entry = base + target * box_bytes + filled * ENTRY * 8
                store_word(entry, word)
                store_word(entry + 8, (half_hash_of(word & hashed) << np.uint64(32)) | reference)
                fills[target] = filled + 1
                fullest = max(fullest, filled + 1)
        passed += rows
    boxes.reached[piece] = last


@njit(cache=True, nogil=True)
def enter_box(part: Integer, piece: Integer, thread: Integer, boxes: Boxes, visited: Visited) -> None:
    """Store the new states of a box. The partition has room for all states of the box.

    A table that hashes only some bits of words belongs to a shard without covered states (checker/kernel/covering.py).
    """
    dictionaries, filled = boxes.dictionaries, boxes.fills[piece, part]
    box = boxes.entries.ctypes.data + (piece * PARTITIONS + part) * boxes.entries.shape[2] * 8
    packed = boxes.scratch.ctypes.data + thread * boxes.scratch.shape[1] * 8
    shard, goal_bit, own_step = visited.places, visited.goal_bit, visited.own_step
    seen, first_seen, held = visited.seen, visited.first_seen, visited.held
    stride = ENTRY * 8
    states, table, slots = shard[part, STATES], shard[part, TABLE], shard[part, SLOTS]
    count = shard[part, COUNT]
    covers = shard[part, HASHED] != WHOLE_WORD
    spots = boxes.spots[thread]
    for number in range(filled + AHEAD):
        if number < filled:
            half = load_word(box + number * stride + 8) >> np.uint64(32)
            prefetch(table + home(half, slots) * 4)
        near = number - AHEAD // 2
        if 0 <= near < filled:
            half = load_word(box + near * stride + 8) >> np.uint64(32)
            slot = candidate(half, home(half, slots), table, slots)
            prefetch(states + (np.int64(load_half(table + slot * 4) & np.uint32(INDEX)) - 1) * 8)
            spots[near & (SPOTS - 1)] = slot
        if number < AHEAD:
            continue
        entry = box + (number - AHEAD) * stride
        word, origin = load_word(entry), load_word(entry + 8)
        half = origin >> np.uint64(32)
        row = np.int64(origin & np.uint64(LOW_HALF))
        slot = spots[(number - AHEAD) & (SPOTS - 1)]
        if covers:
            index = find_covering(word, half, slot, states, table, slots, dictionaries)
        else:
            index = find(word, half, slot, states, table, slots)
        if index >= 0:
            if goal_bit >= 0 and own_step:
                _lead(shard, row, (index << PARTITION_BITS) | part)
            continue
        if _is_in_smaller(word, half, part, visited.smaller, dictionaries):
            if goal_bit >= 0 and own_step:
                _reach(shard, row)
            continue
        store_word(states + count * 8, word)
        store_half(shard[part, PARENTS] + count * 4, np.uint32(row))
        put(half, -1 - index, table, count)
        decode(dictionaries, word, packed)
        bits = call_inspect(visited.inspect, packed)
        if goal_bit >= 0:
            store_byte(shard[part, GOOD] + count, np.uint8((bits >> np.uint64(goal_bit)) & np.uint64(1)))
            store_half(shard[part, LEADS_TO] + count * 4, np.uint32(NO_STEP))
            if own_step:
                _lead(shard, row, (count << PARTITION_BITS) | part)
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
    """Remember one successor of a row, other than the row itself: of all successors, the last in the order of
    references, whichever thread comes first. The states found last are the deepest.
    """
    if row != reference:
        place = shard[row & (PARTITIONS - 1), LEADS_TO] + (row >> PARTITION_BITS) * 4
        if load_half(place) < np.uint32(reference + 1):
            raise_half_atomically(place, np.uint32(reference + 1))


@njit(cache=True, nogil=True, inline="always")
def _reach(shard: Places, row: Integer) -> None:
    """Mark a row from which a step leads to the goal, unless the goal holds in the row itself."""
    place = shard[row & (PARTITIONS - 1), GOOD] + (row >> PARTITION_BITS)
    if load_byte(place) == np.uint8(0):
        store_byte(place, np.uint8(GOAL_REACHED))


@njit(cache=True, nogil=True, inline="always")
def _is_in_smaller(
    word: np.uint64, half: np.uint64, part: Integer, smaller: NDArray[np.int64], dictionaries: Dictionaries
) -> bool:
    """Tell whether a shard of a smaller fault combination has the state, or one that covers the state."""
    for other in range(smaller.shape[0]):
        slots = smaller[other, part, SLOTS]
        states, table = smaller[other, part, STATES], smaller[other, part, TABLE]
        if slots == 0:
            continue
        if smaller[other, part, HASHED] != WHOLE_WORD:
            index = find_covering(word, half, home(half, slots), states, table, slots, dictionaries)
        else:
            index = find(word, half, home(half, slots), states, table, slots)
        if index >= 0:
            return True
    return False


@njit(cache=True, nogil=True)
def have_room(shard: Places, fills: NDArray[np.int64], pieces: Integer) -> bool:
    """Tell whether the partitions have room if every entry of the boxes is new."""
    for part in range(PARTITIONS):
        wanted = shard[part, COUNT]
        for piece in range(pieces):
            wanted += fills[piece, part]
        if wanted > shard[part, ROOM]:
            return False
    return True


@njit(cache=True, nogil=True)
def _judge(
    first: Integer, last: Integer, rows: Integer, pieces: Integer, boxes: Boxes, visited: Visited, gate: Gate
) -> None:
    """Decide after a round of expanding which pieces to enter, whether there is room, and the size of the next pieces.

    A piece that filled a box too soon ends the round, so that rows are entered in their order. The pieces after this
    piece are expanded again.
    """
    whole = 0
    made = 0.0
    while whole < pieces:
        low, high = first + whole * rows, min(first + (whole + 1) * rows, last)
        reached = boxes.reached[whole]
        fullest = 0
        for part in range(PARTITIONS):
            fullest = max(fullest, boxes.fills[whole, part])
            visited.transitions[0] += boxes.fills[whole, part]
        made = max(made, fullest / max(reached - low, 1))
        whole += 1
        gate[FIRST] = reached
        if reached >= last:
            break
        if reached < high:
            gate[CUT_SHORT] += pieces > 1
            break
    room = boxes.entries.shape[2] // ENTRY - boxes.most
    gate[ROWS] = max(int(boxes.aim * room / max(made, 1e-3)), 1)
    gate[PENDING] = whole
    gate[HAS_ROOM] = have_room(visited.places, boxes.fills, whole)
    gate[ROUNDS] += pieces > 1


@njit(cache=True, nogil=True)
def search_rows(
    thread: Integer, threads: Integer, level: Level, last: Integer, boxes: Boxes, visited: Visited, gate: Gate
) -> None:
    """Expand and enter a level's rows up to ``last``, as one of ``threads`` threads that all call this function.

    ``gate`` holds the first row, and the pieces that are still to be entered from before. The function returns early if
    the visited set must grow before the entries of the boxes can be entered.
    """
    pieces = boxes.entries.shape[0] if threads > 1 else 1
    while gate[PENDING] > 0 or gate[FIRST] < last:
        if gate[PENDING] == 0:
            first = gate[FIRST]
            rows = (last - first + pieces - 1) // pieces
            if threads > 1:
                rows = min(rows, gate[ROWS])
            piece = claim(gate)
            while piece < pieces:
                low = min(first + piece * rows, last)
                expand_rows(level, low, min(low + rows, last), boxes, piece, thread)
                piece = claim(gate)
            if is_last(gate, threads):
                _judge(first, last, rows, pieces, boxes, visited, gate)
                open_gate(gate)
            if not gate[HAS_ROOM]:
                return
        part = claim(gate)
        while part < PARTITIONS:
            for full in range(gate[PENDING]):
                enter_box(part, full, thread, boxes, visited)
            part = claim(gate)
        if is_last(gate, threads):
            gate[PENDING] = 0
            open_gate(gate)
