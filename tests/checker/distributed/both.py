"""The same question put to the embedded and to the distributed engine, and what of the answers has to be the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checker.budget import Budget, Meter
from checker.distributed.exploration import DistributedExploration
from checker.distributed.running import OneByOne
from checker.distributed.spread import summed
from checker.distributed.work_folder import ExplorationFolder
from checker.embedded import EmbeddedExploration
from checker.exploration import AnyExploration, Question
from model.faults import Fault
from model.language import TransitionSystem
from tests.checker.test_exploration import check_runs, found_cut_sets


def distributed(
    folder: Path,
    system: TransitionSystem,
    question: Question,
    at_most: Mapping[Fault, int],
    total: int,
    budget: Budget | None = None,
    **more: Any,
) -> DistributedExploration:
    """Explore in partitions, in this process."""
    meter = Meter(budget or Budget(), timed=False)
    chosen = {"runner": OneByOne(), "folder": ExplorationFolder(folder), **more}
    exploration = DistributedExploration(system, question, at_most, meter, **chosen)
    for _ in range(total + 1):
        exploration.explore_layer()
    return exploration


def embedded(
    system: TransitionSystem, question: Question, at_most: Mapping[Fault, int], total: int, **more: Any
) -> EmbeddedExploration:
    """Explore in memory."""
    exploration = EmbeddedExploration(system, question, at_most, Meter(Budget(), timed=False), **more)
    for _ in range(total + 1):
        exploration.explore_layer()
    return exploration


def summary(exploration: AnyExploration) -> dict[str, Any]:
    """Everything that must not depend on who explores."""
    shards = exploration.shards
    return {
        "levels": {combination: summed([shards[combination].level_sizes()]) for combination in sorted(shards)},
        "transitions": {combination: shards[combination].transition_count for combination in sorted(shards)},
        "cut sets": found_cut_sets(exploration),
        "observed": exploration.observed(),
        "undecided": exploration.undecided,
        "layers": [(layer.size, layer.explored, layer.of, layer.stopped) for layer in exploration.layers],
        "exhausted": exploration.exhausted(),
        "states": exploration.states,
        "depth": exploration.depth,
    }


def assert_same(one: AnyExploration, other: AnyExploration) -> None:
    """Both found the same, and the runs of both are runs."""
    assert summary(one) == summary(other)
    check_runs(one)
    check_runs(other)
