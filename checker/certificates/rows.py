"""Sets of states as bytes: sorted, each row XORed with the row before, word by word (docs/certificates.md)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from proofka.checker.certificates.order import Order
from proofka.checker.kernel.visited import PARTITIONS
from proofka.checker.shard import Shard

Rows = NDArray[np.uint64]
"""Packed states, one row each."""

MEMBER_ROWS = 1 << 20
"""Largest number of rows of one member of the file."""


RankRow = NDArray[np.uint16]
"""The ranks of some rows."""


def members_of(
    shard: Shard, order: Order, mask: NDArray[np.uint64], ranks: list[RankRow] | None
) -> Iterator[tuple[Rows, RankRow | None]]:
    """Yield the states of a shard in sorted pieces, with their ranks; one empty piece for a shard without states.

    ``mask``: for each word, the bits that are written. ``ranks``: by partition, in the order found.
    """
    words = np.concatenate([shard.words(part) for part in range(PARTITIONS)])
    sort = order.sort(words)
    words = words[sort]
    sorted_ranks = None if ranks is None else np.concatenate(ranks)[sort]
    for first in range(0, max(len(words), 1), MEMBER_ROWS):
        piece = slice(first, first + MEMBER_ROWS)
        rows: Rows = shard.components.decode(words[piece])
        rows = rows[:, : len(mask)] & mask
        yield rows, None if sorted_ranks is None else sorted_ranks[piece]


def as_bytes(rows: Rows, ranks: RankRow | None) -> bytes:
    """Return rows in the form of a member: the differences of word 0, then those of word 1, and so on; then ranks."""
    differences = rows.copy()
    differences[1:] ^= rows[:-1]
    words = np.ascontiguousarray(differences.T).astype("<u8", copy=False).tobytes()
    return words if ranks is None else words + ranks.astype("<u2", copy=False).tobytes()
