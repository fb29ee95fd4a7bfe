"""The place of each variable in a packed state: a few 64-bit words, with no field across a word boundary."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proofka.model.language import Action, State, Variable

WORD_BITS = 64

CLIENT_LANES = frozenset({"producer", "consumer"})
"""The lanes of the actions of clients (see :class:`model.language.Action`)."""

Words = NDArray[np.uint64]
"""A packed state: one row of unsigned 64-bit words."""


@dataclass(frozen=True)
class Field:
    """A variable's place: its value minus its lowest value, in ``width`` bits at ``shift`` of ``word``."""

    variable: Variable
    word: int
    shift: int
    width: int

    @property
    def bit(self) -> int:
        """The place of the lowest bit in a state, counted from the lowest bit of the first word."""
        return WORD_BITS * self.word + self.shift

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.shift


@dataclass(frozen=True)
class Layout:
    """The fields of a packed state, by variable name, in ``words`` words.

    ``first_half``: the number of words in the first half of a state. None means half of the words, rounded down.
    """

    fields: Mapping[str, Field]
    words: int
    first_half: int | None = None

    @property
    def halves(self) -> tuple[int, int]:
        """Number of words in the first half of a state, and in the second half."""
        first = self.words // 2 if self.first_half is None else self.first_half
        return first, self.words - first

    def pack(self, state: State) -> Words:
        """Return the packed form of a concrete state."""
        row = [0] * self.words
        for name, field in self.fields.items():
            row[field.word] |= (state[name] - field.variable.low) << field.shift
        return np.array(row, dtype=np.uint64)

    def unpack(self, row: Words) -> dict[str, int]:
        """Return the concrete state of a packed row."""
        words = [int(word) for word in row]
        return {name: (words[word] >> shift & ones) + low for name, word, shift, ones, low in self._reading}

    @cached_property
    def _reading(self) -> list[tuple[str, int, int, int, int]]:
        """The name, word, shift, mask behind the shift, and lowest value of each field."""
        return [
            (name, field.word, field.shift, (1 << field.width) - 1, field.variable.low)
            for name, field in self.fields.items()
        ]


def lay_out(variables: Sequence[Variable], apart: Collection[str] = frozenset()) -> Layout:
    """Lay out variables, widest first, each in the first word with room.

    The layout wastes no bits except the gaps at the ends of words. If one word is not enough, the variables named in
    ``apart`` lie in words of their own, behind the others.
    """
    ordered = sorted(variables, key=lambda v: (v.low - v.high, v.name))
    fields: dict[str, Field] = {}
    words = _place(ordered, 0, fields)
    together = [variable for variable in ordered if variable.name not in apart]
    if words <= 1 or len(together) in (0, len(ordered)):
        return Layout(fields, max(1, words))
    fields.clear()
    first_half = _place(together, 0, fields)
    words = _place([variable for variable in ordered if variable.name in apart], first_half, fields)
    return Layout(fields, words, first_half)


def extended(layout: Layout, variables: Sequence[Variable]) -> Layout:
    """Return a layout with these variables: variables of ``layout`` keep their places, others follow in new words."""
    fields = dict(layout.fields)
    others = [variable for variable in variables if variable.name not in fields]
    words = _place(sorted(others, key=lambda v: (v.low - v.high, v.name)), layout.words, fields)
    return Layout(fields, words, max(1, layout.halves[0]))


def _place(variables: Sequence[Variable], first: int, fields: dict[str, Field]) -> int:
    """Give each variable a field in the words from ``first`` on; return the number of the next free word."""
    used: list[int] = []
    for variable in variables:
        width = max(1, (variable.high - variable.low).bit_length())
        word = next((i for i, bits in enumerate(used) if bits + width <= WORD_BITS), len(used))
        if word == len(used):
            used.append(0)
        fields[variable.name] = Field(variable, first + word, used[word], width)
        used[word] += width
    return first + len(used)


def written_by_clients(actions: Iterable[Action]) -> set[str]:
    """Return the names of the variables that steps of producer or consumer write: their states, and the requests."""
    return {variable.name for action in actions if action.lane in CLIENT_LANES for variable in action.updates}
