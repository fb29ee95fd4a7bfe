"""The steps between stored states, as arrays, to find the states that can reach a marked state.

States are numbered over several shards. Marks are bits, so that one pass serves several predicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.kernel.components import Dictionaries, decode, encode_like
from proofka.checker.kernel.memory import call_expand, call_inspect, load_half, load_word, prefetch
from proofka.checker.kernel.table import hash_of, home
from proofka.checker.kernel.visited import (
    COUNT,
    INDEX,
    SLOTS,
    STATES,
    TABLE,
    Places,
    candidate,
    find,
    half_hash_of,
    partition_of,
)

Numbers = NDArray[np.int32]
"""Numbers of states."""

NOT_STORED = -1
"""Returned in place of the next row if a successor is in none of the shards."""

AHEAD = 16
"""Words between prefetching a slot of a table and using the slot. The word named there is prefetched half as far ahead.
"""


class Steps(NamedTuple):
    """The machine code of some steps, the shards that the steps can lead to, and the number of each partition's first
    state.

    ``words``: words of a packed state. ``targets``: a row of places for each shard. ``firsts``: by shard and partition.
    """

    function: int
    words: int
    dictionaries: Dictionaries
    targets: NDArray[np.int64]
    firsts: NDArray[np.int64]


class Room(NamedTuple):
    """Room for one state and its successors, and for a number of steps.

    The caller uses it many times: new arrays of this size would be new pages each time.
    """

    scratch: NDArray[np.uint64]
    words: NDArray[np.uint64]
    places: NDArray[np.uint8]
    sources: Numbers
    targets: Numbers


def new_room(words: int, most: int, steps: int) -> Room:
    """Return room for a state of ``words`` words with ``most`` successors, and for ``steps`` steps."""
    return Room(
        np.empty(words + most * (words + 1), dtype=np.uint64),
        np.empty(steps, dtype=np.uint64),
        np.empty(steps, dtype=np.uint8),
        np.empty(steps, dtype=np.int32),
        np.empty(steps, dtype=np.int32),
    )


@njit(cache=True, nogil=True)
def steps_from(
    steps: Steps,
    source: Places,
    part: int,
    first: int,
    row: int,
    room: Room,
) -> tuple[int, int]:
    """Write the steps from a partition's states, from ``row`` on, until there is no more room for those of a state.

    ``first``: the number of the partition's first state. Return the next row and the number of written steps, or
    NOT_STORED instead of the row if a successor is in no shard.
    """
    scratch, found_words, places, sources, targets = room
    packed = scratch.ctypes.data
    words = steps.words
    out = packed + words * 8
    most = (len(scratch) - words) // (words + 1)
    count = 0
    while row < source[part, COUNT] and count + most <= len(sources):
        before = load_word(source[part, STATES] + row * 8)
        decode(steps.dictionaries, before, packed)
        for number in range(call_expand(steps.function, packed, out)):
            state = out + number * (words + 1) * 8
            word = encode_like(steps.dictionaries, state, packed, before)
            if word != before:
                found_words[count], places[count] = word, partition_of(hash_of(state, words))
                sources[count] = first + row
                count += 1
        row += 1
    _look_up(steps, found_words[:count], places, targets)
    for number in range(count):
        if targets[number] == NOT_STORED:
            return NOT_STORED, count
    return row, count


@njit(cache=True, nogil=True)
def _look_up(steps: Steps, words: NDArray[np.uint64], places: NDArray[np.uint8], targets: NDArray[np.int32]) -> None:
    """Find the numbers of the states of these words, which belong to these partitions; NOT_STORED if no shard has a
    state.

    The loop prefetches the slots of a table, and then the words named there. Places are read one number at a time: a
    row of places as an array would be counted by atomic additions.
    """
    targets[: len(words)] = NOT_STORED
    for shard in range(len(steps.targets)):
        for number in range(len(words) + AHEAD):
            if number < len(words) and targets[number] == NOT_STORED:
                part = places[number]
                slots = steps.targets[shard, part, SLOTS]
                prefetch(steps.targets[shard, part, TABLE] + home(half_hash_of(words[number]), slots) * 4)
            near = number - AHEAD // 2
            if 0 <= near < len(words) and targets[near] == NOT_STORED:
                part = places[near]
                slots, table = steps.targets[shard, part, SLOTS], steps.targets[shard, part, TABLE]
                if slots > 0:
                    half = half_hash_of(words[near])
                    slot = candidate(half, home(half, slots), table, slots)
                    index = np.int64(load_half(table + slot * 4) & np.uint32(INDEX)) - 1
                    prefetch(steps.targets[shard, part, STATES] + index * 8)
            now = number - AHEAD
            if now >= 0 and targets[now] == NOT_STORED:
                part = places[now]
                slots, table = steps.targets[shard, part, SLOTS], steps.targets[shard, part, TABLE]
                if slots > 0:
                    half = half_hash_of(words[now])
                    states = steps.targets[shard, part, STATES]
                    index = find(words[now], half, home(half, slots), states, table, slots)
                    if index >= 0:
                        targets[now] = steps.firsts[shard, part] + index


def by_target(steps: Sequence[tuple[Numbers, Numbers]], states: int) -> tuple[NDArray[np.int64], Numbers]:
    """Sort steps, given as arrays of sources and of targets, by the state that they lead to.

    Return the first place of each state's sources, and the sources. The arrays are never joined, which would take time
    and memory for another copy of every step.
    """
    begin = np.zeros(states + 2, dtype=np.int64)
    for _, targets in steps:
        _count(targets, begin)
    np.cumsum(begin, out=begin)
    ordered = np.empty(int(begin[-1]), dtype=np.int32)
    for sources, targets in steps:
        _place(sources, targets, begin, ordered)
    return begin[:-1], ordered


@njit(cache=True, nogil=True)
def _count(targets: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
    """Count the steps to each state, two places behind the state's number."""
    for target in targets:
        counts[target + 2] += 1


@njit(cache=True, nogil=True)
def _place(
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    following: NDArray[np.int64],
    ordered: NDArray[np.int32],
) -> None:
    """Write the source of each step to the next place of the step's target, which ``following`` has one place behind
    the target's number.
    """
    for number in range(len(sources)):
        target = targets[number] + 1
        ordered[following[target]] = sources[number]
        following[target] += 1


@njit(cache=True, nogil=True)
def mark_all_before(begin: NDArray[np.int64], before: NDArray[np.int32], marks: NDArray[np.uint64]) -> None:
    """Give each of the first ``len(marks)`` states the marks of all of these states that it can reach."""
    waiting = np.empty(len(marks), dtype=np.int32)
    is_waiting = np.zeros(len(marks), dtype=np.bool_)
    count = 0
    for state in range(len(marks)):
        if marks[state] != np.uint64(0):
            waiting[count] = state
            is_waiting[state] = True
            count += 1
    while count > 0:
        count -= 1
        state = waiting[count]
        is_waiting[state] = False
        for place in range(begin[state], begin[state + 1]):
            source = before[place]
            if source < len(marks) and marks[state] & ~marks[source] != np.uint64(0):
                marks[source] |= marks[state]
                if not is_waiting[source]:
                    waiting[count] = source
                    is_waiting[source] = True
                    count += 1


@njit(cache=True, nogil=True)
def mark_sources(
    sources: NDArray[np.int32], targets: NDArray[np.int32], reached: NDArray[np.uint64], marks: NDArray[np.uint64]
) -> None:
    """Give the source of each step the marks of the step's target in ``reached``, if these have the target's number.

    Neither array has the marks of states behind its length.
    """
    for number in range(len(sources)):
        if targets[number] < len(reached) and sources[number] < len(marks):
            marks[sources[number]] |= reached[targets[number]]


@njit(cache=True, nogil=True)
def predicates_of(
    inspect: int,
    dictionaries: Dictionaries,
    shard: Places,
    part: int,
    first: int,
    scratch: NDArray[np.uint64],
    marks: NDArray[np.uint64],
) -> None:
    """Mark each state of a partition, from row ``first`` on, with the bits of the predicates that hold in the state."""
    packed = scratch.ctypes.data
    for row in range(first, shard[part, COUNT]):
        decode(dictionaries, load_word(shard[part, STATES] + row * 8), packed)
        marks[row] = call_inspect(inspect, packed)
