"""The parts of a certificate: each has the closed sets of one exploration, and the claims that rest on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from proofka.checker.certificates.text import SystemText
from proofka.checker.combinations import Combination, is_contained, layer, without_one
from proofka.checker.exploration import AnyExploration
from proofka.checker.kernel.layout import WORD_BITS, Field
from proofka.checker.timing.refinement import Lemma
from proofka.model.faults import COVERED_BY, Fault
from proofka.model.language import Action
from proofka.properties.verdict import CutSet


@dataclass(frozen=True)
class Smallest:
    """A smallest fault set, with the actions of its trace."""

    faults: CutSet
    actions: tuple[Action, ...]


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

    ``lemmas``: why some runs are impossible in time, if the system has flags that leave them out. ``unlimited``: the
    kinds of fault whose actions stay in each set, so that the claims are for any number of them.
    """

    exploration: AnyExploration
    system: str
    text: SystemText
    claims: tuple[Claim, ...]
    lemmas: tuple[Lemma, ...] = ()
    unlimited: tuple[str, ...] = ()

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The places of the kept variables in an exploration, in order; flags of lemmas stand in words of their own."""
        return (*sorted(self.exploration.layout.fields.values(), key=lambda one: (one.word, one.shift)), *self._flags())

    def _flags(self) -> Iterator[Field]:
        if not self.lemmas:
            return
        layout = self.exploration.layout
        flags = [variable for variable in self.text.variables if variable.name not in layout.fields]
        first = layout.words - (len(flags) + WORD_BITS - 1) // WORD_BITS
        for number, flag in enumerate(flags):
            word, bit = divmod(number, WORD_BITS)
            yield Field(flag, first + word, bit, 1)

    @cached_property
    def closed(self) -> tuple[Combination, ...]:
        """The combinations that were explored to the end, with all combinations that they contain, smallest first."""
        shards = self.exploration.shards
        found: dict[Combination, None] = {}
        for combination in sorted(shards, key=lambda one: (sum(one), one)):
            if shards[combination].closed and all(part in found for _, part in without_one(combination)):
                found[combination] = None
        return tuple(found)

    @property
    def covered(self) -> tuple[tuple[Fault, Fault], ...]:
        """The kinds of fault whose combinations rest on those of another kind, each with that kind."""
        kinds = self.exploration.kinds if self.exploration.infer else ()
        return tuple((kind, by) for kind, by in COVERED_BY.items() if kind in kinds and by in kinds)

    def is_evident(self, claim: Claim) -> bool:
        """Tell whether the part has evidence for each combination that a claim is about.

        A check that a limit stopped can have found a smallest fault set with more faults than the claim is about.
        """
        if any(sum(count for _, count in one.faults) > claim.up_to for one in claim.smallest):
            return False
        closed = set(self.closed)
        return all(
            self._is_enough(claim, combination) or not closed.isdisjoint({combination, self._covering(combination)})
            for size in range(claim.up_to + 1)
            for combination in layer(size, self.exploration.most)
        )

    def _covering(self, combination: Combination) -> Combination:
        """Return the combination with covering kinds in place of covered ones."""
        kinds, by = self.exploration.kinds, dict(self.covered)
        instead = Counter[Fault]()
        for kind, count in zip(kinds, combination, strict=True):
            instead[by.get(kind, kind)] += count
        return tuple(instead[kind] for kind in kinds)

    def _is_enough(self, claim: Claim, combination: Combination) -> bool:
        """Tell whether a combination contains one of the smallest fault sets of a claim."""
        kinds = self.exploration.kinds
        sets = (dict(one.faults) for one in claim.smallest)
        return any(is_contained([one.get(kind.value, 0) for kind in kinds], combination) for one in sets)

    @property
    def has_goal(self) -> bool:
        """Tell whether the members of the part have ranks, because a claim is about a goal."""
        return any(claim.is_goal for claim in self.claims)

    def is_ranked(self, combination: Combination) -> bool:
        """Tell whether a claim says that the goal is reached from every state of a combination."""
        return any(claim.is_goal and not self._is_enough(claim, combination) for claim in self.claims)
