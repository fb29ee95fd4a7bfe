"""Closed sets of a distributed exploration as packed members of a certificate, written by the tasks.

First each partition sorts its own states of each combination, with their ranks, into a file, and reports some of the
sorted states. These samples divide each set into ranges of about equal size. Then each range is merged from the files
of all partitions, and packed. The driver holds samples, and the headers of members.

Reference: sample sort, as in Blelloch and others, *A Comparison of Sorting Algorithms for the Connection Machine CM-2*,
1991.
"""

from __future__ import annotations

import shutil
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofka.checker.certificates.archive import Member, packed
from proofka.checker.certificates.rows import MEMBER_ROWS, as_bytes
from proofka.checker.combinations import Combination
from proofka.checker.distributed.goal_task import marks_in
from proofka.checker.distributed.plan import Failure, Plan, named
from proofka.checker.distributed.region import RegionError, opened_region
from proofka.checker.distributed.running import DistributedError
from proofka.checker.distributed.superstep import Commit, alone, failures
from proofka.checker.distributed.writing import replacing
from proofka.checker.kernel.backward_closing import TOP

FOLDER, SORTED = "certificate", "sorted"
SAMPLED = 1024
"""One of this number of sorted states is a sample."""
TASKS_AT_A_TIME = 4
"""Tasks that pack members, for each task that runs at a time."""

Row = tuple[int, ...]
"""A packed state."""
Carry = Callable[[Callable[[Plan, Any], Any], Sequence[Any]], list[Any]]
"""A function that executes another function on tasks."""


@dataclass(frozen=True)
class SortTask:
    """The sets whose states a partition sorts; those in ``ranked`` with ranks."""

    partition: int
    combinations: tuple[Combination, ...]
    ranked: frozenset[Combination]


@dataclass(frozen=True)
class Sorted:
    """The states of one set in one partition: their number, samples of them, and whether ranks are missing."""

    combination: Combination
    count: int
    samples: tuple[Row, ...]
    unranked: bool


@dataclass(frozen=True)
class Range:
    """The states of a set from ``first`` to before ``last``, which become the member ``name`` of the file.

    ``has_ranks``: whether the member has ranks. ``ranked``: whether these are known; otherwise all of them are 0.
    """

    name: str
    combination: Combination
    first: Row | None
    last: Row | None
    has_ranks: bool
    ranked: bool


@dataclass(frozen=True)
class PackTask:
    """Ranges that one task merges and packs."""

    ranges: tuple[Range, ...]


def pack_sets(
    plan: Plan, carry: Carry, parallelism: int, names: Mapping[Combination, str], ranked: Collection[Combination] | None
) -> dict[Combination, list[Member]]:
    """Return the sets of some combinations as members, whose names begin with ``names``.

    All sets were explored to the end; those in ``ranked`` get ranks, and the others the ranks 0; with None no member
    has ranks. Raise
    :class:`checker.distributed.running.DistributedError` if a task fails, or a rank is missing.
    """
    folder = Path(plan.folder) / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    chosen = tuple(names)
    tasks = [SortTask(partition, chosen, frozenset(ranked or ())) for partition in range(plan.partitions)]
    found: dict[Combination, list[Sorted]] = {one: [] for one in chosen}
    for one in _results(carry(sort_states, tasks)):
        found[one.combination].append(one)
    if missing := [one for one, parts in found.items() if any(part.unranked for part in parts)]:
        raise DistributedError(f"{len(missing)} sets of states have no ranks")
    ranges = [one for combination in chosen for one in _ranges(found[combination], names[combination], ranked)]
    done = dict(_results(carry(pack_ranges, _shared_out(ranges, found, parallelism))))
    shutil.rmtree(folder / SORTED)
    sets = {}
    for combination in chosen:
        members = [done[one.name] for one in ranges if one.combination == combination]
        if sum(count for count, _ in members) != sum(part.count for part in found[combination]):
            raise DistributedError(f"{plan.folder}: a set of states changed while it was packed")
        sets[combination] = [member for _, member in members]
    return sets


def _results(outcomes: Sequence[Any]) -> Iterator[Any]:
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            raise DistributedError(outcome.error)
        yield from outcome


def _ranges(parts: Sequence[Sorted], name: str, ranked: Collection[Combination] | None) -> Iterator[Range]:
    """Yield ranges of about equal size, in order, that hold all states of a set; one for an empty set."""
    combination, samples = parts[0].combination, sorted(sample for part in parts for sample in part.samples)
    pieces = max(1, -(-sum(part.count for part in parts) // MEMBER_ROWS))
    borders = [samples[len(samples) * piece // pieces] for piece in range(1, pieces)]
    for piece in range(pieces):
        first, last = ([None, *borders][piece], [*borders, None][piece])
        is_ranked = ranked is not None and combination in ranked
        yield Range(f"{name}.{piece}", combination, first, last, ranked is not None, is_ranked)


def _shared_out(
    ranges: Sequence[Range], found: Mapping[Combination, Sequence[Sorted]], parallelism: int
) -> list[PackTask]:
    """Share ranges out to tasks, the largest first, each to the task with the fewest states so far."""
    of_set = {one: sum(part.count for part in parts) for one, parts in found.items()}
    sizes = {one: min(of_set[one.combination], MEMBER_ROWS) for one in ranges}
    shares: list[list[Range]] = [[] for _ in range(min(len(ranges), TASKS_AT_A_TIME * parallelism))]
    loads = [0] * len(shares)
    for one in sorted(ranges, key=lambda one: -sizes[one]):
        least = loads.index(min(loads))
        shares[least].append(one)
        loads[least] += sizes[one] + 1
    return [PackTask(tuple(share)) for share in shares]


def sort_states(plan: Plan, task: SortTask) -> list[Sorted] | Failure:
    """Sort a partition's states of some sets into files. Permanent failures are returned."""
    with failures(plan, task.partition) as failed:
        return [_sort(plan, task.partition, one, ranked=one in task.ranked) for one in task.combinations]
    return failed[0]


def _sort(plan: Plan, partition: int, combination: Combination, *, ranked: bool) -> Sorted:
    folder = plan.place(combination, partition)
    with alone(plan, folder), ExitStack() as opened:
        extent = Commit.read(folder).extent
        region = opened.enter_context(opened_region(folder, plan.words, extent, run=plan.run, grows=False))
        rows, dead = region.rows(), region.dead()
        live = np.flatnonzero(dead == 0) if len(dead) else np.arange(len(rows))
        states: NDArray[np.uint64] = rows[live, : plan.words]
        order = np.lexsort(states.T[::-1])
        states = states[order]
        target = _sorted_file(plan, combination, partition)
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target, states)
        unranked = False
        if ranked:
            marks = marks_in(folder)
            if len(marks) != len(rows):
                raise RegionError(f"{folder}: has no ranks")
            marks = marks[live][order]
            unranked = bool(((marks == 0) | (marks == TOP)).any())
            _write(target.with_suffix(".ranks"), marks - np.uint16(1))
        samples = tuple(tuple(row) for row in states[::SAMPLED].tolist())
        return Sorted(combination, len(states), samples, unranked)


def _sorted_file(plan: Plan, combination: Combination, partition: int) -> Path:
    return Path(plan.folder) / FOLDER / SORTED / named(combination) / f"{partition}.rows"


def _write(file: Path, array: NDArray[Any]) -> None:
    with replacing(file) as new, new.open("wb") as written:
        np.ascontiguousarray(array).tofile(written)


def pack_ranges(plan: Plan, task: PackTask) -> list[tuple[str, tuple[int, Member]]] | Failure:
    """Merge and pack ranges of states, each with its number of states. Permanent failures are returned."""
    with failures(plan, -1) as failed:
        return [(one.name, _pack(plan, one)) for one in task.ranges]
    return failed[0]


def _pack(plan: Plan, wanted: Range) -> tuple[int, Member]:
    states, ranks = [np.empty((0, plan.words), dtype=np.uint64)], [np.empty(0, dtype=np.uint16)]
    for partition in range(plan.partitions):
        file = _sorted_file(plan, wanted.combination, partition)
        mine = _mapped(file, np.uint64).reshape(-1, plan.words)
        first, last = (_place_of(border, mine) for border in (wanted.first, wanted.last))
        these = slice(first or 0, last)
        states.append(mine[these])
        if wanted.ranked:
            ranks.append(_mapped(file.with_suffix(".ranks"), np.uint16)[these])
        elif wanted.has_ranks:
            ranks.append(np.zeros(len(states[-1]), dtype=np.uint16))
    together = np.concatenate(states)
    order = np.lexsort(together.T[::-1])
    content = as_bytes(together[order], np.concatenate(ranks)[order] if wanted.has_ranks else None)
    return len(together), _pack_member(plan, wanted.name, content)


def _mapped(file: Path, kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    return np.memmap(file, dtype=kind, mode="r") if file.stat().st_size else np.empty(0, dtype=kind)


def _place_of(border: Row | None, rows: NDArray[np.uint64]) -> int | None:
    """Return the first of the sorted rows that is not before a border; None without a border."""
    if border is None:
        return None
    return bisect_left(range(len(rows)), border, key=lambda place: tuple(rows[place].tolist()))


def _pack_member(plan: Plan, name: str, content: bytes) -> Member:
    member = packed(name, content)
    file = Path(plan.folder) / FOLDER / name.replace("/", "-")
    with replacing(file) as new, new.open("wb") as written:
        written.writelines(member)
    return replace(member, packed=file)
