"""Ranks: each state without the goal has a step without a fault to a state of smaller rank."""

from __future__ import annotations

import numpy as np
import pytest

from proofka.checker.budget import Budget
from proofka.checker.certificates.ranks import NotRanked, Ranks, ranks_of
from proofka.checker.combinations import Combination, smaller
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.engine import EmbeddedEngine
from proofka.checker.kernel.visited import PARTITIONS
from proofka.model.deployment.explored import Bounds
from proofka.model.faults import Fault
from tests.checker.asking import SMALL, example, run
from tests.deployments import changed

KINDS = (Fault.KILL, Fault.LOST_TRANSACTION_STATE)


def explored(name: str, bounds: Bounds, *, keeps_steps: bool = False, threads: int = 2) -> EmbeddedExploration:
    """Return the exploration of whether a goal can be reached."""
    question = changed(example(name, KINDS), bounds=bounds)
    engine = EmbeddedEngine(keeps_steps=keeps_steps)
    (exploration,) = run(question, ["recoverability"], Budget(threads=threads), engine).explorations
    assert isinstance(exploration, EmbeddedExploration)
    return exploration


def ranked(exploration: EmbeddedExploration) -> dict[Combination, Ranks]:
    found: dict[Combination, Ranks] = {}
    for combination in sorted(exploration.shards, key=lambda one: (sum(one), one)):
        below = [(exploration.shards[part], found[part]) for part in smaller(combination)]
        found[combination] = ranks_of(exploration, exploration.shards[combination], below)
    return found


@pytest.mark.parametrize("keeps_steps", [False, True])
def test_every_state_is_ranked_above_a_successor(keeps_steps: bool) -> None:
    exploration = explored("acks-1", SMALL, keeps_steps=keeps_steps)
    assert all(shard.has_goal == keeps_steps for shard in exploration.shards.values())
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
            if rank == 0:
                assert kernel.inspect(row) >> exploration.goal_bit & 1
                continue
            after = [tuple(int(word) for word in entry[:-1]) for entry in kernel.successors("step", row)]
            assert min(one[state] for state in after for one in known if state in one) < rank
    assert max(rank for one in by_state.values() for rank in one.values()) > 1


def test_kept_steps_and_so_ranks_do_not_depend_on_the_number_of_threads() -> None:
    found = [ranked(explored("acks-1", SMALL, keeps_steps=True, threads=threads)) for threads in (1, 2, 2, 3, 4)]
    assert sum(len(part) for parts in found[0].values() for part in parts) > 1000
    for other in found[1:]:
        assert other.keys() == found[0].keys()
        for combination, parts in other.items():
            for part, expected in zip(parts, found[0][combination], strict=True):
                assert part.tolist() == expected.tolist()


@pytest.mark.parametrize("keeps_steps", [False, True])
def test_a_set_from_which_no_step_leads_to_the_goal_has_no_ranks(keeps_steps: bool) -> None:
    exploration = explored("transaction-state", example("transaction-state").bounds, keeps_steps=keeps_steps)
    stuck = next(violation for violation in exploration.cut_sets("recoverability"))
    with pytest.raises(NotRanked):
        below = [(exploration.shards[part], ranked_of(exploration, part)) for part in smaller(stuck.combination)]
        ranks_of(exploration, exploration.shards[stuck.combination], below)


def ranked_of(exploration: EmbeddedExploration, combination: Combination) -> Ranks:
    return ranks_of(exploration, exploration.shards[combination], [])
