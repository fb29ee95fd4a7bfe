"""States as one word: each half of a packed state is numbered in a dictionary, and a state is its two numbers.

Producer and consumer have few local states, and so have brokers and controller: millions of states have some ten
thousand different halves. The dictionaries are exact: a half is compared whole, never by a hash alone. All shards of an
exploration share them, so states compare as words. A state that is one word anyway has no dictionary.

Threads look halves up without a lock; whoever has to add one takes the lock of its dictionary. A dictionary grows into
memory that was reserved from the beginning: its next table, twice as large, is filled and then becomes the one in use.
Other threads may still look into the one before, find nothing there, and ask again with the lock.

References: G. Holzmann, "State compression in SPIN", SPIN workshop 1997 (COLLAPSE); A. Laarman, J. van de Pol,
M. Weber, "Parallel recursive state compression for free", SPIN workshop 2011.
"""

from __future__ import annotations

import mmap
import sys
import threading

import numpy as np
from numba import njit
from numpy.typing import NDArray

from checker.kernel.layout import Words
from checker.kernel.memory import (
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
from checker.kernel.table import LOW_HALF, hash_of, same

WORDS, LEVEL, TABLES, KEYS = range(4)
"""Columns of a dictionary: the words of its half, which of its tables is in use, and the addresses of its tables and of
its halves."""
COUNT, LOCK = 12, 13
"""Columns that change often, far enough from the others to lie in other lines of the cache: how many halves there are,
and the lock."""
COLUMNS = 24

SMALLEST = 8
"""The smallest table has two to the power of so many slots; each further one has twice as many."""
ROOM_BITS = 26
"""A dictionary has at most two to the power of so many halves, if the system gives it that much address space."""
LEAST_ROOM_BITS = 20
"""Where there is little address space; never less than SMALLEST."""

INDEX = (2 << ROOM_BITS) - 1
"""Of a slot: the number of a half, and one; the other bits are some of its hash."""

NUMBER_BITS = 32
"""Bits of the number of a half in the word of a state."""

Dictionaries = NDArray[np.int64]
"""A row for each half of a state; no rows where the state is one word."""


@njit(cache=True, nogil=True, inline="always")
def _slots_of(level: Integer) -> np.int64:
    return np.int64(1) << np.int64(SMALLEST + level)


@njit(cache=True, nogil=True, inline="always")
def _table_of(dictionary: Integer, level: Integer) -> np.int64:
    """The address of a table: all smaller ones lie before it."""
    return np.int64(load_word(dictionary + TABLES * 8)) + (_slots_of(level) - _slots_of(0)) * 4


@njit(cache=True, nogil=True, inline="always")
def _tag_of(hashed: np.uint64) -> np.int64:
    """The bits of a hash that a slot keeps, where a slot has them."""
    return np.int64(hashed & np.uint64(LOW_HALF)) & ~INDEX


@njit(cache=True, nogil=True, inline="always")
def _look_up(dictionary: Integer, half: Integer, hashed: np.uint64, words: Integer) -> np.int64:
    """The number of a half, or -1 where the table in use does not have it."""
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
    """Enter the number of a half that the table does not have."""
    slot = np.int64(hashed >> np.uint64(32)) & (slots - 1)
    while load_half(table + slot * 4) != np.uint32(0):
        slot = (slot + 1) & (slots - 1)
    store_half_atomically(table + slot * 4, np.uint32(_tag_of(hashed) | (number + 1)))


@njit(cache=True, nogil=True)
def _fill(dictionary: Integer, count: Integer) -> None:
    """Put the first so many halves into the smallest table that stays half empty, and use it from now on."""
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
    """The number of a half, a new one unless another thread was faster."""
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
    """The number of a half, given to it now if it is new."""
    hashed = hash_of(half, words)
    number = _look_up(dictionary, half, hashed, words)
    return np.uint64(number if number >= 0 else _add(dictionary, half, hashed, words))


@njit(cache=True, nogil=True, inline="always")
def encode(dictionaries: Dictionaries, state: Integer) -> np.uint64:
    """The word of the packed state at an address."""
    if dictionaries.shape[0] == 0:
        return np.uint64(load_word(state))
    first, words, more = dictionaries.ctypes.data, dictionaries[0, WORDS], dictionaries[1, WORDS]
    low = _number_of(first, state, words)
    return low | (_number_of(first + COLUMNS * 8, state + words * 8, more) << np.uint64(NUMBER_BITS))


@njit(cache=True, nogil=True, inline="always")
def encode_like(dictionaries: Dictionaries, state: Integer, known: Integer, word: np.uint64) -> np.uint64:
    """The word of a packed state, of which halves may be those of the state at ``known``, whose word is ``word``."""
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

    ``halves``: the words of the first half of a packed state and those of the second, which may have none where the
    first has one. ``dictionaries`` is what the compiled loops get.
    """

    def __init__(self, halves: tuple[int, int]) -> None:
        self.words = sum(halves)
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
        """How many different halves there are, by dictionary."""
        return tuple(int(count) for count in self.dictionaries[:, COUNT])

    @property
    def bytes(self) -> int:
        """How much memory the dictionaries take: halves, the tables in use, and the smaller ones before them."""
        tables = sum(2 * 4 << SMALLEST + int(level) for level in self.dictionaries[:, LEVEL])
        return tables + sum(
            count * int(row[WORDS]) * 8 for count, row in zip(self.counts, self.dictionaries, strict=True)
        )

    def grown(self) -> int:
        """By how many bytes the dictionaries grew since this was last asked."""
        with self._lock:
            before, self._counted = self._counted, self.bytes
            return self._counted - before

    def has_room(self, more: int) -> bool:
        """Whether so many states could all have halves that are new."""
        return all(count + more <= self.room for count in self.counts)

    def encode(self, row: Words) -> int:
        """The word of a packed state."""
        return int(_encode_row(self.dictionaries, np.ascontiguousarray(row)))

    def decode(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The packed states of words, a row each."""
        rows = np.empty((len(words), self.words), dtype=np.uint64)
        _decode_rows(self.dictionaries, np.ascontiguousarray(words), rows)
        return rows

    def halves(self, place: int, first: int, last: int) -> NDArray[np.uint64]:
        """The halves of a dictionary with these numbers, a row each."""
        return self._keys[place][first:last]

    def use_halves(self, place: int, count: int) -> None:
        """Take the first so many halves of an empty dictionary, which somebody wrote there, for its own."""
        _fill_first(self.dictionaries, place, count)
        self.dictionaries[place, COUNT] = count


def _reserved(size: int) -> mmap.mmap:
    """Address space that takes memory where it is written. Raises OSError where the system does not give it."""
    no_reserve = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)  # named from Python 3.13 on
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return memory
