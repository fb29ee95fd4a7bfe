"""Faults as counters in the state, against exploration by layers of faults."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.fault_counters import count_faults, counter_name
from proofka.checker.solver import prove_domain_safety
from proofka.model.faults import Fault
from proofka.model.language import TransitionSystem, Variable
from tests.checker.naive import Faults, Frozen, Naive, contained
from tests.checker.plain_evaluator import holds
from tests.checker.test_exploration import (
    KINDS,
    action,
    explored,
    found_cut_sets,
    random_question,
    random_system,
)


def minimal(states: set[Frozen], kinds: tuple[Fault, ...], violated: z3.BoolRef) -> set[Faults]:
    """Return the minimal numbers of faults, by the counters, in the states that violate something."""
    bad = [dict(state) for state in states]
    counts = {tuple(state.get(counter_name(kind), 0) for kind in kinds) for state in bad if holds(violated, state)}
    return {one for one in counts if not any(other != one and contained(other, one) for other in counts)}


@pytest.mark.slow
@settings(max_examples=40, derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(0, 3))
def test_flat_exploration_of_counters_agrees_with_layers(chance: random.Random, total: int) -> None:
    """Violations and their smallest numbers of faults do not depend on the way of counting faults."""
    system = random_system(chance)
    question = random_question(chance, system, goal=False)
    question = replace(question, invariants={**question.invariants, "never": z3.BoolVal(False)})
    at_most = {kind: chance.randint(0, 3) for kind in KINDS}
    counted = count_faults(system, at_most, total)
    layered = explored(system, question, at_most, total)
    flat = explored(counted, question, {}, 0)
    states = Naive(counted, (), (), 0).states

    assert flat.states == len(states)
    cut_sets = found_cut_sets(layered)
    assert {name for name, sets in found_cut_sets(flat).items() if sets} == {n for n, sets in cut_sets.items() if sets}
    for name, violated in question.invariants.items():
        assert minimal(states, layered.kinds, violated) == set(cut_sets[name])


@pytest.mark.slow
@settings(max_examples=20, derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(0, 3))
def test_the_states_are_pairs_of_a_state_and_the_faults_so_far(chance: random.Random, total: int) -> None:
    system = random_system(chance)
    at_most = {kind: chance.randint(1, 2) for kind in KINDS}
    counted = prove_domain_safety(count_faults(system, at_most, total))
    pairs = sum(
        len(reached) for reached in Naive(system, KINDS, [at_most[kind] for kind in KINDS], total).depth.values()
    )
    assert len(Naive(counted, (), (), 0).states) == pairs


def budgeted(at_most: dict[Fault, int], total: int) -> TransitionSystem:
    x = Variable("x", 0, 1, 0)
    actions = [action(kind.value, x.term == 0, {x: z3.IntVal(0)}, kind) for kind in KINDS]
    return count_faults(TransitionSystem("budgeted", (x,), (action("step", x.term == 0, {}), *actions)), at_most, total)


@pytest.mark.parametrize(
    ("at_most", "total", "states"),
    [
        ({Fault.SLOW_FOLLOWER: 2}, 0, 1),
        ({Fault.SLOW_FOLLOWER: 2}, 1, 2),
        ({Fault.SLOW_FOLLOWER: 2}, 3, 3),
        ({Fault.SLOW_FOLLOWER: 2, Fault.LOST_REQUEST: 1}, 2, 5),
        ({Fault.SLOW_FOLLOWER: 2, Fault.LOST_REQUEST: 2}, 4, 9),
        ({Fault.SLOW_FOLLOWER: 0, Fault.KILL: 5}, 2, 1),
    ],
)
def test_budgets(at_most: dict[Fault, int], total: int, states: int) -> None:
    counted = budgeted(at_most, total)
    assert len(Naive(counted, (), (), 0).states) == states
    assert all(one.fault is None for one in counted.actions)
    assert prove_domain_safety(counted).variables == counted.variables


def test_a_total_is_needed() -> None:
    with pytest.raises(ValueError, match="-1 faults"):
        budgeted({}, -1)
