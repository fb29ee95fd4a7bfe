"""A part of a system, explored with the machine code of the whole system: one kernel serves every slice.

The variables outside the part keep their initial values, whatever a step of the whole writes there. The part's actions
read only variables of the part, so its states and steps equal those of a system that is sliced and compiled alone. A
step that affects only the rest leads back to the state before the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import z3

from proofka.checker.kernel.layout import Layout, Words
from proofka.checker.kernel.native import Kernel
from proofka.model.language import TransitionSystem


@dataclass(frozen=True)
class Part:
    """Machine code of a whole system, and the bits of a packed state that belong to the part.

    ``layout``: the part's fields, in as many words as the whole has. ``kept``: for each word, a mask of the bits that
    belong to the part. ``rest``: for each word, the initial values of the other bits. ``predicates``: for each
    requested predicate, its bit in the answer of ``kernel``.
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
    """Return the part that is the whole system."""
    every = (1 << 64) - 1
    return Part(kernel, layout, (every,) * layout.words, (0,) * layout.words, tuple(range(len(predicates))))


def part_of(
    kernel: Kernel, layout: Layout, system: TransitionSystem, kept: TransitionSystem, predicates: Sequence[int]
) -> Part:
    """Return the part with the variables of ``kept``, of a compiled ``system`` with this layout.

    ``predicates``: as in :class:`Part`.
    """
    fields = {variable.name: layout.fields[variable.name] for variable in kept.variables}
    masks = [0] * layout.words
    for field in fields.values():
        masks[field.word] |= field.mask
    initial = [int(word) for word in layout.pack(system.initial)]
    rest = tuple(word & ~mask for word, mask in zip(initial, masks, strict=True))
    return Part(kernel, Layout(fields, layout.words, layout.first_half), tuple(masks), rest, tuple(predicates))
