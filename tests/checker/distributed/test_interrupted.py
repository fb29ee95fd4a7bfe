"""A run that ends anywhere is gone on with from its last whole superstep, as if nothing had been."""

from __future__ import annotations

import random
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.distributed import work_folder
from proofka.checker.distributed.running import Interrupted
from proofka.checker.distributed.writing import write_json
from tests.checker.distributed.both import assert_same, embedded
from tests.checker.distributed.stopping import Asked, Ending, Killed, compiled_once
from tests.checker.test_exploration import KINDS, random_question, random_system

SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("error", "jobs"),
    [
        pytest.param(Interrupted, range(0, 99, 5), marks=pytest.mark.slow),
        pytest.param(Killed, range(2, 99, 5), marks=pytest.mark.slow),
        pytest.param(Killed, range(99), marks=SLOW),
    ],
)
def test_stopped_before_any_job(
    tmp_path: Path, asked: Asked, reference: Any, error: type[BaseException], jobs: range
) -> None:
    """At the end of every superstep, between combinations, and in every half of every round of the goals.

    No superstep that was whole is done again.
    """
    whole = Ending(-1)
    assert_same(asked.explore(tmp_path / "whole", whole), reference)
    undisturbed = asked.all_noted()
    assert len(whole.begins) >= len(undisturbed) + 10 > 20
    for job in jobs[: len(whole.begins) // jobs.step]:
        tasks, folder = whole.begins[job], tmp_path / str(job)
        stopped = Ending(tasks, error)
        try:
            found = asked.explore(folder, stopped)
            assert error is Interrupted
            assert found.layers[-1].stopped == "interrupted"
            assert not found.layers[-1].complete
            assert found.states <= reference.states
        except Killed:
            assert error is Killed
        again = Ending(-1)
        assert_same(asked.explore(folder, again), reference)
        assert asked.all_noted() == undisturbed
        goals = len(whole.begins) - len(undisturbed)
        assert len(again.begins) <= len(whole.begins) - len(stopped.begins) + 1 + goals


@pytest.mark.slow
@settings(max_examples=20, derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(0, 2), st.integers(1, 4), st.booleans())
def test_search_continues_after_a_stop_at_any_moment(
    chance: random.Random, total: int, partitions: int, goal: bool
) -> None:
    """With some partitions done and others not, again and again, until the run comes to its end."""
    system = random_system(chance)
    asked = Asked(
        system,
        random_question(chance, system, goal),
        {kind: chance.randint(1, 2) for kind in KINDS},
        total,
        partitions,
        tuple(variable.name for variable in system.variables if chance.random() < 0.7),
    )
    with tempfile.TemporaryDirectory() as place, compiled_once():
        asked.explore(Path(place, "whole"))
        undisturbed = asked.all_noted()
        for _ in range(30):
            runner = Ending(chance.randint(0, 40), chance.choice([Interrupted, Killed]))
            with suppress(Killed):
                found = asked.explore(Path(place, "parts"), runner)
                if not found.layers[-1].stopped:
                    break
        found = asked.explore(Path(place, "parts"))
        assert_same(found, embedded(system, asked.question, asked.at_most, total))
        assert asked.all_noted() == undisturbed


@pytest.mark.parametrize(
    ("moment", "first", "step"),
    [
        pytest.param("before", 2, 6, marks=pytest.mark.slow),
        pytest.param("after", 5, 6, marks=pytest.mark.slow),
        pytest.param("before", 1, 1, marks=SLOW),
        pytest.param("after", 1, 1, marks=SLOW),
    ],
)
def test_killed_at_any_write_of_the_driver(
    tmp_path: Path, asked: Asked, reference: Any, moment: str, first: int, step: int
) -> None:
    """A superstep is done and not noted, or noted and not gone on from; a combination is whole and not kept."""
    left = [-1]

    def write_until_killed(path: Path, document: Any) -> None:
        left[0] -= 1
        if left[0] == 0 and moment == "before":
            raise Killed
        write_json(path, document)
        if left[0] == 0:
            raise Killed

    with patch.object(work_folder, "write_json", write_until_killed):
        asked.explore(tmp_path / "whole")
        writes = -1 - left[0]
        assert writes > 15
        asked.noted.clear()
        for number in range(first, writes + 1, step):
            left[0] = number
            with pytest.raises(Killed):
                asked.explore(tmp_path / str(number))
            assert_same(asked.explore(tmp_path / str(number)), reference)
            assert all(step.peak for step in asked.noted), "no superstep without a task"
            asked.noted.clear()


@pytest.mark.slow
def test_complete_combinations_are_not_explored_again(tmp_path: Path, asked: Asked, reference: Any) -> None:
    """Of a run that was done only the goals are looked at once more."""
    asked.explore(tmp_path)
    asked.noted.clear()
    assert_same(asked.explore(tmp_path), reference)
    assert asked.noted == []


def test_partitions_that_were_done_are_not_done_again(tmp_path: Path, asked: Asked) -> None:
    """The superstep that a run ended in is made up of what both did."""
    asked.explore(tmp_path / "whole")
    (first, *_) = asked.noted
    asked.noted.clear()
    asked.explore(tmp_path / "parts", Ending(2, Interrupted))
    done = {path: path.stat().st_mtime_ns for path in tmp_path.glob("parts/states/0-0/*/commit.json")}
    assert len(done) == 2
    asked.explore(tmp_path / "parts", Ending(3, Interrupted))
    assert {path: path.stat().st_mtime_ns for path in done} == done
    (again,) = asked.all_noted()
    assert (again.entered, again.sent) == (first.entered, first.sent)
