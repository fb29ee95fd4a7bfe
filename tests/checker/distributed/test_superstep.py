"""One partition's superstep against its definition, and attempts at it that were lost."""

from __future__ import annotations

import heapq
import random
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.budget import Budget, Meter
from proofka.checker.distributed.exploration import DistributedExploration
from proofka.checker.distributed.messages import read_messages, write_messages
from proofka.checker.distributed.plan import Failure, Order, Plan, Report, Task
from proofka.checker.distributed.region import ROWS_FILE
from proofka.checker.distributed.running import OneByOne
from proofka.checker.distributed.superstep import COMMIT, LOCK, take_superstep
from proofka.checker.distributed.work_folder import ExplorationFolder
from proofka.checker.exploration import Question
from proofka.checker.kernel import closing
from proofka.checker.kernel.closing import DEPTH_SHIFT
from tests.checker.distributed.both import distributed, owned_by, resets
from tests.checker.distributed.dying import Do, Recording, counted, killed
from tests.checker.test_exploration import LOST, NEVER, SLOW, counters, random_question, random_system

OWN, PARTITIONS = 1, 3
Depths = dict[bytes, int]
"""Packed states, and how deep they are."""


def begun(folder: Path, system: Any, question: Question) -> DistributedExploration:
    """Return an exploration at its beginning, without faults."""
    return DistributedExploration(
        system,
        question,
        {},
        Meter(Budget(), timed=False),
        counted=True,
        runner=OneByOne(),
        folder=ExplorationFolder(folder),
        partitions=PARTITIONS,
    )


class Definition:
    """A definition of the finds of partition OWN from received states: Dijkstra's algorithm over its own states."""

    def __init__(self, exploration: DistributedExploration) -> None:
        self.kernel, self.plan = exploration.kernel, exploration.plan
        self.seeds: Depths = {}

    def owner(self, state: bytes) -> int:
        mask = np.array(self.plan.mask, dtype=np.uint64)
        return int(closing.owner_of_state(np.frombuffer(state, dtype=np.uint64), mask, self.plan.partitions))

    def after(self, state: bytes) -> list[bytes]:
        rows = self.kernel.successors("step", np.frombuffer(state, dtype=np.uint64).copy())
        return [row[:-1].tobytes() for row in rows]

    def closed(self) -> Depths:
        depths: Depths = {}
        queue = [(depth, state) for state, depth in self.seeds.items()]
        heapq.heapify(queue)
        while queue:
            depth, state = heapq.heappop(queue)
            if state in depths:
                continue
            depths[state] = depth
            for following in self.after(state):
                if self.owner(following) == OWN:
                    heapq.heappush(queue, (depth + 1, following))
        return depths

    def sent(self, expanded: Depths) -> list[Depths]:
        """Return the messages that leave the partition from these states, by receiver."""
        leaving: list[Depths] = [{} for _ in range(PARTITIONS)]
        for state, depth in expanded.items():
            for following in self.after(state):
                to = leaving[self.owner(following)]
                to[following] = min(depth + 1, to.get(following, 1 << 20))
        leaving[OWN] = {}
        return leaving


def by_depth(counts: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return numbers by depth as a list, without the zeros at the end."""
    sizes = [0] * (max((depth for depth, count in counts if count), default=-1) + 1)
    for depth, count in counts:
        if count:
            sizes[depth] += count
    return tuple(sizes)


def send(plan: Plan, superstep: int, sender: int, sent: Sequence[tuple[bytes, int]]) -> tuple[int, int]:
    """Send states with their depths to partition OWN."""
    rows = np.array(
        [[*np.frombuffer(state, dtype=np.uint64), depth << DEPTH_SHIFT] for state, depth in sent], dtype=np.uint64
    )
    path = plan.messages(superstep, (), sender)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_messages(path, rows.reshape(len(sent), -1), [0, 0, len(sent), len(sent)])
    return sender, len(sent)


def received(plan: Plan, superstep: int, sent: Sequence[int]) -> list[Depths]:
    """Return the messages that partition OWN sent, by receiver."""
    found: list[Depths] = []
    for receiver, count in enumerate(sent):
        path = plan.messages(superstep, (), OWN)
        rows = read_messages(path, receiver, count, plan.words) if count else np.empty((0, 2), dtype=np.uint64)
        found.append({row[:-1].tobytes(): int(row[-1]) >> DEPTH_SHIFT for row in rows})
        assert len(found[-1]) == count, "each state once"
        depths = (rows[:, -1] >> np.uint64(DEPTH_SHIFT)).tolist()
        assert depths == sorted(depths)
    return found


@pytest.mark.slow
@settings(max_examples=20, derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(1, 3), st.integers(0, 3))
def test_supersteps_against_their_definition(chance: random.Random, supersteps: int, deeper: int) -> None:
    """From any states at any depths, of any number of senders: what is found, how deep, and what is sent on.

    States may come again, by a longer way or by a shorter one, in the same superstep or in a later one.
    """
    system = random_system(chance)
    with tempfile.TemporaryDirectory() as folder:
        exploration = begun(Path(folder), system, random_question(chance, system, goal=False))
        plan, definition = exploration.plan, Definition(exploration)
        states = [
            exploration.layout.pack({v.name: chance.randint(v.low, v.high) for v in system.variables}).tobytes()
            for _ in range(60)
        ]
        mine = [state for state in states if definition.owner(state) == OWN]
        if not mine:
            return
        known: Depths = {}
        for superstep in range(1, supersteps + 1):
            inbox = []
            for sender in chance.sample(range(4), chance.randint(1, 4)):
                sent = {chance.choice(mine): chance.randint(0, 4) + deeper for _ in range(chance.randint(1, 6))}
                inbox.append(send(plan, superstep - 1, sender, sorted(sent.items(), key=lambda one: one[1])))
                for state, depth in sent.items():
                    definition.seeds[state] = min(depth, definition.seeds.get(state, 1 << 20))
            order = Order((), superstep == 1, (), (), tuple(inbox), 0, None)
            outcome = take_superstep(plan, Task(OWN, superstep, (order,), None, None))
            assert isinstance(outcome, list)
            (report,) = outcome
            depths = definition.closed()
            fresh = {state: depth for state, depth in depths.items() if known.get(state) != depth}
            assert report.states == len(depths)
            assert report.levels == by_depth([(depth, 1) for depth in depths.values()])
            steps = [(depth, len(definition.after(state))) for state, depth in depths.items()]
            assert report.transitions == by_depth(steps)
            assert (report.entered, report.replaced) == (len(fresh), len(fresh.keys() & known.keys()))
            assert report.expanded == len(fresh)
            leaving = definition.sent(fresh)
            assert received(plan, superstep, report.sent) == leaving
            assert report.sent_from == min((d for to in leaving for d in to.values()), default=None)
            known = depths


def forgotten(outcome: list[Report] | Failure) -> list[Report]:
    """Return a superstep's reports without its costs."""
    assert isinstance(outcome, list)
    return [replace(report, seconds=0.0, peak=0, bytes=0) for report in outcome]


def test_an_attempt_after_the_commit_does_nothing(tmp_path: Path) -> None:
    """The second attempt repeats the report of the first, with the first attempt's costs."""
    again: list[object] = []

    def repeat(do: Do, plan: Plan, task: Task, outcome: Any) -> None:
        commit = plan.place(task.orders[0].combination, task.partition) / COMMIT
        before = commit.stat().st_mtime_ns
        assert do(plan, task) == outcome
        assert commit.stat().st_mtime_ns == before
        again.append(outcome)

    distributed(
        tmp_path,
        counters(6),
        Question({"never": NEVER}, None, {}),
        {SLOW: 1},
        1,
        partitions=PARTITIONS,
        runner=Recording(after=repeat),
    )
    assert len(again) > 2 * PARTITIONS


def tasks_with_their_folders(place: Path) -> dict[str, tuple[Do, Plan, Task, Path]]:
    """Return some tasks of an exploration, each with a copy of the folder from before the task."""
    found: dict[str, tuple[Do, Plan, Task, Path]] = {}

    def keep(do: Do, plan: Plan, task: Task) -> None:
        order = task.orders[0]
        kind = "first" if order.first else "going on"
        kind += " with faults" if sum(order.combination) else ""
        if kind not in found and sum(order.combination) < 2 and (order.first or order.inbox):
            found[kind] = do, plan, task, place / kind
            shutil.copytree(plan.folder, place / kind)

    question = Question({"never": NEVER}, None, {})
    runner, at_most = Recording(before=keep), {SLOW: 2, LOST: 1}
    with owned_by("counter0"):
        distributed(place / "states", resets(3), question, at_most, 1, partitions=PARTITIONS, runner=runner)
    assert len(found) == 4
    return found


def content(folder: Path) -> Mapping[str, bytes]:
    """Return the sent messages and the content of the commits."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.arrow")}


@pytest.mark.parametrize("step", [pytest.param(97, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_an_attempt_that_was_killed_leaves_nothing_behind(tmp_path: Path, step: int) -> None:
    """At any moment, in a first superstep, in later ones, and with faults of smaller combinations."""
    chosen = tasks_with_their_folders(tmp_path)
    deaths = 0
    for number, (do, plan, task, before) in enumerate(chosen.values()):
        shutil.copytree(before, tmp_path / f"undisturbed-{number}")
        undisturbed, moments = counted(do, replace(plan, folder=str(tmp_path / f"undisturbed-{number}")), task)
        for moment in range(1 + number, moments, step):
            folder = tmp_path / "again"
            shutil.copytree(before, folder)
            here = replace(plan, folder=str(folder))
            deaths += killed(do, here, task, moment)
            assert forgotten(do(here, task)) == forgotten(undisturbed)
            assert content(folder) == content(tmp_path / f"undisturbed-{number}")
            shutil.rmtree(folder)
    assert deaths > 10


def failed(do: Do, plan: Plan, task: Task) -> str:
    outcome = do(plan, task)
    assert isinstance(outcome, Failure)
    assert outcome.error is not None
    return outcome.error


def test_an_attempt_that_comes_too_late(tmp_path: Path) -> None:
    """An attempt that counted as lost begins after later supersteps, or during another run, and changes nothing."""
    runner = Recording()
    question = Question({"never": NEVER}, None, {})
    found = distributed(tmp_path, counters(4), question, {}, 0, partitions=PARTITIONS, runner=runner)
    first = [(do, plan, task) for do, plan, task in runner.tasks if task.orders[0].first]
    last = {task.partition: task.superstep for _, _, task in runner.tasks}
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    late = [one for one in first if last[one[2].partition] > one[2].superstep]
    assert late
    for do, plan, task in late:
        assert "began after a later one was done" in failed(do, plan, task)
    again = distributed(tmp_path, counters(4), question, {}, 0, partitions=PARTITIONS)
    for do, plan, task in runner.tasks:
        assert failed(do, plan, task) == f"{tmp_path}: another run uses this folder"
    assert again.states == found.states
    changed = {path.name for path, content in before.items() if path.read_bytes() != content}
    assert changed == {"current-run"}


def test_error_names_a_file_lost_between_supersteps(tmp_path: Path) -> None:
    """A commit, a file of rows, a message: none is taken for an empty one."""
    do, plan, task, before = tasks_with_their_folders(tmp_path)["going on with faults"]
    order = task.orders[0]
    sender, _ = order.inbox[0]
    place = plan.place(order.combination, task.partition).relative_to(plan.folder)
    message = plan.messages(task.superstep - 1, order.combination, sender).relative_to(plan.folder)
    for lost, said in ((place / COMMIT, "is missing"), (place / ROWS_FILE, "shorter than"), (message, "No such file")):
        folder = tmp_path / "damaged"
        shutil.copytree(before, folder)
        (folder / lost).unlink()
        told = failed(do, replace(plan, folder=str(folder)), task)
        assert said in told
        assert str(folder / (lost if lost.name != ROWS_FILE else place)) in told
        shutil.rmtree(folder)
    shutil.copytree(before, tmp_path / "damaged")
    (tmp_path / "damaged" / place / COMMIT).write_text("{")
    assert "is damaged" in failed(do, replace(plan, folder=str(tmp_path / "damaged")), task)


def test_temporary_errors_are_raised_for_another_attempt(tmp_path: Path) -> None:
    """Another attempt is made by whoever carries out tasks, so they are raised."""
    do, plan, task, before = tasks_with_their_folders(tmp_path)["going on with faults"]
    here = replace(plan, folder=str(before))
    lock = here.place(task.orders[0].combination, task.partition) / LOCK
    lock.unlink()
    lock.mkdir()
    with pytest.raises(IsADirectoryError):
        do(here, task)
