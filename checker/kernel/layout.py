"""Where each variable lies in a packed state: a few 64-bit words, no field across a word boundary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.language import State, Variable

WORD_BITS = 64

Words = NDArray[np.uint64]
"""A packed state: one row of unsigned 64-bit words."""


@dataclass(frozen=True)
class Field:
    """A variable's place: its value minus its lowest, in ``width`` bits at ``shift`` of ``word``."""

    variable: Variable
    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.shift


@dataclass(frozen=True)
class Layout:
    """The fields of a packed state, by variable name, in ``words`` words."""

    fields: Mapping[str, Field]
    words: int

    def pack(self, state: State) -> Words:
        """The packed form of a concrete state."""
        row = [0] * self.words
        for name, field in self.fields.items():
            row[field.word] |= (state[name] - field.variable.low) << field.shift
        return np.array(row, dtype=np.uint64)

    def unpack(self, row: Words) -> dict[str, int]:
        """The concrete state of a packed row."""
        words = [int(word) for word in row]
        return {
            name: ((words[field.word] & field.mask) >> field.shift) + field.variable.low
            for name, field in self.fields.items()
        }


def lay_out(variables: Sequence[Variable]) -> Layout:
    """First fit, widest first: exact, and never wider than it must be by more than the gaps."""
    free: list[int] = []
    fields: dict[str, Field] = {}
    for variable in sorted(variables, key=lambda v: (v.low - v.high, v.name)):
        width = max(1, (variable.high - variable.low).bit_length())
        word = next((i for i, used in enumerate(free) if used + width <= WORD_BITS), len(free))
        if word == len(free):
            free.append(0)
        fields[variable.name] = Field(variable, word, free[word], width)
        free[word] += width
    return Layout(fields, max(1, len(free)))
