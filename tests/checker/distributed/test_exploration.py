"""Searching in partitions finds what searching in memory finds: states, levels, cut sets, shortest runs."""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.exploration import Question
from proofka.model.published.protocols import PROTOCOLS, protocol
from tests.checker.distributed.both import assert_same, distributed, embedded
from tests.checker.test_exploration import KINDS, NEVER, SLOW, counters, random_question, random_system


@pytest.mark.slow
@settings(max_examples=25, derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(0, 3), st.integers(1, 6), st.booleans(), st.booleans())
def test_random_systems(chance: random.Random, total: int, partitions: int, goal: bool, never: bool) -> None:
    """``never`` keeps a search from ending as soon as everything was seen."""
    system = random_system(chance)
    question = random_question(chance, system, goal)
    if never:
        question = replace(question, invariants={**question.invariants, "never": NEVER})
    limits = frozenset(chance.sample(sorted(question.observations), 1))
    question = replace(question, limits=limits)
    at_most = {kind: chance.randint(1, 3) for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        found = distributed(Path(folder), system, question, at_most, total, partitions=partitions)
        assert_same(found, embedded(system, question, at_most, total))


@pytest.mark.parametrize("partitions", [1, 3, 8])
def test_states_pass_between_partitions(tmp_path: Path, partitions: int) -> None:
    """Every counter is a bit of everything: the ways from one partition to another are many."""
    system, question = counters(20), Question({"never": NEVER}, None, {})
    found = distributed(tmp_path, system, question, {SLOW: 1}, 1, partitions=partitions)
    assert_same(found, embedded(system, question, {SLOW: 1}, 1))
    assert (max(sum(shard.level_sizes()) for shard in found.shards.values())) == 21**3


@pytest.mark.parametrize("name", PROTOCOLS)
def test_published_protocols(tmp_path: Path, name: str) -> None:
    """Counted whole: in how many states each invariant is violated, and the levels."""
    published = protocol(name, replicas=3, log_size=2, records=2, epochs=1)
    question = Question({what: z3.simplify(term) for what, term in published.violated.items()}, None, {})
    supersteps: list[int] = []
    found = distributed(
        tmp_path,
        published.system,
        question,
        {},
        0,
        counted=True,
        partitions=8,
        on_superstep=lambda superstep: supersteps.append(superstep.entered),
    )
    reference = embedded(published.system, question, {}, 0, counted=True, threads=2)
    assert_same(found, reference)
    (ours,), (theirs,) = found.shards.values(), reference.shards.values()
    held = range(len(question.invariants))
    assert [ours.held_in(bit) for bit in held] == [theirs.held_in(bit) for bit in held]
    assert len(supersteps) * 3 <= found.depth
    assert sum(supersteps) == found.states
