"""Sets of states as bytes: sorted, each row XORed with the row before, word by word (docs/certificates.md)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from checker.certificates.sorting import Rows, order_of
from checker.kernel.visited import PARTITIONS
from checker.shard import Shard

MEMBER_ROWS = 1 << 20
"""Largest number of rows of one member of the file."""


RankRow = NDArray[np.uint16]
"""The ranks of some rows."""


def members_of(
    shard: Shard, mask: NDArray[np.uint64], ranks: list[RankRow] | None
) -> Iterator[tuple[Rows, RankRow | None]]:
    """Yield the states of a shard in sorted pieces, with their ranks.

    ``mask``: for each word, the bits that are written. ``ranks``: by partition, in the order found.
    """
    rows: Rows = np.concatenate([shard.packed(part, slice(None)) for part in range(PARTITIONS)])
    rows &= mask
    order = order_of(rows)
    sorted_ranks = None if ranks is None else np.concatenate(ranks)[order]
    rows = rows[order]
    for first in range(0, len(rows), MEMBER_ROWS):
        piece = slice(first, first + MEMBER_ROWS)
        yield rows[piece], None if sorted_ranks is None else sorted_ranks[piece]


def as_bytes(rows: Rows) -> bytes:
    """Return rows in the form of a member: the differences of word 0, then those of word 1, and so on."""
    differences = rows.copy()
    differences[1:] ^= rows[:-1]
    return np.ascontiguousarray(differences.T).astype("<u8", copy=False).tobytes()
