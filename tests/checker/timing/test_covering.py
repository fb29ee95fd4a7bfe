"""Explorations without covered states against explorations with every state: what is left out is covered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.budget import Budget, Meter
from proofka.checker.combinations import Combination, is_contained, smaller
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Question
from proofka.checker.kernel.visited import PARTITION_BITS
from proofka.checker.questions import VIOLATED
from proofka.checker.timing.beside import not_violated
from proofka.checker.timing.constraints import RunningClocks
from proofka.checker.timing.differences import Difference
from proofka.checker.timing.tables import tables
from proofka.model.faults import Fault
from tests.checker.timing.random_systems import STEPS, Timed
from tests.checker.timing.test_tables import FAULTS, two_clocks, watched_clocks, watched_systems

Found = tuple[bytes, int, int]
"""The fields of a state, its flags as bits, and its depth."""

NEVER = Question({"never": z3.BoolVal(False)}, None, {})


@st.composite
def systems_with_loops(draw: st.DrawFn) -> tuple[Timed, list[Difference]]:
    """Draw a system that does not count its steps, so that the same fields are found at several depths."""
    timed, differences = draw(watched_systems())
    actions = tuple(
        replace(action, updates={variable: value for variable, value in action.updates.items() if variable != STEPS})
        for action in timed.system.actions
    )
    return Timed(replace(timed.system, actions=actions), timed.violated), differences


def explored(
    timed: Timed, differences: list[Difference], question: Question, *, covers: bool, threads: int = 1
) -> EmbeddedExploration:
    system = timed.system
    running = RunningClocks.of(system).running(system.initial)
    monitors = tables(system.actions, system.needs, watched_clocks(system), running, differences)
    meter = Meter(Budget(), timed=False)
    exploration = EmbeddedExploration(
        system, question, {Fault.KILL: FAULTS}, meter, threads, infer=False, monitors=monitors, covers=covers
    )
    for _ in range(FAULTS + 1):
        exploration.explore_layer()
    return exploration


def states(exploration: EmbeddedExploration, combination: Combination) -> Iterator[Found]:
    assert exploration.part is not None
    fields, shard = exploration.part.layout.words, exploration.shards[combination]
    for part in np.flatnonzero(shard.counts).tolist():
        rows = shard.packed(part, slice(None))
        depths = shard.depths_of(np.arange(len(rows), dtype=np.int64) << PARTITION_BITS | part)
        for row, depth in zip(rows, depths, strict=True):
            yield row[:fields].tobytes(), int.from_bytes(row[fields:].tobytes(), "little"), int(depth)


def leaves_out_what_is_covered(timed: Timed, differences: list[Difference]) -> int:
    """Assert that each state is covered as early as it was found, and that nothing else is found; return the number of
    states that are left out."""
    every = explored(timed, differences, NEVER, covers=False)
    fewer = explored(timed, differences, NEVER, covers=True)
    assert every.shards.keys() == fewer.shards.keys()
    for combination in every.shards:
        kept = set(states(fewer, combination))
        of_parts = [state for part in smaller(combination) for state in states(fewer, part)]
        assert {state[:2] for state in kept} <= {state[:2] for state in states(every, combination)}
        for fields, flags, depth in states(every, combination):
            at_most_as_deep = any(own == fields and not few & ~flags and at <= depth for own, few, at in kept)
            assert at_most_as_deep or any(own == fields and not few & ~flags for own, few, _ in of_parts)
    return every.states - fewer.states


@pytest.mark.slow
@given(systems_with_loops() | watched_systems())
@settings(max_examples=200, derandomize=True)
def test_left_out_states_are_covered(watched: tuple[Timed, list[Difference]]) -> None:
    leaves_out_what_is_covered(*watched)


@pytest.mark.slow
@given(systems_with_loops() | watched_systems(), st.sampled_from([1, 3]))
@settings(max_examples=100, derandomize=True)
def test_violations_and_their_depths_stay(watched: tuple[Timed, list[Difference]], threads: int) -> None:
    timed, differences = watched
    question = Question({"bad": timed.violated}, None, {"seen": z3.Not(timed.violated)})
    every = explored(timed, differences, question, covers=False)
    fewer = explored(timed, differences, question, covers=True, threads=threads)

    def found(exploration: EmbeddedExploration) -> list[tuple[Combination, int]]:
        return [(violation.combination, violation.depth) for violation in exploration.cut_sets("bad")]

    assert found(every) == found(fewer)
    assert every.observed() == fewer.observed()
    for violation in fewer.cut_sets("bad"):
        assert len(fewer.path(violation)) == violation.depth


@pytest.mark.slow
@given(systems_with_loops() | watched_systems())
@settings(max_examples=60, derandomize=True)
def test_fault_sets_excluded_for_another_property_show_no_violation(watched: tuple[Timed, list[Difference]]) -> None:
    timed, differences = watched
    question = Question({"never": z3.BoolVal(False)}, None, {VIOLATED + "bad": timed.violated})
    exploration = explored(timed, differences, question, covers=True)
    shown = [one.combination for one in exploration.first_observed(VIOLATED + "bad")]
    clean = {
        ("bad", exploration.named(combination))
        for combination in exploration.shards
        if not any(is_contained(part, combination) for part in shown)
    }
    assert set(not_violated(exploration)) == clean


def test_goals_and_counts_need_every_state() -> None:
    for goal, counted in ((("goal", z3.BoolVal(True)), False), (None, True)):
        question = Question({}, goal, {})
        with pytest.raises(ValueError, match="need all states"):
            EmbeddedExploration(
                two_clocks()[0].system, question, {}, Meter(Budget(), timed=False), counted=counted, covers=True
            )
