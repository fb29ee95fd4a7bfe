"""Backward reachability without clocks: the states from which a violation is still reachable.

Clocks only exclude runs. If no run without clocks leads from a state to a violation, with the faults that are left, no
timed run does either. So a timed re-exploration can skip the state (docs/reductions.md). The exploration without clocks
has already stored every such state. Its steps are made again, and followed backward from the violations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from proofka.checker.breadth_first import sources_of
from proofka.checker.budget import PartMeter
from proofka.checker.combinations import Combination, is_contained, smaller
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import AnyExploration
from proofka.checker.kernel.layout import Layout
from proofka.checker.kernel.predecessors import (
    NOT_STORED,
    Numbers,
    Steps,
    by_target,
    mark_all_before,
    mark_sources,
    new_room,
    predicates_of,
    steps_from,
)
from proofka.checker.kernel.visited import COUNT, PARTITIONS
from proofka.checker.kernel.wanted import Names, Wanted, names_of_marked, table_of
from proofka.checker.timing.timed_kernel import TimedKernel
from proofka.model.faults import Fault

BYTES_OF_A_STATE = 160
"""Bytes of memory for a state while its fault set is marked: about six steps, by source and by target, and its
marks."""

MOST_STATES = np.iinfo(np.int32).max
"""Largest number of states of a fault set and its parts: steps have the numbers of their states in 32 bits."""

LEAST_TO_THE_END, SHARE_TO_THE_END = 1_000_000, 4
"""States that a search beyond the first violations can find: at least this number, plus SHARE_TO_THE_END times the
states found before."""

STEPS_AT_ONCE = 1 << 16
"""Number of steps that are written into one array."""

Faults = Mapping[Fault, int]
Marks = NDArray[np.uint64]


class BackwardReachability:
    """The states of an ``exploration`` without clocks from which its violations are reachable, computed on demand.

    Bits of marks are the bits of the exploration's predicates. A fault set whose search ended at the first violations
    lacks states, so it is explored again to its end.
    """

    def __init__(self, exploration: EmbeddedExploration, threads: int) -> None:
        self._exploration = exploration
        self._threads = threads
        self._known: dict[Combination, _Marked] = {}
        self._tables: dict[str, _Tables] = {}
        self._too_large: set[Combination] = set()

    def combination_of(self, faults: Faults) -> Combination:
        """Return the part of some faults that the exploration knows."""
        return tuple(faults.get(kind, 0) for kind in self._exploration.kinds)

    def has_marked(self, fault_sets: Iterable[Faults]) -> bool:
        """Tell whether all these fault sets are already marked."""
        return all(self.combination_of(faults) in self._known for faults in fault_sets)

    def states_of(self, fault_sets: Iterable[Faults]) -> int:
        """Return the number of states found with these fault sets."""
        tops = {self.combination_of(faults) for faults in fault_sets}
        return sum(shard.count for top in tops if (shard := self._exploration.shards.get(top)) is not None)

    def wanted(self, name: str, fault_sets: Sequence[Faults], layout: Layout, kinds: Sequence[Fault]) -> Wanted:
        """Return the states from which ``name`` can be violated within one of these fault sets; all states at a limit.

        ``layout``: the layout of the states to test, which begin with the words of the exploration's states. ``kinds``:
        the kinds of the faults in their combinations.
        """
        own = self._exploration.layout
        mask = np.zeros(own.words, dtype=np.uint64)
        for field in (own.fields[variable] for variable in own.fields.keys() & layout.fields.keys()):
            mask[field.word] |= np.uint64(field.mask)
        tables = self._tables_for(name, fault_sets, mask, kinds)
        return Wanted() if tables is None else Wanted(mask, tables)

    def _tables_for(
        self, name: str, fault_sets: Sequence[Faults], mask: NDArray[np.uint64], kinds: Sequence[Fault]
    ) -> Mapping[Combination, Names] | None:
        """Return a table for each part of a fault set, counted in ``kinds``."""
        tops = frozenset(self.combination_of(faults) for faults in fault_sets)
        made = self._tables.get(name)
        if made is not None and tops <= made.fault_sets and made.mask.tobytes() == mask.tobytes():
            return made.tables
        if not self._mark(tops):
            return None
        bit = np.uint64(1 << list(self._exploration.question.invariants).index(name))
        names: dict[Combination, list[Names]] = {}
        for faults in fault_sets:
            marked = self._known[self.combination_of(faults)]
            for used in _parts_of(faults):
                found = names.setdefault(tuple(used.get(kind, 0) for kind in kinds), [])
                # Faults that the exploration does not know change nothing in its states.
                found += marked.names(self.combination_of(used), bit, mask)
        tables = {used: table_of(np.concatenate(found)) for used, found in names.items()}
        self._tables[name] = _Tables(tops, mask, tables)
        return tables

    def _mark(self, fault_sets: Iterable[Combination]) -> bool:
        """Mark the states of these fault sets and of their parts; tell whether all were marked."""
        new = [top for top in fault_sets if top not in self._known]
        if not self._too_large.isdisjoint(new):
            return False
        partly = [top for top in new if not all(_is_whole(self._exploration, part) for part in [*smaller(top), top])]
        # The largest fault set goes first, so that no thread ends alone with a large one.
        new.sort(key=lambda top: (-self._states_within(top), top))
        again = self._explored_to_the_end(partly) if partly else self._exploration
        if again is None:
            self._too_large.update(partly)
            return False
        # Several fault sets are marked in parallel; for a single fault set, all threads read its steps.
        threads = self._threads if len(new) == 1 else 1

        def marked(top: Combination) -> _Marked | None:
            exploration = again if top in partly else self._exploration
            graph = _Graph(exploration, sorted([*smaller(top), top], key=lambda part: (sum(part), part)))
            room = exploration.meter.room // (BYTES_OF_A_STATE * self._threads)
            if graph.states > min(room, MOST_STATES) or not graph.read(threads):
                return None
            marks = graph.marks(top)
            return None if marks is None else _Marked(exploration, marks)

        with ThreadPoolExecutor(self._threads) as pool:
            found = dict(zip(new, pool.map(marked, new), strict=True))
        self._known |= {top: marks for top, marks in found.items() if marks is not None}
        return all(top in self._known for top in new)

    def _states_within(self, top: Combination) -> int:
        """Return the number of states found with a fault set or a part of it."""
        shards = self._exploration.shards
        return sum(shards[part].count for part in [*smaller(top), top] if part in shards)

    def _most_to_the_end(self, fault_sets: Iterable[Combination]) -> int:
        """Return the largest number of states for which continuing a search beyond its first violations is
        worthwhile.
        """
        found = sum(shard.count for top in fault_sets if (shard := self._exploration.shards.get(top)) is not None)
        return LEAST_TO_THE_END + SHARE_TO_THE_END * found

    def _explored_to_the_end(self, fault_sets: Sequence[Combination]) -> EmbeddedExploration | None:
        """Explore fault sets beyond their first violations; return None if a limit was reached first."""
        first = self._exploration

        def is_part(_: object, combination: Combination) -> bool:
            return any(is_contained(combination, top) for top in fault_sets)

        whole = EmbeddedExploration(
            first.system,
            first.question,
            dict(zip(first.kinds, first.most, strict=True)),
            PartMeter(first.meter, self._most_to_the_end(fault_sets), "timed re-exploration"),
            self._threads,
            infer=False,
            counted=True,
            optimised=first.optimised,
            unlimited=first.unlimited,
            part=first.part,
            only=is_part,
        )
        assert isinstance(whole.meter, PartMeter)
        whole.kernel = first.kernel
        while len(whole.layers) <= max(map(sum, fault_sets)):
            known = whole.states
            stopped = whole.explore_layer().stopped
            # These states are extra work, so they do not count against a limit of states.
            first.meter.grow(known - whole.states, 0)
            if stopped is not None:
                whole.meter.release()
                return None
            for violations in whole.violations.values():
                for violation in violations:
                    whole.set_aside(violation)
        return whole


def _is_whole(exploration: EmbeddedExploration, combination: Combination) -> bool:
    """Tell whether a combination was explored to its end, beyond its first violations."""
    shard = exploration.shards.get(combination)
    if shard is None or not shard.complete:
        return False
    depths = [source.shard.depth for source in sources_of(exploration, shard)]
    return all(shard.depth_done > depth for depth in depths)


@dataclass(frozen=True)
class _Tables:
    """The tables of a property for these fault sets. The tables serve parts of the fault sets as well."""

    fault_sets: frozenset[Combination]
    mask: NDArray[np.uint64]
    tables: Mapping[Combination, Names]


@dataclass(frozen=True)
class _Marked:
    """The marks of the states of a fault set and of its parts, by the used faults.

    A state is marked if a violation is reachable with the remaining faults of the fault set.
    """

    exploration: EmbeddedExploration
    marks: Mapping[Combination, Mapping[Combination, Marks]]

    def names(self, used: Combination, bit: np.uint64, mask: NDArray[np.uint64]) -> list[Names]:
        """Return the names of the states with a mark, after these faults were used, by partition."""
        exploration = self.exploration
        scratch = np.empty(exploration.layout.words, dtype=np.uint64)
        dictionaries = exploration.components.dictionaries
        found = []
        for combination, marks in self.marks[used].items():
            places, begin = exploration.shards[combination].places, 0
            for part in range(PARTITIONS):
                end = begin + int(places[part, COUNT])
                found.append(names_of_marked(dictionaries, places, part, marks[begin:end], bit, mask, scratch))
                begin = end
        return found


class Backwards:
    """The backward reachability of the exploration ``of``, if its states can be compared with timed states."""

    def __init__(self, of: AnyExploration | None = None) -> None:
        self._of = of if isinstance(of, EmbeddedExploration) and of.canonical is None else None
        self._reachability: BackwardReachability | None = None

    def of(self, exploration: AnyExploration, kernel: TimedKernel, threads: int) -> BackwardReachability | None:
        """Return the backward reachability of an exploration; None if its states are not the first words of those of
        ``kernel``.
        """
        if exploration is not self._of or not kernel.begins_with(exploration.layout):
            return None
        if self._reachability is None:
            self._reachability = BackwardReachability(self._of, threads)
        return self._reachability


class _Graph:
    """The states of some combinations, numbered consecutively, and the steps between them."""

    def __init__(self, exploration: EmbeddedExploration, parts: Sequence[Combination]) -> None:
        self._exploration = exploration
        self._parts = parts
        self._kernel = exploration.kernel
        self._firsts: dict[Combination, NDArray[np.int64]] = {}
        self.states = 0
        for part in parts:
            counts = exploration.shards[part].counts
            self._firsts[part] = self.states + np.concatenate([[0], np.cumsum(counts)[:-1]])
            self.states += int(counts.sum())
        self._steps: list[tuple[Numbers, Numbers]] = []
        self._faults: dict[int, list[tuple[Numbers, Numbers]]] = {kind: [] for kind in range(len(exploration.kinds))}

    def read(self, threads: int) -> bool:
        """Make every step again; tell whether all of them lead to states of these combinations."""
        with ThreadPoolExecutor(threads) as pool:
            return all(pool.map(lambda one: self._read(*one), list(self._sources())))

    def _sources(self) -> Iterator[tuple[Combination, int, str, Combination, int | None]]:
        """Yield rows to expand: combination and partition, function, target combination, kind of fault."""
        exploration = self._exploration
        for combination in self._parts:
            for part in range(PARTITIONS):
                for function in exploration.own_functions:
                    yield combination, part, function, combination, None
                for kind, fault in enumerate(exploration.kinds):
                    target = (*combination[:kind], combination[kind] + 1, *combination[kind + 1 :])
                    if target in self._firsts:
                        yield combination, part, fault.value, target, kind

    def _read(self, source: Combination, part: int, function: str, target: Combination, kind: int | None) -> bool:
        exploration = self._exploration
        into = [target, *smaller(target)]
        words, most = exploration.layout.words, self._kernel.most
        steps = Steps(
            self._kernel.addresses[function],
            words,
            exploration.components.dictionaries,
            np.array([exploration.shards[one].places for one in into]),
            np.array([self._firsts[one] for one in into]),
        )
        room = new_room(words, most, max(STEPS_AT_ONCE, most))
        places, first = exploration.shards[source].places, int(self._firsts[source][part])
        found = self._steps if kind is None else self._faults[kind]
        row = 0
        while row < places[part, COUNT]:
            if exploration.meter.out_of_time_for_clocks(sum(self._parts[-1])) is not None:
                return False
            row, count = steps_from(steps, places, part, first, row, room)
            if row == NOT_STORED:
                return False
            found.append((room.sources[:count].copy(), room.targets[:count].copy()))
        return True

    def marks(self, top: Combination) -> Mapping[Combination, Mapping[Combination, Marks]] | None:
        """Return, for each part of ``top``, the marks of its states and of its parts' states, with the other faults
        left.

        Return None after a request to stop, and when the time is over.
        """
        begin, before = by_target(self._steps, self.states)
        self._steps.clear()
        faults = [_joined(steps) for steps in self._faults.values()]
        violated = self._violated()
        reached: dict[Combination, Marks] = {}
        for left in sorted([*smaller(top), top], key=sum):
            if self._exploration.meter.out_of_time_for_clocks(sum(top)) is not None:
                return None
            # With faults left, a state does not belong to the largest part, whose states are numbered last.
            size = int(self._firsts[top][0]) if any(left) else self.states
            marks = violated[:size].copy()
            for kind, count in enumerate(left):
                if count:
                    less = reached[(*left[:kind], count - 1, *left[kind + 1 :])]
                    marks |= less[:size]
                    mark_sources(*faults[kind], less, marks)
            mark_all_before(begin, before, marks)
            reached[left] = marks
        found: dict[Combination, dict[Combination, Marks]] = {}
        for left, marks in reached.items():
            used = tuple(whole - part for whole, part in zip(top, left, strict=True))
            found[used] = {one: self._of(one, marks).copy() for one in [used, *smaller(used)]}
        return found

    def _of(self, combination: Combination, marks: Marks) -> Marks:
        first = int(self._firsts[combination][0])
        return marks[first : first + self._exploration.shards[combination].count]

    def _violated(self) -> Marks:
        """Return the invariants that each state violates, as marks."""
        exploration = self._exploration
        invariants = len(exploration.question.invariants)
        marks = np.zeros(self.states, dtype=np.uint64)
        scratch = np.empty(exploration.layout.words, dtype=np.uint64)
        dictionaries, inspect = exploration.components.dictionaries, self._kernel.addresses["inspect"]
        for combination, firsts in self._firsts.items():
            shard = exploration.shards[combination]
            for part in range(PARTITIONS):
                seen = [int(row) for row in shard.first_seen[part, :invariants] if row >= 0]
                if seen:
                    first, count = int(firsts[part]), int(shard.places[part, COUNT])
                    own = marks[first : first + count]
                    predicates_of(inspect, dictionaries, shard.places, part, min(seen), scratch, own)
        marks &= np.uint64((1 << invariants) - 1)
        return marks


def _joined(arrays: Sequence[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    """Join arrays of sources and of targets."""
    none = np.empty(0, dtype=np.int32)
    return np.concatenate([none, *(one for one, _ in arrays)]), np.concatenate([none, *(one for _, one in arrays)])


def _parts_of(faults: Faults) -> Iterator[Faults]:
    """Yield every fault set that is contained in this one, including the fault set itself."""
    kinds = list(faults)
    for counts in product(*(range(faults[kind] + 1) for kind in kinds)):
        yield Counter({kind: count for kind, count in zip(kinds, counts, strict=True) if count})
