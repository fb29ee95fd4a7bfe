"""The parts of a certificate: each has the closed sets of one exploration, and the claims that rest on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from checker.certificates.text import SystemText
from checker.combinations import Combination, layer, without_one
from checker.embedded import EmbeddedExploration
from checker.kernel.layout import WORD_BITS, Field, Layout
from checker.timing.refinement import Lemma
from model.faults import COVERED_BY
from model.language import Action, State
from properties.verdict import CutSet


@dataclass(frozen=True)
class Smallest:
    """A smallest fault set, with the actions of its trace. ``stuck_from``: for a goal, the last state of the trace."""

    faults: CutSet
    actions: tuple[Action, ...]
    stuck_from: State | None = None


@dataclass(frozen=True)
class Claim:
    """A claim on a property: ``up_to`` faults in total, the smallest fault sets, and a run to the witness."""

    property: str
    is_goal: bool
    id: str
    up_to: int
    smallest: tuple[Smallest, ...]
    witness: tuple[Action, ...] | None


@dataclass(frozen=True)
class Part:
    """An exploration with claims about a system, whose ``text`` is the member ``system`` of the file.

    ``lemmas``: why some runs are impossible in time, if the system has flags that leave them out.
    """

    exploration: EmbeddedExploration
    system: str
    text: SystemText
    claims: tuple[Claim, ...]
    lemmas: tuple[Lemma, ...] = ()

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The places of the kept variables in a row, in order; the flags of lemmas stand in words of their own."""
        layout = self.exploration.layout
        fields = sorted(layout.fields.values(), key=lambda field: (field.word, field.shift))
        flags = [variable for variable in self.text.variables if variable.name not in layout.fields] * bool(self.lemmas)
        first = layout.words - (len(flags) + WORD_BITS - 1) // WORD_BITS
        places = (divmod(number, WORD_BITS) for number in range(len(flags)))
        own = (Field(flag, first + word, bit, 1) for flag, (word, bit) in zip(flags, places, strict=True))
        return (*fields, *own)

    @cached_property
    def layout(self) -> Layout:
        """The places of the kept variables, by name."""
        return Layout({field.variable.name: field for field in self.fields}, self.exploration.layout.words)

    @cached_property
    def mask(self) -> NDArray[np.uint64]:
        """The bits of the fields, for each word of a row."""
        words = [0] * self.layout.words
        for field in self.fields:
            words[field.word] |= field.mask
        return np.array(words, dtype=np.uint64)

    @cached_property
    def closed(self) -> tuple[Combination, ...]:
        """The combinations that were explored to the end, with all combinations that they contain, smallest first."""
        found: set[Combination] = set()
        for combination in sorted(self.exploration.shards, key=lambda one: (sum(one), one)):
            shard = self.exploration.shards[combination]
            if shard.closed and all(part in found for _, part in without_one(combination)):
                found.add(combination)
        return tuple(sorted(found, key=lambda one: (sum(one), one)))

    @property
    def covered(self) -> tuple[tuple[str, str], ...]:
        """The kinds of fault whose combinations rest on those of another kind, each with that kind."""
        if not self.exploration.infer:
            return ()
        kinds = self.exploration.kinds
        return tuple((kind.value, by.value) for kind, by in COVERED_BY.items() if kind in kinds and by in kinds)

    def is_evident(self, claim: Claim) -> bool:
        """Tell whether the part has evidence for each combination that a claim is about."""
        kinds, closed = self.exploration.kinds, set(self.closed)
        covered = dict(self.covered)
        for size in range(claim.up_to + 1):
            for combination in layer(size, self.exploration.most):
                named = dict(self.exploration.named(combination))
                if any(is_within(one.faults, named) for one in claim.smallest) or combination in closed:
                    continue
                instead = Counter[str]()
                for kind, count in named.items():
                    instead[covered.get(kind, kind)] += count
                if tuple(instead[kind.value] for kind in kinds) not in closed:
                    return False
        return True

    def is_ranked(self, combination: Combination) -> bool:
        """Tell whether a claim says that the goal is reached from every state of a combination."""
        named = dict(self.exploration.named(combination))
        return any(
            claim.is_goal and not any(is_within(one.faults, named) for one in claim.smallest) for claim in self.claims
        )


def is_within(faults: CutSet, others: Mapping[str, int]) -> bool:
    """Tell whether a fault set is contained in another one."""
    return all(count <= others.get(kind, 0) for kind, count in faults)
