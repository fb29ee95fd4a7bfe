"""Loops of one partition of a distributed search: breadth-first search over the partition's own states.

A partition owns the states whose *control plane* (the bits under a mask) hashes to the partition's number. A row is a
packed state and a word of *origin* (depth, and the row that led to the state). Rows are appended and never changed. If
a later superstep reaches a state by a shorter way, the state is appended again, and its slot in the table points to the
new row. So the rows that a superstep appended can be dropped, and the table can be built again from the remaining rows.
Successors that other partitions own go to an outbox of the same form, each once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.kernel.memory import (
    Integer,
    call_expand,
    call_inspect,
    copy,
    load_word,
    prefetch,
    store_word,
)
from proofka.checker.kernel.table import (
    COUNT,
    LOW_HALF,
    ROOM,
    SLOTS,
    STATES,
    TABLE,
    candidate,
    find_slot,
    hash_of,
    home,
)

KNOWN, REPLACED, REPLACED_COUNT, REPLACED_ROOM = range(5, 9)
"""Further columns of a region's place: rows of earlier supersteps, and the rows that replaced some of these rows.
Addresses and numbers are as in the other columns. An entry of the replacements has the new row's number in its upper
half and the old row's number in its lower half."""
REGION_COLUMNS = 9

DEPTH_SHIFT, SOURCE_SHIFT, PARTITION_SHIFT = 49, 43, 32
"""Shifts of the fields of an origin: 15 bits of depth, 6 of the source (a function), 11 of the partition and 32 of the
row that led to the state."""
MOST_DEPTH, MOST_SOURCES, MOST_PARTITIONS = 1 << 15, 1 << 6, 1 << 11

AHEAD = 12
"""Entries between prefetching a table slot and using the slot. The state named there is prefetched half as far ahead.
"""
SPOTS = 16
"""Slots remembered between prefetching a state and comparing the state: a power of two, at least ``AHEAD``."""

Region = NDArray[np.int64]
"""The place of the rows and of the table of a set of states: REGION_COLUMNS numbers."""


class Ownership(NamedTuple):
    """The owner of each state: the hash of the bits under ``mask`` (one word each) names one of ``partitions``."""

    mask: NDArray[np.uint64]
    partitions: int
    own: int


class Tally(NamedTuple):
    """Counts of states and transitions by depth, and, for each predicate, the first state and the number of states.

    ``inspect`` is the address of the predicates' machine code, or 0 if nothing is counted. ``held`` may be empty.
    """

    inspect: int
    levels: NDArray[np.int64]
    transitions: NDArray[np.int64]
    first_depth: NDArray[np.int64]
    first_row: NDArray[np.int64]
    held: NDArray[np.int64]


class Boxes(NamedTuple):
    """Boxes in which successors wait before they are entered: one box for the partition's own states, one for the
    others.

    An entry is a packed state, its origin and half its hash. ``scratch`` has room for the successors of one row, whose
    number is below ``most``; ``spots`` remembers slots.
    """

    words: int
    most: int
    entries: NDArray[np.uint64]
    fills: NDArray[np.int64]
    scratch: NDArray[np.uint64]
    spots: NDArray[np.int64]


class Frontier(NamedTuple):
    """Rows ``first..last`` of ``source``, all of one depth, and the function that expands these rows.

    Rows marked in ``dead`` (one byte each; an empty array marks none) are skipped. ``origin`` is the common part of the
    successors' origins, without the row. ``own``: the rows belong to the region that receives the successors.
    """

    function: int
    source: Region
    first: int
    last: int
    dead: NDArray[np.uint8]
    depth: int
    origin: np.uint64
    own: bool


@njit(cache=True, nogil=True, inline="always")
def owner_of(state: Integer, words: Integer, mask: NDArray[np.uint64], partitions: Integer) -> np.int64:
    """Return the partition that owns the packed state at an address."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for word in range(words):
        value ^= load_word(state + word * 8) & mask[word]
        value *= np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    return np.int64(((value & np.uint64(LOW_HALF)) * np.uint64(partitions)) >> np.uint64(32))


@njit(cache=True, nogil=True, inline="always")
def depth_of(row: Integer, words: Integer) -> np.int64:
    """Return the depth of the row at an address."""
    return np.int64(load_word(row + words * 8) >> np.uint64(DEPTH_SHIFT))


@njit(cache=True, nogil=True)
def expand_rows(at: Integer, frontier: Frontier, owners: Ownership, boxes: Boxes, tally: Tally) -> np.int64:
    """Put the successors of the frontier's rows, from row ``at`` on, into the boxes; return the next row to expand."""
    words, most = boxes.words, boxes.most
    stride = words + 2
    room = boxes.entries.shape[1] // stride - most
    own_box = boxes.entries.ctypes.data
    other_box = own_box + boxes.entries.shape[1] * 8
    successors = boxes.scratch.ctypes.data
    source = frontier.source
    states, apart = source[STATES], (words + 1) * 8
    replaced, cursor = source[REPLACED], np.int64(source[REPLACED_COUNT])
    if frontier.own:
        cursor = _first_replacing(replaced, source[REPLACED_COUNT], at)
    here, away = 0, 0
    made = np.int64(0)
    while at < frontier.last and here <= room and away <= room:
        if frontier.dead.shape[0] > 0 and frontier.dead[at]:
            at += 1
            continue
        count = call_expand(frontier.function, states + at * apart, successors)
        origin = frontier.origin | np.uint64(at)
        for number in range(count):
            state = successors + number * (words + 1) * 8
            hashed = hash_of(state, words)
            if owner_of(state, words, owners.mask, owners.partitions) == owners.own:
                entry = own_box + here * stride * 8
                here += 1
            else:
                entry = other_box + away * stride * 8
                away += 1
            for word in range(words):
                store_word(entry + word * 8, load_word(state + word * 8))
            store_word(entry + words * 8, origin)
            store_word(entry + (words + 1) * 8, hashed >> np.uint64(32))
        made += count
        if cursor < source[REPLACED_COUNT] and load_word(replaced + cursor * 8) >> np.uint64(32) == np.uint64(at):
            old = np.int64(load_word(replaced + cursor * 8) & np.uint64(LOW_HALF))
            tally.transitions[depth_of(states + old * apart, words)] -= count
            cursor += 1
        at += 1
    tally.transitions[frontier.depth] += made
    boxes.fills[0], boxes.fills[1] = here, away
    return np.int64(at)


@njit(cache=True, nogil=True)
def _first_replacing(replaced: Integer, count: Integer, row: Integer) -> np.int64:
    """Return the first entry of the list of replacements whose new row is not before ``row``."""
    low, high = np.int64(0), np.int64(count)
    while low < high:
        middle = (low + high) // 2
        if np.int64(load_word(replaced + middle * 8) >> np.uint64(32)) < row:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def enter_box(box: Integer, region: Region, smaller: NDArray[np.int64], boxes: Boxes, tally: Tally) -> None:
    """Append the states of a box that are new, or that are reached by a shorter way than before; the region has room.

    Depths are entered in ascending order, so a state entered in this superstep is never reached by a shorter way in the
    same superstep. States in one of the regions ``smaller`` are not entered.
    """
    words, filled = boxes.words, boxes.fills[box]
    entries = boxes.entries.ctypes.data + box * boxes.entries.shape[1] * 8
    stride, apart = (words + 2) * 8, (words + 1) * 8
    states, table, slots, known, count = region[STATES], region[TABLE], region[SLOTS], region[KNOWN], region[COUNT]
    spots, inspect = boxes.spots, tally.inspect
    for number in range(filled + AHEAD):
        if number < filled:
            half = load_word(entries + number * stride + (words + 1) * 8)
            prefetch(table + home(half, slots) * 8)
        near = number - AHEAD // 2
        if 0 <= near < filled:
            half = load_word(entries + near * stride + (words + 1) * 8)
            slot = candidate(half, home(half, slots), table, slots)
            entry = load_word(table + slot * 8)
            prefetch(states + (np.int64(entry & np.uint64(LOW_HALF)) - 1) * apart)
            spots[near & (SPOTS - 1)] = slot
        if number < AHEAD:
            continue
        state = entries + (number - AHEAD) * stride
        half = load_word(state + (words + 1) * 8)
        slot = find_slot(state, half, spots[(number - AHEAD) & (SPOTS - 1)], words, states, apart, table, slots)
        entry = load_word(table + slot * 8)
        depth = np.int64(load_word(state + words * 8) >> np.uint64(DEPTH_SHIFT))
        if entry != np.uint64(0):
            index = np.int64(entry & np.uint64(LOW_HALF)) - 1
            if index >= known:
                continue
            before = depth_of(states + index * apart, words)
            if before <= depth:
                continue
            pair = (np.uint64(count) << np.uint64(32)) | np.uint64(index)
            store_word(region[REPLACED] + region[REPLACED_COUNT] * 8, pair)
            region[REPLACED_COUNT] += 1
            tally.levels[before] -= 1
        elif is_in(state, half, words, smaller):
            continue
        row = states + count * apart
        for word in range(words + 1):
            store_word(row + word * 8, load_word(state + word * 8))
        store_word(table + slot * 8, (half << np.uint64(32)) | np.uint64(count + 1))
        if inspect != 0:
            tally.levels[depth] += 1
            bits = call_inspect(inspect, state)
            if bits != np.uint64(0):
                _note(bits, depth, count, entry == np.uint64(0), tally)
        count += 1
    region[COUNT] = count
    boxes.fills[box] = 0


@njit(cache=True, nogil=True)
def _note(bits: np.uint64, depth: Integer, row: Integer, is_new: bool, tally: Tally) -> None:
    """Record the predicates that hold in a row."""
    for bit in range(tally.first_depth.shape[0]):
        if (bits >> np.uint64(bit)) & np.uint64(1):
            if tally.first_row[bit] < 0 or depth < tally.first_depth[bit]:
                tally.first_depth[bit], tally.first_row[bit] = depth, row
            if is_new and bit < tally.held.shape[0]:
                tally.held[bit] += 1


@njit(cache=True, nogil=True, inline="always")
def is_in(state: Integer, half: np.uint64, words: Integer, regions: NDArray[np.int64]) -> bool:
    """Tell whether one of the regions (one per row) holds the state at an address."""
    for other in range(regions.shape[0]):
        table, slots = regions[other, TABLE], regions[other, SLOTS]
        if slots > 0:
            slot = find_slot(
                state, half, home(half, slots), words, regions[other, STATES], (words + 1) * 8, table, slots
            )
            if load_word(table + slot * 8) != np.uint64(0):
                return True
    return False


@njit(cache=True, nogil=True)
def has_room(region: Region, entries: Integer) -> bool:
    """Tell whether a region has room for ``entries`` new rows, and for ``entries`` replacements."""
    rows = region[COUNT] + entries <= region[ROOM]
    return bool(rows and region[REPLACED_COUNT] + entries <= region[REPLACED_ROOM])


@njit(cache=True, nogil=True)
def search_rows(
    at: Integer,
    frontier: Frontier,
    most_rows: Integer,
    owners: Ownership,
    region: Region,
    outbox: Region,
    smaller: NDArray[np.int64],
    boxes: Boxes,
    tally: Tally,
    nothing: Tally,
) -> np.int64:
    """Expand a frontier from row ``at`` on, and enter the successors; return the next row to expand.

    The search stops before a region must grow, and after about ``most_rows`` rows. ``nothing`` is the outbox's tally.
    """
    entries = boxes.entries.shape[1] // (boxes.words + 2)
    no_regions = smaller[:0]
    until = at + most_rows
    while at < frontier.last and at < until and has_room(region, entries) and has_room(outbox, entries):
        at = expand_rows(at, frontier, owners, boxes, tally)
        enter_box(0, region, smaller, boxes, tally)
        enter_box(1, outbox, no_regions, boxes, nothing)
    return np.int64(at)


@njit(cache=True, nogil=True)
def enter_rows(
    rows: Integer,
    first: Integer,
    last: Integer,
    region: Region,
    smaller: NDArray[np.int64],
    boxes: Boxes,
    tally: Tally,
) -> np.int64:
    """Enter rows that another process wrote; return the next row to enter.

    The loop stops before the region must grow.
    """
    words = boxes.words
    entries = boxes.entries.shape[1] // (words + 2)
    box = boxes.entries.ctypes.data
    while first < last and has_room(region, entries):
        filled = min(last - first, entries)
        for number in range(filled):
            row, entry = rows + (first + number) * (words + 1) * 8, box + number * (words + 2) * 8
            for word in range(words + 1):
                store_word(entry + word * 8, load_word(row + word * 8))
            store_word(entry + (words + 1) * 8, hash_of(row, words) >> np.uint64(32))
        boxes.fills[0] = filled
        enter_box(0, region, smaller, boxes, tally)
        first += filled
    return np.int64(first)


@njit(cache=True, nogil=True)
def fill_table(region: Region, words: Integer) -> None:
    """Enter every row into the empty table. Of several rows with the same state the last row counts."""
    states, table, slots, apart = region[STATES], region[TABLE], region[SLOTS], (words + 1) * 8
    for index in range(region[COUNT]):
        row = states + index * apart
        half = hash_of(row, words) >> np.uint64(32)
        slot = find_slot(row, half, home(half, slots), words, states, apart, table, slots)
        store_word(table + slot * 8, (half << np.uint64(32)) | np.uint64(index + 1))


@njit(cache=True, nogil=True)
def sort_by_owner(region: Region, words: Integer, owners: Ownership, out: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Copy the rows of this superstep to ``out``, sorted by owner; rows of one owner keep their order.

    Return the first row of each owner, followed by the number of rows.
    """
    apart = (words + 1) * 8
    first, last = region[KNOWN], region[COUNT]
    starts = np.zeros(owners.partitions + 2, dtype=np.int64)
    for row in range(first, last):
        starts[owner_of(region[STATES] + row * apart, words, owners.mask, owners.partitions) + 2] += 1
    for partition in range(owners.partitions):
        starts[partition + 2] += starts[partition + 1]
    for row in range(first, last):
        place = region[STATES] + row * apart
        owner = owner_of(place, words, owners.mask, owners.partitions)
        copy(out.ctypes.data + starts[owner + 1] * apart, place, apart)
        starts[owner + 1] += 1
    return starts[: owners.partitions + 1]


@njit(cache=True, nogil=True)
def count_by_owner(states: NDArray[np.uint64], mask: NDArray[np.uint64], partitions: Integer) -> NDArray[np.int64]:
    """Return, for each partition, the number of packed states (one per row) that the partition owns."""
    owned = np.zeros(partitions, dtype=np.int64)
    for number in range(states.shape[0]):
        row = states.ctypes.data + number * states.shape[1] * 8
        owned[owner_of(row, states.shape[1], mask, partitions)] += 1
    return owned


@njit(cache=True, nogil=True)
def owner_of_state(state: NDArray[np.uint64], mask: NDArray[np.uint64], partitions: Integer) -> np.int64:
    """Return the partition that owns a packed state."""
    return np.int64(owner_of(state.ctypes.data, state.shape[0], mask, partitions))


@njit(cache=True, nogil=True)
def number_by_owner(
    states: NDArray[np.uint64], mask: NDArray[np.uint64], counts: NDArray[np.int64], places: NDArray[np.uint64]
) -> None:
    """Assign to each packed state (one per row) the next row of its owner.

    ``places`` receives owner and row; ``counts`` holds the number of rows of each owner.
    """
    words = states.shape[1]
    for number in range(states.shape[0]):
        owner = owner_of(states.ctypes.data + number * words * 8, words, mask, counts.shape[0])
        places[number] = (np.uint64(owner) << np.uint64(PARTITION_SHIFT)) | np.uint64(counts[owner])
        counts[owner] += 1


@njit(cache=True, nogil=True)
def scatter(
    states: NDArray[np.uint64],
    origins: NDArray[np.uint64],
    places: NDArray[np.uint64],
    regions: NDArray[np.int64],
) -> None:
    """Write packed states with their origins to their assigned rows, in regions that have room."""
    words = states.shape[1]
    for number in range(states.shape[0]):
        owner, row = places[number] >> np.uint64(PARTITION_SHIFT), places[number] & np.uint64(LOW_HALF)
        target = regions[owner, STATES] + np.int64(row) * (words + 1) * 8
        copy(target, states.ctypes.data + number * words * 8, words * 8)
        store_word(target + words * 8, origins[number])
