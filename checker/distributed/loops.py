"""The arrays that the compiled loops of :mod:`checker.kernel.closing` work in."""

from __future__ import annotations

import numpy as np

from checker.kernel import closing
from checker.kernel.closing import Boxes, Tally

ENTRIES = 4096
"""Successors that wait in a box: what is expanded between two looks at the table stays in the cache."""


def new_boxes(words: int, most_successors: int) -> Boxes:
    """Empty boxes for states of so many words, of which none has more successors."""
    most = most_successors + 1
    entries = max(ENTRIES, 2 * most)
    return Boxes(
        words,
        most,
        np.empty((2, entries * (words + 2)), dtype=np.uint64),
        np.zeros(2, dtype=np.int64),
        np.empty(most * (words + 1), dtype=np.uint64),
        np.zeros(closing.SPOTS, dtype=np.int64),
    )


def entries_of(boxes: Boxes) -> int:
    """How many entries a box holds."""
    return int(boxes.entries.shape[1] // (boxes.words + 2))


def new_tally(inspect: int, predicates: int, *, counted: bool) -> Tally:
    """A tally that counts everything by the machine code at ``inspect``; with ``counted`` also how often it held."""
    return Tally(
        inspect,
        np.zeros(closing.MOST_DEPTH, dtype=np.int64),
        np.zeros(closing.MOST_DEPTH, dtype=np.int64),
        np.zeros(predicates, dtype=np.int64),
        np.full(predicates, -1, dtype=np.int64),
        np.zeros(predicates if counted else 0, dtype=np.int64),
    )


def no_tally() -> Tally:
    """A tally that counts nothing but transitions."""
    return new_tally(0, 0, counted=False)
