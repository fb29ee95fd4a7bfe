"""Runs that were stopped by a budget go on from their snapshots as if nothing had been."""

from __future__ import annotations

import random
import tempfile
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker import embedded
from proofka.checker.budget import Budget, Meter
from proofka.checker.checkpoint import Checkpoint
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Question
from proofka.checker.kernel import backward
from proofka.checker.kernel.components import Components
from proofka.checker.kernel.native import optimise
from proofka.checker.kernel.visited import PARTITIONS
from proofka.checker.shard import Shard
from proofka.model.language import TransitionSystem, Variable
from tests.checker.checkpointed import AT_EVERY_LEVEL, ONE_BY_ONE, asked, saved_states, some_maze, verdicts
from tests.checker.naive import Naive
from tests.checker.test_cli import proofka
from tests.checker.test_exploration import (
    KINDS,
    NEVER,
    SLOW,
    action,
    counters,
    found_cut_sets,
    random_question,
    random_system,
)
from tests.checker.test_threads import check_equal

# Stopped by a budget


@ONE_BY_ONE
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("goal", [False, True])
def test_many_stops_change_nothing(tmp_path: Path, goal: bool, threads: int) -> None:
    """A run that is stopped and resumed over and over stores the same rows, and finds the same."""
    again = some_maze(threads, goal=goal, total=1)
    whole = again(None)
    chance, limit, before = random.Random(threads), 0, 0
    while limit < whole.states:
        limit += chance.randint(1, whole.states // 3)
        cut = again(tmp_path, budget=Budget(states=limit), threads=chance.randint(1, threads))
        if cut.states > limit:
            assert any(report.stopped == "states" for report in cut.layers)
        assert saved_states(tmp_path) >= before, "no snapshot is lost"
        before = saved_states(tmp_path)
    resumed = again(tmp_path, threads=threads)
    check_equal(whole, resumed)
    finished = again(tmp_path)
    check_equal(whole, finished)
    assert saved_states(tmp_path) == whole.states


@pytest.mark.slow
@settings(max_examples=15, derandomize=True)
@given(st.randoms(use_true_random=False), st.lists(st.integers(1, 150), max_size=3), st.booleans())
def test_random_systems(chance: random.Random, limits: list[int], alone: bool) -> None:
    """Resumed wherever they were stopped, side by side or one by one: the definition's cut sets."""
    system = random_system(chance)
    question = random_question(chance, system, goal=True)
    at_most = dict.fromkeys(KINDS, 2)
    whole = asked(None, system, question, at_most, 3)
    large = 0 if alone else embedded.LARGE
    with tempfile.TemporaryDirectory() as folder, patch.object(embedded, "LARGE", large):
        for limit in [*sorted(limits), 10**6, 10**6]:
            last = asked(Path(folder), system, question, at_most, 3, budget=Budget(states=limit), threads=2)
    check_equal(whole, last)
    assert found_cut_sets(last) == Naive(system, last.kinds, last.most, 3).cut_sets(question)


@ONE_BY_ONE
def test_snapshots_are_used(tmp_path: Path) -> None:
    """A resumed run explores nothing again: it counts no transition that a snapshot holds."""
    again = some_maze(0)
    whole = again(tmp_path)
    from proofka.checker.breadth_first import Search

    with patch.object(Search, "_expand", side_effect=AssertionError("explored again")):
        check_equal(whole, again(tmp_path))


def test_a_combination_without_states_of_its_own(tmp_path: Path) -> None:
    """Such a combination writes no file and reads no file."""
    question = Question({"never": NEVER}, None, {})
    for _ in range(3):
        found = asked(tmp_path, counters(6), question, {SLOW: 1}, 1)
        assert {combination: shard.count for combination, shard in found.shards.items()} == {(0,): 343, (1,): 0}


def test_snapshots_come_at_intervals(tmp_path: Path) -> None:
    """Nothing is due before its time; what is whole is saved at the end of a layer all the same."""
    written: list[int] = []
    write = Checkpoint._write_manifest

    def count(self: Checkpoint) -> None:
        written.append(len(self._saved))
        write(self)

    with patch.object(Checkpoint, "_write_manifest", count), patch.object(embedded, "LARGE", 0):
        question = Question({"never": NEVER}, None, {})
        asked(tmp_path / "rarely", counters(10), question, {}, 0, interval=3600)
        assert len([shards for shards in written if shards]) == 1
        asked(tmp_path / "often", counters(10), question, {}, 0)
        assert len(written) > 30


# What resuming needs


def test_machine_code_stays_while_it_runs(tmp_path: Path) -> None:
    """Better machine code may come at any moment of a resumption: what runs then must not be released."""
    system = counters(6)
    question = Question({"never": NEVER}, ("goal", system.variables[0].term >= z3.IntVal(0)), {})
    asked(tmp_path, system, question, {}, 0)
    meter = Meter(Budget(), timed=False)
    resumed = EmbeddedExploration(system, question, {}, meter, checkpoint=Checkpoint(tmp_path, "the question"))
    alive = []
    mark_where = backward.mark_where

    def better_code_comes(*arguments: Any) -> None:
        before = weakref.ref(resumed.kernel.engine)
        resumed.kernel = optimise(resumed.kernel)
        alive.append(before() is not None)
        if alive[-1]:
            mark_where(*arguments)

    with patch.object(backward, "mark_where", better_code_comes):
        resumed.explore_layer()
    assert alive and all(alive)


def test_recovery_by_a_step_into_a_smaller_combination(tmp_path: Path) -> None:
    """Marks of such steps are not in a snapshot, and the partition that the successor belongs to is empty here."""
    down = Variable("down", 0, 1, 0)
    fail = action("fail", down.term == 0, {down: z3.IntVal(1)}, SLOW)
    system = TransitionSystem("up again", (down,), (fail, action("recover", down.term == 1, {down: z3.IntVal(0)})))
    question = Question({}, ("recovers", down.term == 0), {})
    for _ in range(3):
        found = asked(tmp_path, system, question, {SLOW: 1}, 1)
        assert [shard.count for shard in found.shards.values()] == [1, 1]
        assert found_cut_sets(found) == {"recovers": {}}


def many_states(count: int) -> Shard:
    """Return a whole shard of distinct states."""
    shard = Shard((0,), Components((1, 1)), 1, has_goal=False)
    for number in range(1000):
        shard.components.encode(np.array([number, number * 7], dtype=np.uint64))
    numbers = np.arange(count, dtype=np.uint64)
    words = numbers % np.uint64(1000) | numbers // np.uint64(1000) << np.uint64(32)
    counts = np.array([len(words[part::PARTITIONS]) for part in range(PARTITIONS)])
    for part, (mine, parents) in enumerate(shard.allocate(counts)):
        mine[:], parents[:] = words[part::PARTITIONS], 0
    shard.enter_allocated(counts)
    shard.begin_segment(0, 0)
    shard.segments[0].starts[:] = 0
    shard.complete = True
    return shard


def peak(work: Callable[[], object]) -> int:
    """Return the largest number of bytes that a call takes in addition to those before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_snapshots_take_little_memory(tmp_path: Path) -> None:
    """Neither writing nor reading one holds a copy of all states: the memory budget is kept meanwhile."""
    shard = many_states(400_000)
    kept = Checkpoint(tmp_path, "the question")
    assert peak(lambda: kept.save(0, shard.components, [shard])) < 0.25 * shard.measure()
    restored = Shard((0,), Components((1, 1)), 1, has_goal=False)
    again = Checkpoint(tmp_path, "the question")
    again.restore_components(0, restored.components)
    taken = peak(lambda: again.restore(0, restored))
    assert restored.count == shard.count
    for part in range(PARTITIONS):
        assert (restored.packed(part, slice(None)) == shard.packed(part, slice(None))).all()
    assert taken < 1.25 * restored.measure()


def test_a_snapshot_holds_everything(tmp_path: Path) -> None:
    """Field by field, of a shard with more than one chunk of rows."""
    again = some_maze(2)
    with patch.object(embedded, "LARGE", 0):
        found = again(tmp_path)
    kept = Checkpoint(tmp_path, "the question")
    for combination, shard in found.shards.items():
        components = Components(found.layout.halves)
        kept.restore_components(0, components)
        copy = Shard(combination, components, shard.first_seen.shape[1], has_goal=True)
        assert kept.restore(0, copy)
        assert not kept.restore(1, Shard(combination, components, shard.first_seen.shape[1], has_goal=True))
        for part in range(PARTITIONS):
            for ours, theirs in zip(copy.rows(part), shard.rows(part), strict=True):
                assert (ours == theirs).all()
        assert copy.level_sizes() == shard.level_sizes()
        assert (copy.complete, copy.depth_done, copy.seen) == (shard.complete, shard.depth_done, shard.seen)
        assert (copy.first_seen == shard.first_seen).all()
        assert copy.transitions[0] == shard.transitions[0]


@pytest.mark.slow
def test_a_snapshot_by_more_threads(tmp_path: Path, deployment: Path) -> None:
    """Combinations side by side, each saved as soon as it is whole."""
    ask = ("check", deployment, "--no-sensitivity", "--quiet", "--json")
    kept = ("--checkpoint", tmp_path / "snapshots", *AT_EVERY_LEVEL)
    proofka(*ask, tmp_path / "first.json", *kept, "--threads", 3)
    proofka(*ask, tmp_path / "second.json", *kept, "--threads", 3)
    first = verdicts(tmp_path / "first.json")
    assert verdicts(tmp_path / "second.json") == first
