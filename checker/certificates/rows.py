"""Sets of states as bytes: sorted, each row XORed with the row before, word by word (docs/certificates.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proofka.checker.certificates.order import Order
from proofka.checker.kernel.layout import Field
from proofka.checker.kernel.visited import PARTITIONS
from proofka.checker.shard import Shard

Rows = NDArray[np.uint64]
"""Packed states, one row each."""

MEMBER_ROWS = 1 << 20
"""Largest number of rows of one member of the file."""


RankRow = NDArray[np.uint16]
"""The ranks of some rows."""


@dataclass(frozen=True)
class _Run:
    """Neighbouring fields of a word: their first bit in an exploration and in the file, and their bits from bit 0."""

    word: int
    shift: int
    target: int
    bits: int


class Closing:
    """Rows of an exploration as rows of the file: the fields of each word move down over the gaps between them.

    ``fields``: those that are written, by word and bit. An exploration of a part of a larger layout has gaps.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self._words = 1 + max((field.word for field in fields), default=0)
        self._runs: list[_Run] = []
        free = [0] * self._words
        for field in fields:
            last = self._runs[-1] if self._runs else None
            bits = (1 << field.width) - 1
            if last is not None and (last.word, last.shift + last.bits.bit_length()) == (field.word, field.shift):
                self._runs[-1] = replace(last, bits=last.bits | bits << last.bits.bit_length())
            else:
                self._runs.append(_Run(field.word, field.shift, free[field.word], bits))
            free[field.word] += field.width

    @property
    def moves(self) -> bool:
        """Tell whether some field moves."""
        return any(run.shift != run.target for run in self._runs)

    def closed(self, rows: Rows) -> Rows:
        """Return rows without gaps, and without bits outside of fields."""
        found = np.zeros((len(rows), self._words), dtype=np.uint64)
        for run in self._runs:
            moved = rows[:, run.word] >> np.uint64(run.shift) & np.uint64(run.bits)
            found[:, run.word] |= moved << np.uint64(run.target)
        return found


def members_of(
    shard: Shard, order: Order, closing: Closing, ranks: list[RankRow] | None
) -> Iterator[tuple[Rows, RankRow | None]]:
    """Yield the states of a shard in sorted pieces, with their ranks; one empty piece for a shard without states.

    ``ranks``: by partition, in the order found.
    """
    words = np.concatenate([shard.words(part) for part in range(PARTITIONS)])
    sort = order.sort(words)
    words = words[sort]
    sorted_ranks = None if ranks is None else np.concatenate(ranks)[sort]
    for first in range(0, max(len(words), 1), MEMBER_ROWS):
        piece = slice(first, first + MEMBER_ROWS)
        rows: Rows = shard.components.decode(words[piece])
        yield closing.closed(rows), None if sorted_ranks is None else sorted_ranks[piece]


def as_bytes(rows: Rows, ranks: RankRow | None) -> bytes:
    """Return rows in the form of a member: the differences of word 0, then those of word 1, and so on; then ranks."""
    differences = rows.copy()
    differences[1:] ^= rows[:-1]
    words = np.ascontiguousarray(differences.T).astype("<u8", copy=False).tobytes()
    return words if ranks is None else words + ranks.astype("<u2", copy=False).tobytes()
