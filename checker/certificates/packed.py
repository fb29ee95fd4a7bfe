"""Closed sets that the tasks of another engine have written as packed members, each in a file of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from checker.combinations import Combination
from checker.zip_members import Member

Packed = tuple[Member, Path]
"""The header of a member without its place, and the file with its packed bytes."""


@dataclass(frozen=True)
class PackedMember:
    """A number of rows, the member with these rows, and the member with their ranks, if they have ranks."""

    count: int
    rows: Packed
    ranks: Packed | None


@dataclass(frozen=True)
class PackedSet:
    """The number of states of a set, and its members."""

    count: int
    members: tuple[PackedMember, ...]


@runtime_checkable
class PacksSets(Protocol):
    """An exploration whose states are not in the memory of this process, and that packs them where they are."""

    def packed_sets(
        self, names: Mapping[Combination, str], ranked: Collection[Combination]
    ) -> Mapping[Combination, PackedSet]:
        """Return the sets of some combinations, whose members have names that begin with ``names``.

        The sets in ``ranked`` have ranks.
        """
