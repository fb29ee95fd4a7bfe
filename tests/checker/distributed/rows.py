"""Rows of made-up states, entered into a region as a superstep would, and a plain model of what it holds then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from proofka.checker.distributed import loops
from proofka.checker.distributed.loops import entries_of, new_boxes, no_tally
from proofka.checker.distributed.region import Region
from proofka.checker.kernel import backward_closing, closing
from proofka.checker.kernel.closing import DEPTH_SHIFT, REGION_COLUMNS

NOWHERE = np.empty((0, REGION_COLUMNS), dtype=np.int64)
Found = tuple[int, int]
"""A state, by a number, and the depth at which it is found."""


def packed(state: int, words: int) -> list[int]:
    """Return a state of ``words`` words; every word differs from state to state."""
    return [(state * 0x9E3779B97F4A7C15 + word * 0xABCDEF) % (1 << 64) for word in range(words)]


def rows_of(found: Iterable[Found], words: int) -> NDArray[np.uint64]:
    """Return rows as files have them: the packed state, and an origin of the depth and a number that distinguishes
    rows."""
    rows = [[*packed(state, words), depth << DEPTH_SHIFT | number] for number, (state, depth) in enumerate(found)]
    return np.array(rows, dtype=np.uint64).reshape(len(rows), words + 1)


def enter(region: Region, rows: NDArray[np.uint64], *, at_once: int = 8) -> None:
    """Enter rows, in the order of their depth, making room as it is needed."""
    with patch.object(loops, "ENTRIES", at_once):
        boxes = new_boxes(region.words, 1)
    at = 0
    while at < len(rows):
        region.reserve(entries_of(boxes))
        at = int(closing.enter_rows(rows.ctypes.data, at, len(rows), region.place, NOWHERE, boxes, no_tally()))


def is_found(region: Region, states: Sequence[int]) -> list[bool]:
    """Tell for each state whether the table leads to it."""
    questions = rows_of([(state, 0) for state in states], region.words)
    answers = np.zeros(len(states), dtype=np.int64)
    everything = np.ones(region.count, dtype=np.uint16)
    no_marks = np.empty(0, dtype=np.int64)
    missing = backward_closing.answer(questions, region.place, everything, NOWHERE, no_marks, answers)
    assert missing == len(states) - answers.sum()
    return [bool(answer) for answer in answers]


@dataclass
class Model:
    """A model of a region: rows that are only appended, and of each state the row that counts."""

    rows: list[tuple[int, int, int]] = field(default_factory=list)
    """State, depth, and the number that tells rows apart."""
    replaced: list[tuple[int, int]] = field(default_factory=list)
    """The new row, and the one that it took the place of."""

    @property
    def last(self) -> dict[int, int]:
        """The row that counts, of each state."""
        return {state: row for row, (state, _, _) in enumerate(self.rows)}

    def copy(self) -> Model:
        return Model(list(self.rows), list(self.replaced))

    def enter(self, found: Sequence[Found], known: int) -> None:
        """``known``: how many rows there were before this superstep."""
        for number, (state, depth) in enumerate(found):
            row = self.last.get(state)
            if row is not None:
                if row >= known or self.rows[row][1] <= depth:
                    continue
                self.replaced.append((len(self.rows), row))
            self.rows.append((state, depth, number))

    def assert_equals(self, region: Region) -> None:
        """Assert equal rows, replacements and numbers, and that the table leads to every state and to no other."""
        expected = [[*packed(state, region.words), depth << DEPTH_SHIFT | number] for state, depth, number in self.rows]
        assert region.rows().tolist() == expected
        pairs = [(int(pair) >> 32, int(pair) & 0xFFFFFFFF) for pair in region.replaced()]
        assert pairs == self.replaced
        assert (region.count, region.states) == (len(self.rows), len(self.last))
        dead = {old for _, old in self.replaced}
        assert region.dead().tolist() == ([int(row in dead) for row in range(len(self.rows))] if dead else [])
        assert is_found(region, [*self.last, 10**6, 10**6 + 1]) == [True] * len(self.last) + [False, False]
