"""The sets of a part: their members of the file, and their lines of the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

import numpy as np

from proofka.checker.certificates.archive import Archive
from proofka.checker.certificates.order import Order
from proofka.checker.certificates.packed import PacksSets
from proofka.checker.certificates.part import Part
from proofka.checker.certificates.ranks import Ranks, ranks_of
from proofka.checker.certificates.rows import Closing, as_bytes, members_of
from proofka.checker.certificates.text import quoted
from proofka.checker.combinations import Combination, smaller
from proofka.checker.embedded import EmbeddedExploration
from proofka.properties.verdict import CutSet


def set_lines(number: int, part: Part, archive: Archive, pool: ThreadPoolExecutor) -> Iterator[str]:
    """Write the sets of a part into the archive, and yield their lines. ``number``: of the part in the file."""
    exploration = part.exploration
    if isinstance(exploration, EmbeddedExploration):
        yield from _InMemory(number, part, exploration, archive).lines(pool)
        return
    assert isinstance(exploration, PacksSets), "every other engine packs its sets itself"
    yield from _elsewhere(number, part, exploration, archive)


def faults_in(cut_set: CutSet) -> str:
    """Return a fault set as an S-expression: each kind as often as its faults happen."""
    return f"({' '.join(kind for kind, count in cut_set for _ in range(count))})"


def _name_of(number: int, place: int) -> str:
    """Return what the names of the members of a set begin with."""
    return f"{number}/{place}"


def _lines(part: Part, combination: Combination, members: Iterable[str]) -> list[str]:
    """Return the lines of a set. ``members``: the name of each."""
    rows = (f"(rows {quoted(member)})" for member in members)
    return [f"(set {faults_in(part.exploration.named(combination))})", *rows]


def _elsewhere(number: int, part: Part, exploration: PacksSets, archive: Archive) -> Iterator[str]:
    assert not Closing(part.fields).moves, "the tasks pack the rows of an exploration as they are"
    names = {combination: _name_of(number, place) for place, combination in enumerate(part.closed)}
    ranked = [one for one in part.closed if part.is_ranked(one)] if part.has_goal else None
    for combination, members in exploration.packed_sets(names, ranked).items():
        for member in members:
            archive.add_packed(member)
        yield from _lines(part, combination, (member.name for member in members))


class _InMemory:
    """The sets of an exploration in the memory of this process. Sets of one layer are written together."""

    def __init__(self, number: int, part: Part, exploration: EmbeddedExploration, archive: Archive) -> None:
        self._number = number
        self._part = part
        self._exploration = exploration
        self._archive = archive
        self._order = Order.of(exploration.components)
        self._closing = Closing(part.fields)
        self._ranks: dict[Combination, Ranks] = {}

    def lines(self, pool: ThreadPoolExecutor) -> Iterator[str]:
        places = {combination: place for place, combination in enumerate(self._part.closed)}
        for _, layer in groupby(self._part.closed, key=sum):
            for lines in pool.map(lambda combination: self._set(places[combination], combination), list(layer)):
                yield from lines

    def _set(self, place: int, combination: Combination) -> list[str]:
        """Write a set after the sets of all contained combinations, and return its lines."""
        shard = self._exploration.shards[combination]
        ranks = None
        if self._part.is_ranked(combination):
            below = [(self._exploration.shards[one], self._ranks[one]) for one in smaller(combination)]
            ranks = self._ranks[combination] = ranks_of(self._exploration, shard, below)
        elif self._part.has_goal:
            ranks = [np.zeros(int(count), dtype=np.uint16) for count in shard.counts]
        members = []
        for piece, (rows, ranked) in enumerate(members_of(shard, self._order, self._closing, ranks)):
            members.append(f"{_name_of(self._number, place)}.{piece}")
            self._archive.add(members[-1], as_bytes(rows, ranked))
        return _lines(self._part, combination, members)
