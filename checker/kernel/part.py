"""A part of a system, explored with the machine code of the whole: one kernel serves every slice.

The variables outside the part keep their initial values, whatever a step of the whole writes there. What the part's
actions read lies inside the part, so its states and steps are those of a system that was sliced and compiled by itself;
a step that only concerns the rest leads back to the state that it left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import z3

from checker.kernel.layout import Layout, Words
from checker.kernel.native import Kernel
from model.language import TransitionSystem


@dataclass(frozen=True)
class Part:
    """Machine code of a whole system, and what of a packed state belongs to the part.

    ``layout``: the part's fields, in as many words as the whole has. ``kept``: a mask for each word, of the bits that
    belong to the part; ``rest``: for each word the bits of the others, as they are in the initial state.
    ``predicates``: for each predicate that is asked the bit by which ``kernel`` answers.
    """

    kernel: Kernel
    layout: Layout
    kept: tuple[int, ...]
    rest: tuple[int, ...]
    predicates: tuple[int, ...]

    def initial_row(self, system: TransitionSystem) -> Words:
        """Pack the initial state of the part, with the rest beside it."""
        row = self.kernel.canonical(self.layout.pack(system.initial))
        row |= np.array(self.rest, dtype=np.uint64)
        return row


def whole(kernel: Kernel, layout: Layout, predicates: Sequence[z3.BoolRef]) -> Part:
    """Take a system whole: nothing lies outside."""
    every = (1 << 64) - 1
    return Part(kernel, layout, (every,) * layout.words, (0,) * layout.words, tuple(range(len(predicates))))


def part_of(
    kernel: Kernel, layout: Layout, system: TransitionSystem, kept: TransitionSystem, predicates: Sequence[int]
) -> Part:
    """Keep the variables of ``kept`` of a compiled ``system`` with this layout; ``predicates`` as in :class:`Part`."""
    fields = {variable.name: layout.fields[variable.name] for variable in kept.variables}
    masks = [0] * layout.words
    for field in fields.values():
        masks[field.word] |= field.mask
    initial = [int(word) for word in layout.pack(system.initial)]
    rest = tuple(word & ~mask for word, mask in zip(initial, masks, strict=True))
    return Part(kernel, Layout(fields, layout.words, layout.first_half), tuple(masks), rest, tuple(predicates))
