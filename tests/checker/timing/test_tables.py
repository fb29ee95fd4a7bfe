"""Monitors as tables, in the kernel, and as terms, composed with the system: written apart, and the same states."""

from __future__ import annotations

from itertools import chain

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.budget import Budget, Meter
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Question
from proofka.checker.kernel.monitored import MOST_FLAGS, Monitors
from proofka.checker.kernel.visited import PARTITIONS
from proofka.checker.timing.constraints import RunningClocks
from proofka.checker.timing.differences import NOW, Difference
from proofka.checker.timing.monitors import Watched, compose, watch
from proofka.checker.timing.tables import TooManyFlags, tables
from proofka.model.faults import Fault
from proofka.model.language import Action, Clock, ClockKey, Need, TransitionSystem
from tests.checker.timing.random_systems import PLACES, STEPS, Timed, has_times, of, runs, timed_systems

FAULTS = 2


@st.composite
def watched_systems(draw: st.DrawFn) -> tuple[Timed, list[Difference]]:
    """Draw a system and differences between its clocks, useful or not."""
    timed = draw(timed_systems())
    keys: list[ClockKey] = [clock.key for clock in timed.system.clocks]
    pairs = [(earlier, later) for earlier in (*keys, NOW) for later in keys if earlier != later]
    differences = [
        Difference(earlier, later, draw(st.integers(-12, -1 if earlier == NOW else 12)))
        for earlier, later in draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=6))
    ]
    return timed, differences


def explored(system: TransitionSystem, timed: Timed, monitors: Monitors | None = None) -> EmbeddedExploration:
    """Return all states that few faults lead to."""
    question = Question({"never": z3.BoolVal(False)}, None, {"bad": timed.violated})
    meter = Meter(Budget(), timed=False)
    exploration = EmbeddedExploration(system, question, {Fault.KILL: FAULTS}, meter, infer=False, monitors=monitors)
    for _ in range(FAULTS + 1):
        exploration.explore_layer()
    return exploration


def levels(exploration: EmbeddedExploration) -> list[list[int]]:
    """Return the number of states at each depth, for each combination of faults."""
    return [exploration.shards[one].level_sizes() for one in sorted(exploration.shards)]


def watched_clocks(system: TransitionSystem) -> dict[ClockKey, Watched]:
    return watch(system.clocks, [clock.runs for clock in system.clocks])


def explored_with_tables(timed: Timed, differences: list[Difference]) -> EmbeddedExploration:
    system = timed.system
    running = RunningClocks.of(system).running(system.initial)
    return explored(system, timed, tables(system.actions, system.needs, watched_clocks(system), running, differences))


@pytest.mark.slow
@given(watched_systems())
@settings(max_examples=60, derandomize=True)
def test_both_find_the_same_states(watched: tuple[Timed, list[Difference]]) -> None:
    timed, differences = watched
    composed = compose(timed.system, watched_clocks(timed.system), differences)
    assert levels(explored_with_tables(timed, differences)) == levels(explored(composed, timed))


def act(number: int, guard: z3.BoolRef, x: int) -> Action:
    updates = {PLACES[0]: z3.IntVal(x), STEPS: STEPS.term + 1}
    guard = z3.And(STEPS.term < 2, guard)
    arguments = {"number": number}
    return Action(
        "act",
        "somebody",
        lane="brokers",
        arguments=arguments,
        guard=guard,
        updates=updates,
        sentence=lambda _, __: "acts",
        semantics="none",
    )


def two_clocks() -> tuple[Timed, Clock, Clock]:
    """Build two ways to the same place: on one of them the difference of the two clocks is known."""
    x = PLACES[0].term
    old = Clock("clock", {"number": 0}, x >= 0, "the start")
    new = Clock("clock", {"number": 1}, x > 0, "the first step", of("deadline", 0, 4))
    actions = (act(0, x == 0, 1), act(1, x == 1, 2), act(2, x == 1, 2))
    needs = {actions[1].key: (Need(old, of("need", 10, None)),)}
    system = TransitionSystem("two clocks", (STEPS, *PLACES), actions, clocks=(old, new), needs=needs)
    return Timed(system, z3.BoolVal(False)), old, new


def test_need_of_one_clock_and_deadline_of_another_set_a_flag() -> None:
    timed, old, new = two_clocks()
    difference = Difference(new.key, old.key, -6)
    assert [*chain(*levels(explored_with_tables(timed, [difference])))] == [1, 1, 2]
    composed = compose(timed.system, watched_clocks(timed.system), [difference])
    assert [*chain(*levels(explored(composed, timed)))] == [1, 1, 2]


def test_the_last_of_as_many_flags_as_a_state_can_carry_is_set_as_well() -> None:
    timed, old, new = two_clocks()
    differences = [Difference(new.key, old.key, -6 - more) for more in range(MOST_FLAGS)]
    assert [*chain(*levels(explored_with_tables(timed, differences[1:])))] == [1, 1, 1]
    assert [*chain(*levels(explored_with_tables(timed, differences)))] == [1, 1, 2]


def test_a_flag_more_is_refused() -> None:
    timed, old, new = two_clocks()
    with pytest.raises(TooManyFlags):
        explored_with_tables(timed, [Difference(new.key, old.key, -1 - more) for more in range(MOST_FLAGS + 1)])


@pytest.mark.slow
@given(watched_systems())
@settings(max_examples=600, derandomize=True)
def test_nothing_that_has_times_is_left_out_of_many(watched: tuple[Timed, list[Difference]]) -> None:
    nothing_that_has_times_is_left_out(watched)


@pytest.mark.slow
@given(watched_systems())
@settings(max_examples=60, derandomize=True)
def test_nothing_that_has_times_is_left_out(watched: tuple[Timed, list[Difference]]) -> None:
    nothing_that_has_times_is_left_out(watched)


def nothing_that_has_times_is_left_out(watched: tuple[Timed, list[Difference]]) -> None:
    """Assert that monitors keep every state that some run with times leads to."""
    timed, differences = watched
    system = timed.system
    exploration = explored_with_tables(timed, differences)
    there = {
        tuple(exploration.layout.unpack(row).values())
        for shard in exploration.shards.values()
        for part in range(PARTITIONS)
        for row in shard.packed(part, slice(None))
    }
    names = [variable.name for variable in system.variables]
    in_time = {
        tuple(states[-1][name] for name in names)
        for taken, states in runs(system)
        if sum(action.fault is not None for action in taken) <= FAULTS and has_times(system, taken, states)
    }
    assert in_time <= there
