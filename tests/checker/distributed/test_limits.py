"""Searches that a limit stops: they say so, claim no more than they know, and can be gone on with."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.budget import Budget
from proofka.checker.distributed import superstep
from proofka.checker.distributed.exploration import DistributedExploration
from proofka.checker.exploration import AnyExploration
from tests.checker.distributed.both import assert_same, embedded
from tests.checker.distributed.stopping import Asked, Ending, compiled_once
from tests.checker.test_exploration import KINDS, check_runs, found_cut_sets, random_question, random_system


def assert_claims_no_more(found: DistributedExploration, reference: AnyExploration) -> None:
    """Assert that a limited result is part of the full result: its violations are shortest and minimal, its states
    distinct."""
    check_runs(found)
    there_are = found_cut_sets(reference)
    for name, cut_sets in found_cut_sets(found).items():
        assert cut_sets.items() <= there_are[name].items()
    assert found.observed() <= reference.observed()
    assert found.meter.states == found.states <= reference.states
    for combination, shard in found.shards.items():
        levels, whole = shard.level_sizes(), reference.shards[combination].level_sizes()
        if not shard.complete:
            last = levels.pop() if levels else 0
            assert last <= [*whole, 0][len(levels)]
        assert levels == whole[: len(levels)]
    for layer, expected in zip(found.layers[:-1], reference.layers, strict=False):
        assert (layer.explored, layer.of, layer.stopped) == (expected.explored, expected.of, None)


@pytest.mark.slow
@settings(max_examples=20, derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(0, 2), st.integers(1, 4), st.booleans())
def test_more_and_more_states(chance: random.Random, total: int, partitions: int, goal: bool) -> None:
    system = random_system(chance)
    question = random_question(chance, system, goal)
    owners = tuple(variable.name for variable in system.variables if chance.random() < 0.7)
    asked = Asked(system, question, dict.fromkeys(KINDS, 2), total, partitions, owners)
    reference = embedded(system, question, asked.at_most, total)
    limit = chance.randint(1, 5)
    with tempfile.TemporaryDirectory() as folder, compiled_once():
        while True:
            found = asked.explore(Path(folder), budget=Budget(states=limit))
            assert_claims_no_more(found, reference)
            if not found.layers[-1].stopped:
                break
            assert found.layers[-1].stopped == "states"
            assert not found.layers[-1].complete
            assert not found.exhausted()
            limit += chance.randint(1, max(20, limit))
        assert_same(found, reference)


def test_stopped_within_a_superstep(tmp_path: Path, asked: Asked, reference: Any) -> None:
    """Some partitions were done, and one found too much: it counts for nothing, and the others' work is not lost."""
    found = asked.explore(tmp_path, budget=Budget(states=7))
    assert (found.layers[-1].stopped, found.states, found.layers[-1].explored) == ("states", 0, 0)
    assert_claims_no_more(found, reference)
    asked.noted.clear()
    assert_same(asked.explore(tmp_path), reference)


@pytest.mark.slow
def test_violations_found_before_the_end_are_shortest(tmp_path: Path, asked: Asked, reference: Any) -> None:
    """At every superstep in turn, a search that is stopped there names what it found only where nothing is nearer."""
    whole = Ending(-1)
    asked.explore(tmp_path / "whole", whole)
    named: set[str] = set()
    for tasks in whole.begins:
        found = asked.explore(tmp_path / str(tasks), Ending(tasks))
        assert found.layers[-1].stopped == "interrupted"
        assert_claims_no_more(found, reference)
        named |= {name for name, violations in found.violations.items() if violations}
    assert named == {"apart"}, "what keeps from the goal is known at the very end"


def test_no_time_at_all(tmp_path: Path, asked: Asked, reference: Any) -> None:
    found = asked.explore(tmp_path, budget=Budget(seconds=0))
    assert (found.layers[-1].stopped, found.states) == ("time", 0)
    assert_same(asked.explore(tmp_path), reference)


@pytest.mark.parametrize("supersteps", [1, 3, 7])
def test_time_that_runs_out_within_a_superstep(tmp_path: Path, asked: Asked, reference: Any, supersteps: int) -> None:
    """The tasks look at the clock: theirs is put forward from some superstep on."""
    asked.noted.clear()
    clock = SimpleNamespace(
        time=lambda: 1e12 if len(asked.noted) >= supersteps else 0.0, perf_counter=time.perf_counter
    )
    with patch.object(superstep, "time", clock):
        found = asked.explore(tmp_path, budget=Budget(seconds=1e6))
    assert found.layers[-1].stopped == "time"
    assert len(asked.noted) == supersteps
    assert found.states > 0
    assert_claims_no_more(found, reference)
    assert_same(asked.explore(tmp_path), reference)


@pytest.mark.slow
def test_files_that_grow_too_large(tmp_path: Path, asked: Asked, reference: Any) -> None:
    """Violations that were found before are part of the result."""
    most, stopped = 1, 0
    while (found := asked.explore(tmp_path, most_bytes=most)).layers[-1].stopped:
        assert found.layers[-1].stopped == "memory"
        assert_claims_no_more(found, reference)
        most += 150_000
        stopped += 1
    assert stopped > 2
    assert_same(found, reference)
