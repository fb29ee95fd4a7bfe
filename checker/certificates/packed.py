"""Closed sets that the tasks of another engine have written as packed members, each in a file of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

from proofka.checker.certificates.archive import Member
from proofka.checker.combinations import Combination


@runtime_checkable
class PacksSets(Protocol):
    """An exploration whose states are not in the memory of this process, and that packs them where they are."""

    def packed_sets(
        self, names: Mapping[Combination, str], ranked: Collection[Combination] | None
    ) -> Mapping[Combination, Sequence[Member]]:
        """Return the members of the sets of some combinations, with names that begin with ``names``.

        The sets in ``ranked`` have ranks, and the ranks of the others are 0; with None no member has ranks.
        """
