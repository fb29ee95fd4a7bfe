"""States as one word: a dictionary numbers the halves of packed states, and a state is a pair of these numbers.

Producer and consumer have few local states, and brokers and controller do, too: millions of states have about ten
thousand different halves. The dictionaries are exact: halves are compared as a whole, never by a hash alone. All shards
of an exploration share the dictionaries, so states compare as words. A state that fits into one word has no dictionary.

Threads look halves up without a lock. A thread that must add a half takes the lock of the dictionary. A dictionary
grows into memory that was reserved at the beginning: its next table, twice as large, is filled and then replaces the
table in use. Other threads can still read the previous table, find nothing there, and search again with the lock.

References: G. Holzmann, "State compression in SPIN", SPIN workshop 1997 (COLLAPSE); A. Laarman, J. van de Pol, M.
Weber, "Parallel recursive state compression for free", SPIN workshop 2011.
"""

from __future__ import annotations

import mmap
import sys
import threading

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.kernel.layout import Words
from proofka.checker.kernel.memory import (
    Integer,
    copy,
    load_atomically,
    load_half,
    load_half_atomically,
    load_word,
    store_atomically,
    store_half_atomically,
    store_word,
    swap_atomically,
    yield_processor,
)
from proofka.checker.kernel.table import LOW_HALF, hash_of, same

WORDS, LEVEL, TABLES, KEYS = range(4)
"""Columns of a dictionary: the words of its half, the level of the table in use, and the addresses of its tables and of
its halves."""
COUNT, LOCK = 12, 13
"""Columns that change often: the number of halves, and the lock. Their distance from the other columns puts them into
other cache lines."""
COLUMNS = 24

SMALLEST = 8
"""Exponent of the smallest table: 2**SMALLEST slots. Each further table has twice as many slots."""
ROOM_BITS = 26
"""Exponent of the largest number of halves in a dictionary, if the system provides the address space."""
LEAST_ROOM_BITS = 20
"""Exponent of the smallest accepted number of halves, used if address space is scarce; never less than SMALLEST."""

INDEX = (2 << ROOM_BITS) - 1
"""Mask of a slot's bits for the number of a half, plus one; the other bits hold a part of the half's hash."""

NUMBER_BITS = 32
"""Bits of the number of a half in the word of a state."""

Dictionaries = NDArray[np.int64]
"""The dictionaries: one row for each half of a state, or no rows if a state is one word."""


@njit(cache=True, nogil=True, inline="always")
def _slots_of(level: Integer) -> np.int64:
    return np.int64(1) << np.int64(SMALLEST + level)


@njit(cache=True, nogil=True, inline="always")
def _table_of(dictionary: Integer, level: Integer) -> np.int64:
    """Return the address of a table, which lies behind all smaller tables."""
    return np.int64(load_word(dictionary + TABLES * 8)) + (_slots_of(level) - _slots_of(0)) * 4


@njit(cache=True, nogil=True, inline="always")
def _tag_of(hashed: np.uint64) -> np.int64:
    """Return the bits of a hash that a slot keeps, at their place in the slot."""
    return np.int64(hashed & np.uint64(LOW_HALF)) & ~INDEX


@njit(cache=True, nogil=True, inline="always")
def _look_up(dictionary: Integer, half: Integer, hashed: np.uint64, words: Integer) -> np.int64:
    """Return the number of a half, or -1 if the table in use does not hold the half."""
    level = load_atomically(dictionary + LEVEL * 8)
    table, last = _table_of(dictionary, level), _slots_of(level) - 1
    keys = np.int64(load_word(dictionary + KEYS * 8))
    tag = _tag_of(hashed)
    slot = np.int64(hashed >> np.uint64(32)) & last
    while True:
        entry = np.int64(load_half_atomically(table + slot * 4))
        if entry == 0:
            return np.int64(-1)
        if entry & ~INDEX == tag:
            number = (entry & INDEX) - 1
            if same(half, keys + number * words * 8, words):
                return np.int64(number)
        slot = (slot + 1) & last


@njit(cache=True, nogil=True)
def _put(table: Integer, slots: Integer, hashed: np.uint64, number: Integer) -> None:
    """Enter the number of a half that is not in the table."""
    slot = np.int64(hashed >> np.uint64(32)) & (slots - 1)
    while load_half(table + slot * 4) != np.uint32(0):
        slot = (slot + 1) & (slots - 1)
    store_half_atomically(table + slot * 4, np.uint32(_tag_of(hashed) | (number + 1)))


@njit(cache=True, nogil=True)
def _fill(dictionary: Integer, count: Integer) -> None:
    """Put the first ``count`` halves into the smallest table that stays half empty, and use this table from now on."""
    words, keys = np.int64(load_word(dictionary + WORDS * 8)), np.int64(load_word(dictionary + KEYS * 8))
    level = np.int64(load_word(dictionary + LEVEL * 8))
    while 2 * count > _slots_of(level):
        level += 1
    table = _table_of(dictionary, level)
    for number in range(count):
        _put(table, _slots_of(level), hash_of(keys + number * words * 8, words), number)
    store_atomically(dictionary + LEVEL * 8, level)


@njit(cache=True, nogil=True)
def _add(dictionary: Integer, half: Integer, hashed: np.uint64, words: Integer) -> np.int64:
    """Return the number of a half: a new number, unless another thread added the half first."""
    while swap_atomically(dictionary + LOCK * 8, 1) != 0:
        yield_processor()
    number = _look_up(dictionary, half, hashed, words)
    if number < 0:
        number = np.int64(load_word(dictionary + COUNT * 8))
        copy(np.int64(load_word(dictionary + KEYS * 8)) + number * words * 8, half, words * 8)
        level = np.int64(load_word(dictionary + LEVEL * 8))
        if 2 * (number + 1) > _slots_of(level):
            _fill(dictionary, number + 1)
        else:
            _put(_table_of(dictionary, level), _slots_of(level), hashed, number)
        store_atomically(dictionary + COUNT * 8, number + 1)
    store_atomically(dictionary + LOCK * 8, 0)
    return number


@njit(cache=True, nogil=True, inline="always")
def _number_of(dictionary: Integer, half: Integer, words: Integer) -> np.uint64:
    """Return the number of a half, and add the half if it is new."""
    hashed = hash_of(half, words)
    number = _look_up(dictionary, half, hashed, words)
    return np.uint64(number if number >= 0 else _add(dictionary, half, hashed, words))


@njit(cache=True, nogil=True, inline="always")
def encode(dictionaries: Dictionaries, state: Integer) -> np.uint64:
    """Return the word of the packed state at an address."""
    if dictionaries.shape[0] == 0:
        return np.uint64(load_word(state))
    first, words, more = dictionaries.ctypes.data, dictionaries[0, WORDS], dictionaries[1, WORDS]
    low = _number_of(first, state, words)
    return low | (_number_of(first + COLUMNS * 8, state + words * 8, more) << np.uint64(NUMBER_BITS))


@njit(cache=True, nogil=True, inline="always")
def encode_like(dictionaries: Dictionaries, state: Integer, known: Integer, word: np.uint64) -> np.uint64:
    """Return the word of a packed state, given the state at ``known``, whose word is ``word``.

    A half that is equal in both states needs no lookup.
    """
    if dictionaries.shape[0] == 0:
        return np.uint64(load_word(state))
    first, words, more = dictionaries.ctypes.data, dictionaries[0, WORDS], dictionaries[1, WORDS]
    low, high = word & np.uint64(LOW_HALF), word >> np.uint64(NUMBER_BITS)
    if not same(state, known, words):
        low = _number_of(first, state, words)
    if not same(state + words * 8, known + words * 8, more):
        high = _number_of(first + COLUMNS * 8, state + words * 8, more)
    return low | (high << np.uint64(NUMBER_BITS))


@njit(cache=True, nogil=True, inline="always")
def decode(dictionaries: Dictionaries, word: np.uint64, out: Integer) -> None:
    """Write the packed state of a word to an address."""
    if dictionaries.shape[0] == 0:
        store_word(out, word)
        return
    words, more = dictionaries[0, WORDS], dictionaries[1, WORDS]
    low = dictionaries[0, KEYS] + np.int64(word & np.uint64(LOW_HALF)) * words * 8
    high = dictionaries[1, KEYS] + np.int64(word >> np.uint64(NUMBER_BITS)) * more * 8
    for offset in range(words):
        store_word(out + offset * 8, load_word(low + offset * 8))
    for offset in range(more):
        store_word(out + (words + offset) * 8, load_word(high + offset * 8))


@njit(cache=True, nogil=True)
def _encode_row(dictionaries: Dictionaries, row: NDArray[np.uint64]) -> np.uint64:
    return np.uint64(encode(dictionaries, row.ctypes.data))


@njit(cache=True, nogil=True)
def _decode_rows(dictionaries: Dictionaries, words: NDArray[np.uint64], rows: NDArray[np.uint64]) -> None:
    for number in range(len(words)):
        decode(dictionaries, words[number], rows.ctypes.data + number * rows.shape[1] * 8)


@njit(cache=True, nogil=True)
def _fill_first(dictionaries: Dictionaries, place: int, count: int) -> None:
    _fill(dictionaries.ctypes.data + place * COLUMNS * 8, count)


class Components:
    """The dictionaries of an exploration.

    ``halves``: the number of words of the first half of a packed state (``first_words``), and of the second half. The
    second half may have no words if the first half has one. ``dictionaries`` is the argument for the compiled loops.
    """

    def __init__(self, halves: tuple[int, int]) -> None:
        self.words = sum(halves)
        self.first_words = halves[0]
        used = halves if self.words > 1 else ()
        self.dictionaries: Dictionaries = np.zeros((len(used), COLUMNS), dtype=np.int64)
        self._lock = threading.Lock()
        self._counted = 0
        memory: list[tuple[mmap.mmap, mmap.mmap]] = []
        self.room = 0
        for bits in range(ROOM_BITS, LEAST_ROOM_BITS - 1, -1):
            try:
                memory = [(_reserved(4 * 4 << bits), _reserved(words * 8 << bits)) for words in used]
            except OSError:
                if bits == LEAST_ROOM_BITS:
                    raise
                continue
            self.room = 1 << bits
            break
        self._tables = [np.frombuffer(tables, dtype=np.uint32) for tables, _ in memory]
        self._keys = [
            np.frombuffer(keys, dtype=np.uint64).reshape(-1, words)
            for words, (_, keys) in zip(used, memory, strict=True)
        ]
        for place, (row, words) in enumerate(zip(self.dictionaries, used, strict=True)):
            row[WORDS] = words
            row[TABLES], row[KEYS] = self._tables[place].ctypes.data, self._keys[place].ctypes.data

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of different halves, by dictionary."""
        return tuple(int(count) for count in self.dictionaries[:, COUNT])

    @property
    def bytes(self) -> int:
        """Bytes used by the dictionaries: the halves, the tables in use, and the smaller tables before them."""
        tables = sum(2 * 4 << SMALLEST + int(level) for level in self.dictionaries[:, LEVEL])
        return tables + sum(
            count * int(row[WORDS]) * 8 for count, row in zip(self.counts, self.dictionaries, strict=True)
        )

    def grown(self) -> int:
        """Return the number of bytes by which the dictionaries grew since the previous call."""
        with self._lock:
            before, self._counted = self._counted, self.bytes
            return self._counted - before

    def has_room(self, more: int) -> bool:
        """Tell whether the dictionaries have room if all halves of ``more`` states are new."""
        return all(count + more <= self.room for count in self.counts)

    def encode(self, row: Words) -> int:
        """Return the word of a packed state."""
        return int(_encode_row(self.dictionaries, np.ascontiguousarray(row)))

    def decode(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the packed states of words, one row each."""
        rows = np.empty((len(words), self.words), dtype=np.uint64)
        _decode_rows(self.dictionaries, np.ascontiguousarray(words), rows)
        return rows

    def halves(self, place: int, first: int, last: int) -> NDArray[np.uint64]:
        """Return the halves of a dictionary with numbers from ``first`` to before ``last``, one row each."""
        return self._keys[place][first:last]

    def use_halves(self, place: int, count: int) -> None:
        """Use the first ``count`` halves of an empty dictionary, which the caller wrote there."""
        _fill_first(self.dictionaries, place, count)
        self.dictionaries[place, COUNT] = count


def _reserved(size: int) -> mmap.mmap:
    """Reserve address space that takes memory only where it is written. Raise OSError if the system refuses."""
    no_reserve = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)  # in Python from 3.13 on
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return memory
