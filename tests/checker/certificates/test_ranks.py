"""Ranks: each state without the goal has a step without a fault to a state of smaller rank."""

from __future__ import annotations

import numpy as np
import pytest

from checker.certificates.ranks import NotRanked, Ranks, ranks_of
from checker.combinations import Combination, smaller
from checker.embedded import EmbeddedExploration
from checker.kernel.visited import PARTITIONS
from model.deployment.explored import Bounds
from model.faults import Fault
from tests.checker.asking import SMALL, example, run
from tests.deployments import changed

KINDS = (Fault.KILL, Fault.LOST_TRANSACTION_STATE)


def explored(name: str, bounds: Bounds) -> EmbeddedExploration:
    """Return the exploration of whether a goal can be reached."""
    question = changed(example(name, KINDS), bounds=bounds)
    (exploration,) = run(question, ["recoverability"]).explorations
    assert isinstance(exploration, EmbeddedExploration)
    return exploration


def ranked(exploration: EmbeddedExploration) -> dict[Combination, Ranks]:
    found: dict[Combination, Ranks] = {}
    for combination in sorted(exploration.shards, key=lambda one: (sum(one), one)):
        below = [(exploration.shards[part], found[part]) for part in smaller(combination)]
        found[combination] = ranks_of(exploration, exploration.shards[combination], below)
    return found


def test_every_state_is_ranked_above_a_successor() -> None:
    exploration = explored("acks-1", SMALL)
    kernel = exploration.kernel
    by_state: dict[Combination, dict[tuple[int, ...], int]] = {}
    for combination, of_parts in ranked(exploration).items():
        shard = exploration.shards[combination]
        packed = [shard.packed(part, slice(None)).tolist() for part in range(PARTITIONS)]
        by_state[combination] = {
            tuple(row): int(rank)
            for part in range(PARTITIONS)
            for row, rank in zip(packed[part], of_parts[part], strict=True)
        }
        assert len(by_state[combination]) == shard.count
        known = [by_state[combination], *(by_state[part] for part in smaller(combination))]
        for state, rank in by_state[combination].items():
            row = np.array(state, dtype=np.uint64)
            if kernel.inspect(row) >> exploration.goal_bit & 1:
                assert rank == 0
                continue
            after = [tuple(int(word) for word in entry[:-1]) for entry in kernel.successors("step", row)]
            assert min(one[state] for state in after for one in known if state in one) < rank
    assert max(rank for one in by_state.values() for rank in one.values()) > 1


def test_a_set_from_which_no_step_leads_to_the_goal_has_no_ranks() -> None:
    exploration = explored("transaction-state", example("transaction-state").bounds)
    stuck = next(violation for violation in exploration.cut_sets("recoverability"))
    with pytest.raises(NotRanked):
        below = [(exploration.shards[part], ranked_of(exploration, part)) for part in smaller(stuck.combination)]
        ranks_of(exploration, exploration.shards[stuck.combination], below)


def ranked_of(exploration: EmbeddedExploration, combination: Combination) -> Ranks:
    return ranks_of(exploration, exploration.shards[combination], [])
