"""The memory that a run counts, and the bytes that a state takes once the goal is decided."""

from __future__ import annotations

import random

import pytest

from proofka.checker.budget import Budget, Meter
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.kernel.visited import SLOTS
from proofka.checker.shard import Shard
from tests.checker.test_threads import MAZE_FAULTS, maze

WORD_AND_PARENT = 12
"""Bytes of a state without its share of the table."""


@pytest.mark.parametrize("goal", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_decided_goal_costs_no_memory(goal: bool, threads: int) -> None:
    """Complete shards hold words, parents and tables alone, and the meter counts just these."""
    system, question = maze(random.Random(0), goal=goal)
    meter = Meter(Budget(), timed=False)
    found = EmbeddedExploration(system, question, MAZE_FAULTS, meter, threads)
    found.explore_layer()
    found.explore_layer()
    assert found.states > 1000
    for shard in found.shards.values():
        assert shard.complete
        assert shard.bytes == shard.count * WORD_AND_PARENT + tables_of(shard)
    assert meter.memory == sum(shard.bytes for shard in found.shards.values()) + found.shared_bytes


def tables_of(shard: Shard) -> int:
    """Return the bytes of the tables of a shard's partitions."""
    return 4 * int(shard.places[:, SLOTS].sum())
