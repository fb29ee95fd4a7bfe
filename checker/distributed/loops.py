"""Arrays for the compiled loops of :mod:`checker.kernel.closing`, which expand the states of one partition.

The loops collect successors in *boxes* before they look them up in the table of states, and count in a *tally*.
Compiled code cannot grow an array, so the arrays are made here, large enough for a whole box.
"""

from __future__ import annotations

import numpy as np

from proofka.checker.kernel import closing
from proofka.checker.kernel.closing import Boxes, Tally

ENTRIES = 4096
"""Number of successors in a box: so few that a box stays in the processor's cache between two accesses to the table."""


def new_boxes(words: int, most_successors: int) -> Boxes:
    """Return empty boxes for states of ``words`` words with at most ``most_successors`` successors."""
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
    """Return the number of entries of a box."""
    return int(boxes.entries.shape[1] // (boxes.words + 2))


def new_tally(inspect: int, predicates: int, *, counted: bool) -> Tally:
    """Return a tally that counts by the machine code at ``inspect``; with ``counted`` also the states of each
    predicate.
    """
    return Tally(
        inspect,
        np.zeros(closing.MOST_DEPTH, dtype=np.int64),
        np.zeros(closing.MOST_DEPTH, dtype=np.int64),
        np.zeros(predicates, dtype=np.int64),
        np.full(predicates, -1, dtype=np.int64),
        np.zeros(predicates if counted else 0, dtype=np.int64),
    )


def no_tally() -> Tally:
    """Return a tally that counts only transitions."""
    return new_tally(0, 0, counted=False)
