"""A search that outgrew memory goes on in files, and finds what it would have found."""

from __future__ import annotations

import random
import resource
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.budget import Budget, Meter
from proofka.checker.distributed.exploration import DistributedExploration
from proofka.checker.distributed.handover import hand_over
from proofka.checker.distributed.running import OneByOne
from proofka.checker.distributed.work_folder import ExplorationFolder
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Question
from proofka.model.faults import Fault
from proofka.model.language import TransitionSystem
from tests.checker.distributed.both import assert_same, embedded
from tests.checker.small_disk import in_a_child
from tests.checker.test_exploration import KINDS, NEVER, SLOW, counters, random_question, random_system


def handed_over(
    system: TransitionSystem, question: Question, at_most: dict[Fault, int], total: int, limit: int, partitions: int
) -> tuple[DistributedExploration | None, EmbeddedExploration]:
    """Stop in memory after so many states, and go on in files; None if there are no more states than that."""
    begun = EmbeddedExploration(system, question, at_most, Meter(Budget(states=limit), timed=False), infer=False)
    reference = embedded(system, question, at_most, total, infer=False)
    for _ in range(total + 1):
        if begun.explore_layer().stopped:
            break
    else:
        return None, reference
    with tempfile.TemporaryDirectory() as folder:
        meter = Meter(Budget(), timed=False)
        place = ExplorationFolder(Path(folder))
        other = DistributedExploration(
            system, question, at_most, meter, infer=False, runner=OneByOne(), folder=place, partitions=partitions
        )
        hand_over(begun, other)
        while len(other.layers) <= total:
            other.explore_layer()
        assert_same(other, reference)
    return other, reference


@pytest.mark.slow
@settings(max_examples=20, derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(0, 3), st.integers(1, 5), st.booleans())
def test_random_systems(chance: random.Random, total: int, partitions: int, goal: bool) -> None:
    system = random_system(chance)
    question = random_question(chance, system, goal)
    if chance.random() < 0.5:
        question = replace(question, invariants={**question.invariants, "never": NEVER})
    at_most = {kind: chance.randint(1, 3) for kind in KINDS}
    handed_over(system, question, at_most, total, chance.randint(1, 12), partitions)


@pytest.mark.parametrize("limit", [1, 40, 1000, 5000])
def test_in_the_middle_of_the_levels(limit: int) -> None:
    """The budget runs out with rows expanded, half expanded and not expanded."""
    other, reference = handed_over(counters(20), Question({"never": NEVER}, None, {}), {SLOW: 1}, 1, limit, 3)
    assert other is not None
    assert reference.states == 21**3


@pytest.mark.slow
def test_more_partitions_than_files_may_be_open() -> None:
    """The files of all partitions are in memory at the same time; on a large machine there are hundreds of them."""
    few = 60

    def hand_over_to_many() -> int:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
        other, _ = handed_over(counters(8), Question({"never": NEVER}, None, {}), {SLOW: 1}, 1, 100, few)
        return int(other is None) or int(resource.getrlimit(resource.RLIMIT_NOFILE) != (few, hard))

    assert in_a_child(hand_over_to_many) == 0
