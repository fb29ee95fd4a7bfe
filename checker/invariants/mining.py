"""Candidates for lemmas: the clauses of two and of three statements that hold in all states of a set.

A *literal* is a number: twice the number of a statement, plus 1 if the literal is true where the statement is. A clause
is a row of literals, and -1 behind the last one. No clause of three literals contains one of two that holds.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.invariants.statements import Statements

Clauses = NDArray[np.int32]
"""One clause in each row."""

MOST_LITERALS = 10
"""Largest number of literals of a clause."""
MOST_FOR_TRIPLES = 420
"""Largest number of statements of which every three are tried."""
MOST_CLAUSES = 2_000_000
"""Largest number of clauses of three literals that are kept."""


def mined(seen: Statements, *, triples: bool = True) -> Clauses:
    """Return the clauses that hold in all states: first the statements that all states agree on."""
    units = [2 * number + truth for number, truth in enumerate(seen.settled, seen.open)]
    parts = [np.array(units, dtype=np.int32).reshape(-1, 1)]
    absent = _pairs(seen.bits, seen.full)
    first, truth, second, other = np.nonzero(absent)
    parts.append(np.stack([2 * first + 1 - truth, 2 * second + 1 - other], 1).astype(np.int32))
    if triples and seen.open <= MOST_FOR_TRIPLES:
        both = absent | absent.transpose(2, 3, 0, 1)
        parts.append(_triples(seen.bits, seen.full, both, MOST_CLAUSES))
    found = np.full((sum(map(len, parts)), MOST_LITERALS), -1, dtype=np.int32)
    place = 0
    for part in parts:
        found[place : place + len(part), : part.shape[1]] = part
        place += len(part)
    return found


@njit(cache=True, nogil=True)
def _pairs(bits: NDArray[np.uint64], full: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Tell for each two statements, the first with the smaller number, which of their truth values never meet."""
    number, words = bits.shape
    absent = np.zeros((number, 2, number, 2), np.bool_)
    for i in range(number):
        for j in range(i + 1, number):
            met = np.zeros((2, 2), np.bool_)
            for word in range(words):
                one, other, every = bits[i, word], bits[j, word], full[word]
                met[1, 1] |= one & other != 0
                met[1, 0] |= one & ~other != 0
                met[0, 1] |= ~one & other != 0
                met[0, 0] |= ~one & ~other & every != 0
                if met.all():
                    break
            for a in range(2):
                for b in range(2):
                    absent[i, a, j, b] = not met[a, b]
    return absent


@njit(cache=True, nogil=True)
def _triples(
    bits: NDArray[np.uint64], full: NDArray[np.uint64], absent: NDArray[np.bool_], most: int
) -> NDArray[np.int32]:
    """Return the clauses of three literals that hold, of which no two literals are a clause that holds."""
    number, words = bits.shape
    found = np.empty((1024, 3), np.int32)
    count = 0
    both = np.empty(words, np.uint64)
    for i in range(number):
        for j in range(i + 1, number):
            for a in range(2):
                for b in range(2):
                    if absent[i, a, j, b]:
                        continue
                    for word in range(words):
                        one = bits[i, word] if a else ~bits[i, word] & full[word]
                        both[word] = one & (bits[j, word] if b else ~bits[j, word])
                    for k in range(j + 1, number):
                        for c in range(2):
                            if absent[i, a, k, c] or absent[j, b, k, c]:
                                continue
                            meet = False
                            for word in range(words):
                                if both[word] & (bits[k, word] if c else ~bits[k, word]):
                                    meet = True
                                    break
                            if meet:
                                continue
                            if count == most:
                                return found[:count]
                            if count == len(found):
                                larger = np.empty((2 * count, 3), np.int32)
                                larger[:count] = found
                                found = larger
                            found[count, 0] = 2 * i + 1 - a
                            found[count, 1] = 2 * j + 1 - b
                            found[count, 2] = 2 * k + 1 - c
                            count += 1
    return found[:count]
