"""One partition's superstep: enter received states, search the own states completely, send the other states.

The partition's rows and table change in place, but only its last commit is valid, so a failed attempt leaves nothing
that the next attempt would use. An attempt that committed before it was lost returns its earlier report. Reference:
bulk-synchronous supersteps as in Valiant, *A Bridging Model for Parallel Computation*, 1990. The search inside a
superstep goes level by level, so each state is found by its shortest way within the partition.
"""

from __future__ import annotations

import errno
import fcntl
import resource
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofka.checker.distributed.loops import entries_of, new_boxes, new_tally, no_tally
from proofka.checker.distributed.messages import MessagesLost, read_messages, write_messages
from proofka.checker.distributed.plan import Failure, Order, Plan, Report, Task, report_from
from proofka.checker.distributed.region import (
    OPEN_TABLE,
    REPLACED_FILE,
    ROWS_FILE,
    TABLE_FILE,
    Extent,
    Region,
    RegionError,
    opened_region,
    scratch_region,
)
from proofka.checker.distributed.writing import read_json, write_json
from proofka.checker.kernel import closing
from proofka.checker.kernel.closing import (
    DEPTH_SHIFT,
    MOST_DEPTH,
    PARTITION_SHIFT,
    REPLACED_COUNT,
    SOURCE_SHIFT,
    Frontier,
    Ownership,
    Tally,
)
from proofka.checker.kernel.native import INSPECT, Kernel

ROWS_BETWEEN_LOOKS = 1 << 19
"""Rows expanded between two checks of the time limit."""
COMMIT, LOCK, OUTBOX = "commit.json", "lock", "outbox"

Segment = tuple[int, int, int]
"""Rows of one depth: the depth, the first row, and the row after the last."""


def read_document(path: Path) -> Any:
    """Return a document that a partition wrote, or None if there is none.

    Raise :class:`RegionError` if it is damaged.
    """
    try:
        return read_json(path)
    except ValueError as damaged:
        raise RegionError(f"{damaged}; delete the work folder to start again") from None


class _Stopped(Exception):
    """A limit was reached, and the superstep is given up."""


@dataclass
class Commit:
    """The content of a partition's files for a combination after a superstep: everything that a later superstep
    needs.
    """

    superstep: int = -1
    run: str = ""
    extent: Extent = field(default_factory=Extent)
    segments: list[Segment] = field(default_factory=list)
    pending: list[Segment] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    transitions: list[int] = field(default_factory=list)
    first: list[tuple[int, int]] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Commit:
        """Return the last commit in a folder. Raise :class:`RegionError` if there is none, or a damaged one."""
        document = read_document(folder / COMMIT)
        if document is None:
            raise RegionError(f"{folder / COMMIT}: is missing; delete the work folder to start again")
        document["extent"] = Extent(**document["extent"])
        for name in ("segments", "pending", "first"):
            document[name] = [tuple(entry) for entry in document[name]]
        return cls(**document)

    def write(self, folder: Path) -> None:
        """Write this commit, which replaces the last one."""
        write_json(folder / COMMIT, {**vars(self), "extent": vars(self.extent)})


def take_superstep(plan: Plan, task: Task) -> list[Report] | Failure:
    """Do one partition's part of a superstep.

    Permanent failures are returned, because another attempt would fail again.
    """
    try:
        with failures(plan, task.partition) as failed:
            return [_search(plan, task, order) for order in task.orders]
    except _Stopped as stopped:
        return Failure(task.partition, stopped=str(stopped))
    return failed[0]


def too_deep() -> RegionError:
    """Return the error for a row whose depth needs more bits than a row has."""
    return RegionError(f"a path is longer than {MOST_DEPTH - 2:,} steps: name a smaller bound")


@contextmanager
def failures(plan: Plan, partition: int) -> Iterator[list[Failure]]:
    """Catch and record permanent failures within the block: a full disk, and lost or changed files."""
    noted: list[Failure] = []
    try:
        yield noted
    except (RegionError, MessagesLost) as error:
        noted.append(Failure(partition, error=str(error)))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        noted.append(Failure(partition, error=f"{plan.folder}: no space is left there"))


def _search(plan: Plan, task: Task, order: Order) -> Report:
    folder = plan.place(order.combination, task.partition)
    folder.mkdir(parents=True, exist_ok=True)
    with alone(plan, folder):
        commit = _last_commit(folder, order)
        if commit.superstep == task.superstep:
            return report_from(commit.report)
        if commit.run == plan.run and commit.superstep > task.superstep:
            raise RegionError(f"{folder}: an attempt at a superstep began after a later one was done")
        if order.first:
            commit = Commit()
            _clear(folder)
        with ExitStack() as opened:
            return _Search(plan, task, order, commit, opened).run()


def _last_commit(folder: Path, order: Order) -> Commit:
    """Return the last commit of a partition's files; before the first search of the combination, errors are ignored."""
    try:
        return Commit.read(folder)
    except RegionError:
        if not order.first:
            raise
        return Commit()


def _clear(folder: Path) -> None:
    """Remove files that an earlier run left and that no commit covers."""
    (folder / COMMIT).unlink(missing_ok=True)
    for file in (ROWS_FILE, REPLACED_FILE, TABLE_FILE, OPEN_TABLE):
        (folder / file).unlink(missing_ok=True)


@contextmanager
def alone(plan: Plan, folder: Path) -> Iterator[None]:
    """Lock the folder against an earlier attempt that was believed lost and still runs.

    An attempt left by an earlier run does not begin: raise :class:`RegionError`.
    """
    with (folder / LOCK).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if plan.current_run() != plan.run:
            raise RegionError(f"{plan.folder}: another run uses this folder")
        yield


class _Search:
    """The search of one combination by one partition, in one superstep."""

    def __init__(self, plan: Plan, task: Task, order: Order, commit: Commit, opened: ExitStack) -> None:
        self.started = time.perf_counter()
        self.plan, self.task, self.order, self.commit, self.opened = plan, task, order, commit, opened
        self.kernel: Kernel = plan.kernel()
        self.folder = plan.place(order.combination, task.partition)
        self.region = opened.enter_context(opened_region(self.folder, plan.words, commit.extent, run=plan.run))
        self.outbox = opened.enter_context(scratch_region(self.folder / OUTBOX, plan.words))
        self.owners = Ownership(np.array(plan.mask, dtype=np.uint64), plan.partitions, task.partition)
        self.tally = self._tally()
        self.nothing = no_tally()
        self.boxes = new_boxes(plan.words, self.kernel.most)
        self.sources: list[tuple[int, Region, NDArray[np.uint8], list[Segment]]] = []
        self.smaller = self._open_smaller()
        self.inbox = self._read_inbox()
        self.pending = list(commit.pending)
        self.segments: list[Segment] = []
        self.expanded = 0

    def _tally(self) -> Tally:
        """Return the tally of the last commit."""
        plan, commit = self.plan, self.commit
        tally = new_tally(self.kernel.addresses[INSPECT], plan.predicates, counted=plan.counted)
        if commit.superstep >= 0:
            tally.levels[: len(commit.levels)] = commit.levels
            tally.transitions[: len(commit.transitions)] = commit.transitions
            tally.first_depth[:] = [depth for depth, _ in commit.first]
            tally.first_row[:] = [row for _, row in commit.first]
            tally.held[:] = commit.held
        return tally

    def _open_smaller(self) -> NDArray[np.int64]:
        """Return the regions of smaller combinations; keep those that lead into this combination by one fault as
        sources.
        """
        kinds = {part: kind for kind, part in self.order.parts} if self.order.first else {}
        places = []
        for combination in self.order.smaller:
            folder = self.plan.place(combination, self.task.partition)
            commit = Commit.read(folder)
            region = self.opened.enter_context(
                opened_region(folder, self.plan.words, commit.extent, run=self.plan.run, grows=False)
            )
            places.append(region.place)
            if combination in kinds:
                self.sources.append((kinds[combination], region, region.dead(), commit.segments))
        return np.array(places, dtype=np.int64).reshape(len(places), closing.REGION_COLUMNS)

    def _read_inbox(self) -> list[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
        """Return the received rows with their depths, which ascend for each sender."""
        batches = []
        for sender, count in self.order.inbox:
            path = self.plan.messages(self.task.superstep - 1, self.order.combination, sender)
            rows = read_messages(path, self.task.partition, count, self.plan.words)
            batches.append((rows, (rows[:, -1] >> np.uint64(DEPTH_SHIFT)).astype(np.int64)))
        return batches

    def run(self) -> Report:
        """Search level by level from the least depth with anything to do, commit, and report."""
        depth = self._next_depth(-1)
        while depth is not None:
            if depth + 1 >= MOST_DEPTH:
                raise too_deep()
            begin = self._entered_at(depth)
            self._enter_inbox(depth)
            if self.region.count > begin:
                self.segments.append((depth, begin, self.region.count))
            if not self._is_too_deep(depth):
                self._expand(depth, begin)
            depth = self._next_depth(depth)
        return self._finish()

    def _entered_at(self, depth: int) -> int:
        """Return the first row of this superstep at a depth."""
        return self.segments[-1][2] if self.segments else int(self.region.place[closing.KNOWN])

    def _next_depth(self, depth: int) -> int | None:
        """Return the next depth with something to enter or to expand."""
        depths = [int(entered[0]) for _, entered in self._after(depth)]
        depths += [at for at, _, _ in self.pending if at > depth]
        depths += [at for _, _, _, segments in self.sources for at, _, _ in segments if at > depth]
        if self.region.count > self._entered_at(depth + 1):
            depths.append(depth + 1)
        return min(depths, default=None)

    def _after(self, depth: int) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
        for rows, depths in self.inbox:
            first = int(np.searchsorted(depths, depth + 1))
            if first < len(depths):
                yield rows[first:], depths[first:]

    def _enter_inbox(self, depth: int) -> None:
        for rows, depths in self.inbox:
            first, last = (int(place) for place in np.searchsorted(depths, [depth, depth + 1]))
            while first < last:
                address = rows.ctypes.data
                first = int(
                    closing.enter_rows(address, first, last, self.region.place, self.smaller, self.boxes, self.tally)
                )
                if first < last:
                    self.region.reserve(entries_of(self.boxes))
            self._look_at_limits()

    def _is_too_deep(self, depth: int) -> bool:
        """Tell whether everything sought was seen at this depth or less."""
        limits = [self.order.deepest] if self.order.deepest is not None else []
        sought = [bit for bit in range(self.plan.predicates) if self.order.sought >> bit & 1]
        if sought and all(self.tally.first_row[bit] >= 0 for bit in sought):
            limits.append(int(max(self.tally.first_depth[bit] for bit in sought)))
        return bool(limits) and depth >= min(limits)

    def _expand(self, depth: int, begin: int) -> None:
        own = [(begin, self.region.count), *((first, last) for at, first, last in self.pending if at == depth)]
        nobody = np.zeros(0, dtype=np.uint8)
        for number, function in enumerate(self.plan.own_functions):
            for first, last in own:
                self._expand_rows(function, number, self.region, nobody, depth, first, last, own=True)
        for kind, region, dead, segments in self.sources:
            number = len(self.plan.own_functions) + kind
            for at, first, last in segments:
                if at == depth:
                    self._expand_rows(self.plan.kinds[kind], number, region, dead, depth, first, last, own=False)

    def _expand_rows(
        self,
        function: str,
        number: int,
        source: Region,
        dead: NDArray[np.uint8],
        depth: int,
        first: int,
        last: int,
        *,
        own: bool,
    ) -> None:
        origin = (depth + 1) << DEPTH_SHIFT | number << SOURCE_SHIFT | self.task.partition << PARTITION_SHIFT
        address = self.kernel.addresses[function]
        at = first
        while at < last:
            frontier = Frontier(address, source.place, first, last, dead, depth, np.uint64(origin), own)
            at = int(
                closing.search_rows(
                    at,
                    frontier,
                    ROWS_BETWEEN_LOOKS,
                    self.owners,
                    self.region.place,
                    self.outbox.place,
                    self.smaller,
                    self.boxes,
                    self.tally,
                    self.nothing,
                )
            )
            if at < last:
                self.region.reserve(entries_of(self.boxes))
                self.outbox.reserve(entries_of(self.boxes))
            self._look_at_limits()
        self.expanded += last - first

    def _look_at_limits(self) -> None:
        task = self.task
        if task.until is not None and time.time() > task.until:
            raise _Stopped("time")
        if task.most_states is not None and self.region.states > task.most_states:
            raise _Stopped("states")

    def _finish(self) -> Report:
        """Write the rows for other partitions, then commit."""
        plan, task, region, tally = self.plan, self.task, self.region, self.tally
        rows = np.empty((self.outbox.count, plan.words + 1), dtype=np.uint64)
        starts = closing.sort_by_owner(self.outbox.place, plan.words, self.owners, rows).tolist()
        if len(rows):
            path = plan.messages(task.superstep, self.order.combination, task.partition)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_messages(path, rows, starts)
        before = self.commit.extent
        report = Report(
            self.order.combination,
            task.partition,
            region.states,
            region.size,
            region.count - before.rows,
            int(region.place[REPLACED_COUNT]) - before.replaced,
            self.expanded,
            tuple(last - first for first, last in pairwise(starts)),
            int(rows[:, -1].min() >> np.uint64(DEPTH_SHIFT)) if len(rows) else None,
            _without_zeros(tally.levels),
            _without_zeros(tally.transitions),
            tuple((int(depth), int(row)) for depth, row in zip(tally.first_depth, tally.first_row, strict=True)),
            tuple(tally.held.tolist()),
            round(time.perf_counter() - self.started, 4),
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        )
        Commit(
            task.superstep,
            plan.run,
            region.commit(),
            [*self.commit.segments, *self.segments],
            [],
            list(report.levels),
            list(report.transitions),
            list(report.first),
            list(report.held),
            vars(report),
        ).write(self.folder)
        return report


def _without_zeros(counts: NDArray[np.int64]) -> tuple[int, ...]:
    used = np.flatnonzero(counts)
    return tuple(counts[: int(used[-1]) + 1].tolist()) if len(used) else ()
