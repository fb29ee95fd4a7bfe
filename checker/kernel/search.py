"""The loops around the kernel: an exact visited set, and one step of breadth-first search over it.

A :class:`Shard` holds the states reached with one combination of faults, in breadth-first order: whole states,
never hashes of them, found again through an open-addressing table of indices. The loops are Numba, cached on disk;
they release the interpreter lock, so that two shards are explored by two threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

cgutils: Any = _cgutils
EMPTY = np.uint8(0)
LABEL_BITS = 12
SOURCE_BITS = 8
MOST_ACTIONS = 1 << LABEL_BITS
INITIAL_STATE = np.uint64(0xFFFFFFFFFFFFFFFF)
"""The parent entry of an initial state."""


def _call_expand(typing_context: Any, address: Any, state: Any, out: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        pointer = word.as_pointer()
        function = builder.inttoptr(arguments[0], ir.FunctionType(word, [pointer, pointer]).as_pointer())
        return builder.call(function, [builder.inttoptr(value, pointer) for value in arguments[1:]])

    return types.int64(types.int64, types.int64, types.int64), generate


call_expand: Any = intrinsic(_call_expand)
"""Call the machine code of an ``expand`` function by its address."""


def _call_inspect(typing_context: Any, address: Any, state: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        pointer = word.as_pointer()
        function = builder.inttoptr(arguments[0], ir.FunctionType(word, [pointer]).as_pointer())
        return builder.call(function, [builder.inttoptr(arguments[1], pointer)])

    return types.uint64(types.int64, types.int64), generate


call_inspect: Any = intrinsic(_call_inspect)
"""Call the machine code of ``inspect`` by its address."""


def _load_word(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))

    return types.uint64(types.int64), generate


load_word: Any = intrinsic(_load_word)
"""The unsigned 64-bit word at an address."""


def _load_index(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(32).as_pointer()))

    return types.uint32(types.int64), generate


load_index: Any = intrinsic(_load_index)
"""The unsigned 32-bit word at an address."""


def _load_tag(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))

    return types.uint8(types.int64), generate


load_tag: Any = intrinsic(_load_tag)
"""The byte at an address."""


def _prefetch(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [builder.inttoptr(arguments[0], byte), flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate


prefetch: Any = intrinsic(_prefetch)
"""Ask the processor for the cache line at an address, and do not wait for it."""


@njit(cache=True, nogil=True, inline="always")
def _hash(row: int, words: int) -> np.uint64:
    value = np.uint64(0x9E3779B97F4A7C15)
    for word in range(words):
        value ^= load_word(row + word * 8)
        value *= np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(29))


@njit(cache=True, nogil=True, inline="always")
def _same(one: int, other: int, words: int) -> bool:
    for word in range(words):  # noqa: SIM110 (Numba compiles the loop, not the generator)
        if load_word(one + word * 8) != load_word(other + word * 8):
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def _tag(hashed: np.uint64) -> np.uint8:
    """Eight bits of the hash that the slot does not depend on; never :data:`EMPTY`."""
    return np.uint8(hashed >> np.uint64(56)) | np.uint8(1)


@njit(cache=True, nogil=True, inline="always")
def _find(row: int, hashed: np.uint64, words: int, states: int, table: int, tags: int, mask: int) -> int:
    """The index of the state at address ``row``, or -1. ``states``, ``table`` and ``tags`` are addresses."""
    slot = np.int64(hashed) & mask
    wanted = _tag(hashed)
    while True:
        tag = load_tag(tags + slot)
        if tag == EMPTY:
            return -1
        if tag == wanted:
            index = np.int64(load_index(table + slot * 4))
            if _same(row, int(states + index * words * 8), words):
                return int(index)
        slot = (slot + 1) & mask


@njit(cache=True, nogil=True)
def rebuild_table(states: NDArray[np.uint64], count: int, table: NDArray[np.uint32], tags: NDArray[np.uint8]) -> None:
    """Enter the first ``count`` states into an empty table; its size is a power of two."""
    words = states.shape[1]
    mask = table.shape[0] - 1
    base = states.ctypes.data
    for index in range(count):
        hashed = _hash(base + index * words * 8, words)
        slot = np.int64(hashed) & mask
        while tags[slot] != EMPTY:
            slot = (slot + 1) & mask
        tags[slot] = _tag(hashed)
        table[slot] = np.uint32(index)


@njit(cache=True, nogil=True)
def expand_range(
    function: int,
    inspect: int,
    source: int,
    first: int,
    last: int,
    source_tag: int,
    states: NDArray[np.uint64],
    parents: NDArray[np.uint64],
    good: NDArray[np.uint8],
    leads_to: NDArray[np.uint32],
    table: NDArray[np.uint32],
    tags: NDArray[np.uint8],
    buffer: NDArray[np.uint64],
    smaller: NDArray[np.int64],
    most: int,
    goal_bit: int,
    tally: NDArray[np.int64],
    first_seen: NDArray[np.int64],
) -> int:
    """Insert the successors of ``source`` rows ``first..last`` into a shard; return where it stopped for want of room.

    Successors are made in batches as large as ``buffer``, so that the table's cache lines are on their way while
    others are made.

    ``smaller`` lists the shards of smaller combinations (see :func:`_find`): a state that is in one of them is not
    entered again. ``tally`` is [count, transitions, predicate bits seen]; ``first_seen`` the first state per
    predicate.
    """
    words = states.shape[1]
    capacity = states.shape[0]
    mask = table.shape[0] - 1
    base, table_base, tags_base, out = states.ctypes.data, table.ctypes.data, tags.ctypes.data, buffer.ctypes.data
    count, transitions, seen = tally[0], tally[1], np.uint64(tally[2])
    stride = words + 1
    batch = buffer.shape[0] // stride
    rows = np.empty(batch, dtype=np.int64)
    hashes = np.empty(batch, dtype=np.uint64)
    row = first
    while row < last and count + batch <= capacity:
        produced = 0
        while row < last and produced + most <= batch:
            more = call_expand(function, source + row * words * 8, out + produced * stride * 8)
            for number in range(produced, produced + more):
                hashed = _hash(out + number * stride * 8, words)
                prefetch(tags_base + (np.int64(hashed) & mask))
                prefetch(table_base + (np.int64(hashed) & mask) * 4)
                hashes[number] = hashed
                rows[number] = row
            produced += more
            row += 1
        transitions += produced
        for number in range(produced):
            slot = np.int64(hashes[number]) & mask
            if load_tag(tags_base + slot) == _tag(hashes[number]):
                prefetch(base + np.int64(load_index(table_base + slot * 4)) * words * 8)
        for number in range(produced):
            candidate = out + number * stride * 8
            hashed = hashes[number]
            slot = np.int64(hashed) & mask
            wanted = _tag(hashed)
            index = np.int64(-1)
            known = False
            while True:
                tag = load_tag(tags_base + slot)
                if tag == EMPTY:
                    break
                if tag == wanted:
                    index = np.int64(load_index(table_base + slot * 4))
                    if _same(candidate, base + index * words * 8, words):
                        known = True
                        break
                slot = (slot + 1) & mask
            steps_on = goal_bit >= 0 and source_tag == 0
            if known:
                if steps_on and index != rows[number]:
                    leads_to[rows[number]] = np.uint32(index)
                continue
            for other in range(smaller.shape[0]):
                part, table_of = smaller[other, 0], smaller[other, 1]
                if _find(candidate, hashed, words, part, table_of, smaller[other, 2], smaller[other, 3]) >= 0:
                    known = True
                    break
            if known:
                if steps_on:
                    good[rows[number]] = 1
                continue
            if steps_on:
                leads_to[rows[number]] = np.uint32(count)
            for word in range(words):
                states[count, word] = buffer[number * stride + word]
            parents[count] = (
                (np.uint64(rows[number]) << np.uint64(LABEL_BITS + SOURCE_BITS))
                | (np.uint64(source_tag) << np.uint64(LABEL_BITS))
                | buffer[number * stride + words]
            )
            bits = call_inspect(inspect, candidate)
            if goal_bit >= 0:
                good[count] = np.uint8((bits >> np.uint64(goal_bit)) & np.uint64(1))
                leads_to[count] = np.uint32(count)
            fresh = bits & ~seen
            if fresh != np.uint64(0):
                for bit in range(first_seen.shape[0]):
                    if (fresh >> np.uint64(bit)) & np.uint64(1):
                        first_seen[bit] = count
                seen |= fresh
            table[slot] = np.uint32(count)
            tags[slot] = wanted
            count += 1
    tally[0], tally[1], tally[2] = count, transitions, np.int64(seen)
    return row


@njit(cache=True, nogil=True)
def mark_backward(leads_to: NDArray[np.uint32], count: int, good: NDArray[np.uint8]) -> None:
    """Mark each state one of whose remembered successors is good, last state first, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for row in range(count - 1, -1, -1):
            if not good[row] and good[leads_to[row]]:
                good[row] = 1
                changed = True


@njit(cache=True, nogil=True)
def mark_where(inspect: int, states: NDArray[np.uint64], count: int, bits: int, good: NDArray[np.uint8]) -> None:
    """Mark each unmarked state in which one of the predicates in ``bits`` holds."""
    words = states.shape[1]
    for row in range(count):
        if not good[row] and call_inspect(inspect, states.ctypes.data + row * words * 8) & np.uint64(bits):
            good[row] = 1


@njit(cache=True, nogil=True)
def sweep_backward(
    function: int,
    states: NDArray[np.uint64],
    count: int,
    good: NDArray[np.uint8],
    table: NDArray[np.uint32],
    tags: NDArray[np.uint8],
    buffer: NDArray[np.uint64],
) -> int:
    """Mark each state with a good successor as good, last state first; return how many were marked.

    A successor that is not in this shard is in one of a smaller combination, where every state is good.
    """
    words = states.shape[1]
    mask = table.shape[0] - 1
    base, table_base, tags_base, out = states.ctypes.data, table.ctypes.data, tags.ctypes.data, buffer.ctypes.data
    marked = 0
    for row in range(count - 1, -1, -1):
        if good[row]:
            continue
        produced = call_expand(function, base + row * words * 8, out)
        for number in range(produced):
            candidate = out + number * (words + 1) * 8
            index = _find(candidate, _hash(candidate, words), words, base, table_base, tags_base, mask)
            if index < 0 or good[index]:
                good[row] = 1
                marked += 1
                break
    return marked
