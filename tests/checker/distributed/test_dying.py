"""Tasks that die anywhere and are tried again: what is found is what would have been found."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.exploration import Question
from tests.checker.distributed.both import assert_same, distributed, embedded, owned_by
from tests.checker.distributed.dying import Dying
from tests.checker.distributed.stopping import some_resets
from tests.checker.test_exploration import KINDS, NEVER, SLOW, counters, random_question, random_system


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 50))])
def test_random_systems(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    system, total = random_system(chance), chance.randint(0, 3)
    question = random_question(chance, system, goal=seed % 2 == 0)
    if chance.random() < 0.5:
        question = replace(question, invariants={**question.invariants, "never": NEVER})
    at_most = {kind: chance.randint(1, 2) for kind in KINDS}
    owners = [variable.name for variable in system.variables if chance.random() < 0.7]
    with owned_by(*owners):
        runner, partitions = Dying(chance), chance.randint(1, 4)
        found = distributed(tmp_path, system, question, at_most, total, partitions=partitions, runner=runner)
    assert_same(found, embedded(system, question, at_most, total))


@pytest.mark.slow
@pytest.mark.parametrize("goal", [False, True])
def test_ways_that_become_shorter(tmp_path: Path, goal: bool) -> None:
    """With faults, and with states that are found again by shorter ways after they were expanded."""
    asked, runner = some_resets(goal=goal), Dying(random.Random(5), often=0.3)
    with owned_by("counter0", "counter1"):
        found = distributed(
            tmp_path, asked.system, asked.question, asked.at_most, 2, partitions=3, runner=runner, counted=not goal
        )
    assert_same(found, embedded(asked.system, asked.question, asked.at_most, 2, counted=not goal))
    assert min(runner.killed, runner.raised, runner.lost) > 0


@pytest.mark.slow
def test_many_states(tmp_path: Path) -> None:
    """More of them than tables have room for at first, so that attempts die while they grow."""
    system, question, runner = counters(20), Question({"never": NEVER}, None, {}), Dying(random.Random(6))
    with owned_by("counter0"):
        found = distributed(tmp_path, system, question, {SLOW: 1}, 1, partitions=3, runner=runner)
    assert_same(found, embedded(system, question, {SLOW: 1}, 1))
    assert min(runner.killed, runner.raised, runner.lost) > 0
