"""One partition's part in deciding which of its states can reach a goal, and in how many steps at most.

In the first half of a round, a partition marks states by the answers received, and asks the owners of the successors
that it still depends on. In the second half, the partition answers the questions received. Marks are only added, and
each mark is true by itself, so a failed attempt leaves nothing wrong behind.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proofka.checker.combinations import Combination
from proofka.checker.distributed.loops import entries_of, new_boxes, no_tally
from proofka.checker.distributed.messages import read_messages, write_messages
from proofka.checker.distributed.plan import Failure, Plan
from proofka.checker.distributed.region import Region, RegionError, opened_region, scratch_region
from proofka.checker.distributed.superstep import Commit, alone, failures, read_document
from proofka.checker.distributed.writing import write_json
from proofka.checker.kernel import backward_closing, closing
from proofka.checker.kernel.backward_closing import Marks
from proofka.checker.kernel.closing import KNOWN, MOST_DEPTH, REGION_COLUMNS, REPLACED_ROOM, Frontier, Ownership
from proofka.checker.kernel.native import INSPECT
from proofka.checker.kernel.table import COUNT, ROOM

MARKS, ROUND = "good", "round.json"
STEP = "step"
"""Name of the kernel's function for fault-free steps."""


Letter = tuple[int, int, int]
"""A sender, the superstep of sending, and the number of rows."""


@dataclass(frozen=True)
class GoalOrder:
    """A partition's work for one combination: asking if ``asks``, else answering.

    ``inbox``: the questions or answers received. ``bits``: predicates whose states are marked first, or 0; with
    ``anew`` after every mark was removed.
    """

    combination: Combination
    smaller: tuple[Combination, ...]
    asks: bool
    inbox: tuple[Letter, ...]
    bits: int
    anew: bool


@dataclass(frozen=True)
class GoalTask:
    """One partition's half of a round."""

    partition: int
    superstep: int
    orders: tuple[GoalOrder, ...]


@dataclass(frozen=True)
class GoalReport:
    """The outcome: the rows ``sent`` to each partition, the number of unmarked rows ``left``, and the first of these of
    least depth (depth and row).
    """

    combination: Combination
    partition: int
    sent: tuple[int, ...]
    left: int
    first: tuple[int, int] | None


def take_goal_task(plan: Plan, task: GoalTask) -> list[GoalReport] | Failure:
    """Do one partition's half of a round. Permanent failures are returned, because another attempt would fail again."""
    with failures(plan, task.partition) as failed:
        return [_do(plan, task, order) for order in task.orders]
    return failed[0]


def _do(plan: Plan, task: GoalTask, order: GoalOrder) -> GoalReport:
    folder = plan.place(order.combination, task.partition)
    with alone(plan, folder), ExitStack() as opened:
        _check_that_it_is_next(folder, plan, task)
        part = _Part(plan, task, order, folder, opened)
        return part.ask() if order.asks else part.answer()


def _check_that_it_is_next(folder: Path, plan: Plan, task: GoalTask) -> None:
    """Refuse an attempt that was believed lost and begins after a later round, because it would remove marks."""
    last = read_document(folder / ROUND)
    if last is not None and last["run"] == plan.run and last["superstep"] > task.superstep:
        raise RegionError(f"{folder}: an attempt at a round began after a later one")
    write_json(folder / ROUND, {"run": plan.run, "superstep": task.superstep})


class _Part:
    def __init__(self, plan: Plan, task: GoalTask, order: GoalOrder, folder: Path, opened: ExitStack) -> None:
        self.plan, self.task, self.order, self.opened, self.folder = plan, task, order, opened, folder
        self.kernel = plan.kernel()
        self.commit = Commit.read(folder)
        self.region = opened.enter_context(
            opened_region(folder, plan.words, self.commit.extent, run=plan.run, grows=False)
        )
        self.region.place[KNOWN] = self.region.count
        smaller = [plan.place(one, task.partition) for one in order.smaller]
        self.smaller = _places([self._open(one) for one in smaller])
        self.marks = [marks_in(one) for one in smaller]
        self.addresses = np.array([one.ctypes.data if len(one) else 0 for one in self.marks], dtype=np.int64)
        self.owners = Ownership(np.array(plan.mask, dtype=np.uint64), plan.partitions, task.partition)
        self.dead = self.region.dead()
        self.good = self._marks()

    def _open(self, folder: Path) -> Region:
        extent = Commit.read(folder).extent
        return self.opened.enter_context(opened_region(folder, self.plan.words, extent, run=self.plan.run, grows=False))

    def _marks(self) -> Marks:
        file = self.folder / MARKS
        if self.order.anew:
            file.unlink(missing_ok=True)
        if not self.region.count:
            return np.empty(0, dtype=np.uint16)
        if not file.exists():
            file.write_bytes(bytes(2 * self.region.count))
        marks: Marks = np.memmap(file, dtype=np.uint16, mode="r+", shape=(self.region.count,))
        return marks

    def _inbox(self) -> list[tuple[int, NDArray[np.uint64]]]:
        plan, own, combination = self.plan, self.task.partition, self.order.combination
        return [
            (sender, read_messages(plan.messages(superstep, combination, sender), own, count, plan.words))
            for sender, superstep, count in self.order.inbox
        ]

    def _open_rows(self) -> NDArray[np.int64]:
        """Return the rows that are not marked and were not replaced, deepest first."""
        dead = self.dead
        found = []
        for _, first, last in sorted(self.commit.segments, reverse=True):
            rows = np.flatnonzero(self.good[first:last] == 0) + first
            found.append(rows[dead[rows] == 0] if len(dead) else rows)
        return np.concatenate([np.empty(0, dtype=np.int64), *found])

    def ask(self) -> GoalReport:
        """Mark all rows that can be marked, and ask other partitions about the rest."""
        plan, kernel, region = self.plan, self.kernel, self.region
        rows = self._open_rows()
        if self.order.bits:
            backward_closing.mark_where(
                kernel.addresses[INSPECT],
                plan.words,
                region.place,
                rows,
                self.good,
                self.dead,
                self.owners,
                self.order.bits,
            )
        answered = self._answered()
        scratch = np.empty((kernel.most + 1) * (plan.words + 1), dtype=np.uint64)
        left = len(rows)
        while left:
            before = left
            left = int(
                backward_closing.mark_by_steps(
                    kernel.addresses[STEP],
                    plan.words,
                    scratch,
                    region.place,
                    rows[:left],
                    self.good,
                    self.dead,
                    self.owners,
                    self.smaller,
                    self.addresses,
                    answered,
                )
            )
            if left == before:
                break
        sent = self._ask_about(rows[:left])
        return GoalReport(self.order.combination, self.task.partition, sent, left, self._first(rows[:left]))

    def _first(self, rows: NDArray[np.int64]) -> tuple[int, int] | None:
        if not len(rows):
            return None
        last = int(rows[-1])
        depth = next(depth for depth, first, end in self.commit.segments if first <= last < end)
        begin = [(first, end) for at, first, end in self.commit.segments if at == depth]
        first = min(int(row) for low, end in begin for row in rows[(rows >= low) & (rows < end)])
        return depth, first

    def _answered(self) -> NDArray[np.int64]:
        """Return the place of the good states of other partitions, with their marks."""
        region = self.opened.enter_context(scratch_region(self.folder / "answered", self.plan.words))
        boxes, nothing = new_boxes(self.plan.words, self.kernel.most), no_tally()
        nowhere = _places([])
        for _, rows in self._inbox():
            at = 0
            while at < len(rows):
                region.reserve(entries_of(boxes))
                at = int(closing.enter_rows(rows.ctypes.data, at, len(rows), region.place, nowhere, boxes, nothing))
        return region.place

    def _ask_about(self, rows: NDArray[np.int64]) -> tuple[int, ...]:
        """Send the successors of these rows that other partitions own to their owners, each once."""
        plan, region = self.plan, self.region
        outbox = self.opened.enter_context(scratch_region(self.folder / "questions", plan.words))
        passed_over = np.ones(region.count, dtype=np.uint8)
        passed_over[rows] = 0
        boxes, nothing = new_boxes(plan.words, self.kernel.most), no_tally()
        # The largest depth: no known row is then found again by a shorter way, so known rows stay unchanged.
        origin = np.uint64((MOST_DEPTH - 1) << closing.DEPTH_SHIFT)
        frontier = Frontier(self.kernel.addresses[STEP], region.place, 0, region.count, passed_over, 0, origin, False)
        at = 0
        while at < region.count:
            outbox.reserve(entries_of(boxes))
            known = region.place.copy()
            region.place[ROOM] = region.place[REPLACED_ROOM] = np.iinfo(np.int64).max // 2
            at = int(
                closing.search_rows(
                    at,
                    frontier,
                    region.count,
                    self.owners,
                    region.place,
                    outbox.place,
                    self.smaller,
                    boxes,
                    nothing,
                    nothing,
                )
            )
            if region.count != known[COUNT]:
                raise RegionError(f"{region.folder}: has a successor that was not found before")
            region.place[:] = known
        return self._send(outbox)

    def _send(self, outbox: Region) -> tuple[int, ...]:
        rows = np.empty((outbox.count, self.plan.words + 1), dtype=np.uint64)
        starts = closing.sort_by_owner(outbox.place, self.plan.words, self.owners, rows).tolist()
        return self._write(rows, starts)

    def _write(self, rows: NDArray[np.uint64], starts: list[int]) -> tuple[int, ...]:
        if len(rows):
            path = self.plan.messages(self.task.superstep, self.order.combination, self.task.partition)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_messages(path, rows, starts)
        return tuple(last - first for first, last in pairwise(starts))

    def answer(self) -> GoalReport:
        """Return to each sender the states of its questions that are known to be good, with their marks."""
        answers: list[NDArray[np.uint64]] = [np.empty((0, self.plan.words + 1), dtype=np.uint64)]
        counts = [0] * self.plan.partitions
        for sender, questions in self._inbox():
            marks = np.zeros(len(questions), dtype=np.int64)
            if backward_closing.answer(questions, self.region.place, self.good, self.smaller, self.addresses, marks):
                raise RegionError(f"{self.folder}: was asked about a state that it does not hold")
            known = questions[marks > 0]
            known[:, -1] = marks[marks > 0].astype(np.uint64)
            counts[sender] = len(known)
            answers.append(known)
        starts = [0, *np.cumsum(counts).tolist()]
        sent = self._write(np.concatenate(answers), starts)
        return GoalReport(self.order.combination, self.task.partition, sent, 0, None)


def marks_in(folder: Path) -> Marks:
    """Return the marks of a partition's rows; no marks if the rows were never marked."""
    file = folder / MARKS
    if not file.exists():
        return np.empty(0, dtype=np.uint16)
    marks: Marks = np.memmap(file, dtype=np.uint16, mode="r")
    return marks


def _places(regions: list[Region]) -> NDArray[np.int64]:
    return np.array([region.place for region in regions], dtype=np.int64).reshape(len(regions), REGION_COLUMNS)
