"""Dead-variable reset: the reduced system does the same, step by step, in fewer states."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.budget import Budget, Meter
from checker.embedded import EmbeddedExploration
from checker.exploration import Exploration, Question
from checker.questions import group, prepare
from checker.reductions import dead_variables
from checker.reductions.dead_variables import effective, find_dead_variables, reset_dead_variables
from checker.solver import prove_domain_safety
from model.faults import Fault
from model.language import State, TransitionSystem, Variable
from model.pipeline import build
from properties.catalogue import properties_of
from tests.checker.asking import SMALL, example
from tests.checker.naive import Naive, freeze
from tests.checker.plain_evaluator import holds, successors
from tests.checker.test_exploration import (
    KINDS,
    action,
    found_cut_sets,
    random_condition,
    random_number,
    random_question,
    random_system,
)

PHASE, VALUE, COPY = Variable("phase", 0, 2, 0), Variable("value", 0, 3, 0), Variable("copy", 0, 3, 2)


def names(system: TransitionSystem, roots: Sequence[z3.BoolRef]) -> set[str]:
    return {str(one) for one in find_dead_variables(system, roots)}


def states(system: TransitionSystem, total: int = 0) -> int:
    return len(Naive(system, KINDS, (total,) * len(KINDS), total).states)


def difference(system: TransitionSystem, reduced: TransitionSystem, roots: Sequence[z3.BoolRef]) -> str | None:
    """The first thing in which two systems differ when both do the same actions side by side; None if they never do."""
    assert [one.key for one in system.actions] == [one.key for one in reduced.actions]
    start = (system.initial, reduced.initial)
    seen = {tuple(map(freeze, start))}
    frontier: list[tuple[State, State]] = [start]
    while frontier:
        one, other = frontier.pop()
        if [holds(root, one) for root in roots] != [holds(root, other) for root in roots]:
            return f"the roots of {one} and {other}"
        after, after_other = successors(system.actions, one), successors(reduced.actions, other)
        if after.keys() != after_other.keys():
            return f"what can happen in {one} and {other}"
        for name, state in after.items():
            pair = (state, after_other[name])
            if (key := tuple(map(freeze, pair))) not in seen:
                seen.add(key)
                frontier.append(pair)
    return None


def phased_system(chance: random.Random) -> TransitionSystem:
    """Actions that belong to phases, each phase using only some variables; now and then one uses another.

    A step to another phase often sets what its own phase does not use: it was dead until then.
    """
    phase = Variable("phase", 0, 2, chance.randint(0, 1))
    others = tuple(Variable(f"x{i}", -(i % 2), 2 - i % 2, 0) for i in range(chance.randint(2, 3)))
    uses = [tuple(chance.sample(others, chance.randint(1, len(others) - 1))) for _ in range(3)]

    def visible(now: int) -> tuple[Variable, ...]:
        return others if chance.random() < 0.05 else uses[now]

    def update(variable: Variable, now: int) -> z3.ArithRef:
        value = random_number(chance, visible(now))
        return z3.If(z3.And(value >= variable.low, value <= variable.high), value, variable.low)

    def following(now: int) -> z3.ArithRef:
        chosen = chance.choice([phase.term, z3.IntVal(chance.randint(0, 2)), z3.IntVal((now + 1) % 3)])
        return chance.choice([chosen, z3.If(random_condition(chance, visible(now)), chosen, phase.term)])

    actions = []
    for number in range(chance.randint(6, 9)):
        now = number % 3
        changed = set(chance.sample(others, chance.randint(0, len(others))))
        moves = chance.random() < 0.7
        if moves and chance.random() < 0.7:
            changed.update(set(others) - set(uses[now]))
        updates = {variable: update(variable, now) for variable in others if variable in changed}
        if moves:
            updates[phase] = following(now)
        guard = phase.term == now
        if chance.random() < 0.5:
            guard = z3.And(guard, random_condition(chance, visible(now)))
        actions.append(action(f"action{number}", guard, updates, chance.choice([None, None, None, *KINDS])))
    return TransitionSystem("phased", (phase, *others), tuple(actions))


def phased_question(chance: random.Random, system: TransitionSystem) -> Question:
    """Predicates that look at one variable in one phase."""
    phase, *others = system.variables

    def condition() -> z3.BoolRef:
        variable = chance.choice(others)
        return z3.And(phase.term == chance.randint(0, 2), variable.term >= chance.randint(variable.low + 1, 2))

    return Question({"bad": condition(), "worse": phase.term == 2}, ("goal", condition()), {"seen": phase.term == 1})


def check_same(system: TransitionSystem, question: Question, total: int) -> None:
    """The same behaviour, verdicts, cut sets and lengths, as far as anything can see."""
    roots = question.predicates
    reduced = reset_dead_variables(system, roots)
    assert difference(system, reduced, roots) is None
    whole, small = (Naive(one, KINDS, (total,) * len(KINDS), total) for one in (system, reduced))
    assert whole.cut_sets(question) == small.cut_sets(question)
    assert visible_depths(whole, roots) == visible_depths(small, roots)
    assert len(small.states) <= len(whole.states)


def visible_depths(naive: Naive, roots: Sequence[z3.BoolRef]) -> dict[tuple[object, ...], int]:
    """Faults and what the roots see -> after how many steps it is first seen."""
    first: dict[tuple[object, ...], int] = {}
    for faults, reached in naive.depth.items():
        for state, depth in reached.items():
            seen = (faults, *(holds(root, dict(state)) for root in roots))
            first[seen] = min(depth, first.get(seen, depth))
    return first


def test_a_value_that_was_used_up() -> None:
    """The value is chosen in phase 0, read in phase 1, and never again: phase 2 is one state, not four."""
    choices = [action(f"choose{i}", PHASE.term == 0, {VALUE: z3.IntVal(i), PHASE: z3.IntVal(1)}) for i in range(4)]
    use = action("use", z3.And(PHASE.term == 1, VALUE.term > 0), {PHASE: z3.IntVal(2)})
    system = TransitionSystem("used up", (PHASE, VALUE), (*choices, use))
    roots = [PHASE.term == 2]
    assert names(system, roots) == {"value while phase = 0", "value while phase = 2"}
    assert [str(one) for one in effective(system, roots)] == ["value while phase = 2"]
    reduced = reset_dead_variables(system, roots)
    assert (states(system), states(reduced)) == (1 + 4 + 3, 1 + 4 + 1)
    assert reduced.actions[:4] == system.actions[:4], "where nothing dies nothing is changed"
    assert difference(system, reduced, roots) is None
    assert names(system, [z3.And(PHASE.term == 2, VALUE.term == 1)]) == {"value while phase = 0"}
    assert reset_dead_variables(system, roots, dead=()).actions == system.actions


def test_two_variables_that_only_feed_each_other() -> None:
    """Copied to and fro, but never read: dead together, or alive together."""
    swap = action("swap", PHASE.term == 1, {VALUE: COPY.term, COPY: VALUE.term})
    system = TransitionSystem(
        "swapping",
        (PHASE, VALUE, COPY),
        (
            action("more", z3.And(PHASE.term == 0, VALUE.term < 3), {VALUE: VALUE.term + 1}),
            action("freeze", PHASE.term == 0, {PHASE: z3.IntVal(1)}),
            swap,
        ),
    )
    assert {"value while phase = 1", "copy while phase = 1"} <= names(system, [PHASE.term == 1])
    reduced = reset_dead_variables(system, [PHASE.term == 1])
    assert difference(system, reduced, [PHASE.term == 1]) is None
    assert (states(system), states(reduced)) == (4 + 7, 4 + 1)
    alive = names(system, [COPY.term == 0])
    assert not {"value while phase = 1", "copy while phase = 1"} & alive, "a root that reads one keeps both alive"


def test_what_an_update_carries_on_is_not_dead() -> None:
    """In phase 1 nobody reads the value, but the step to phase 2 takes it along, and there it is read."""
    system = TransitionSystem(
        "carried on",
        (PHASE, VALUE, COPY),
        (
            action("more", z3.And(PHASE.term == 0, VALUE.term < 3), {VALUE: VALUE.term + 1}),
            action("rest", PHASE.term == 0, {PHASE: z3.IntVal(1)}),
            action("wake", PHASE.term == 1, {PHASE: z3.IntVal(2), COPY: VALUE.term}),
            action("end", z3.And(PHASE.term == 2, COPY.term == 3), {PHASE: z3.IntVal(0)}),
        ),
    )
    assert names(system, [PHASE.term == 2]) == {"copy while phase = 0", "copy while phase = 1"}


def test_one_step_may_end_in_several_phases() -> None:
    """The value is dead after the step only if it is dead wherever the step leads."""
    leads = z3.If(COPY.term > 0, 2, 1)
    system = TransitionSystem(
        "fork",
        (PHASE, VALUE, COPY),
        (
            action("choose", z3.And(PHASE.term == 0, VALUE.term < 3), {VALUE: VALUE.term + 1}),
            action("other", z3.And(PHASE.term == 0, COPY.term > 0), {COPY: COPY.term - 1}),
            action("fork", PHASE.term == 0, {PHASE: leads}),
            action("use", z3.And(PHASE.term == 1, VALUE.term == 3), {PHASE: z3.IntVal(2)}),
        ),
    )
    roots = [PHASE.term == 2]
    assert {one for one in names(system, roots) if one.startswith("value")} == {"value while phase = 2"}
    reduced = reset_dead_variables(system, roots)
    assert difference(system, reduced, roots) is None
    assert states(reduced) < states(system)


def test_what_the_actions_reset_themselves_is_left_alone() -> None:
    """The value is dead in phase 2; the step that leads there resets it already, though not to its initial value."""
    value = replace(VALUE, initial=1)
    system = TransitionSystem(
        "tidy",
        (PHASE, value),
        (
            action("more", z3.And(PHASE.term == 0, value.term < 3), {value: value.term + 1}),
            action("end", z3.And(PHASE.term == 0, value.term > 1), {PHASE: z3.IntVal(2), value: z3.IntVal(0)}),
        ),
    )
    assert names(system, [PHASE.term == 2]) >= {"value while phase = 2"}
    assert effective(system, [PHASE.term == 2]) == ()
    assert reset_dead_variables(system, [PHASE.term == 2]).actions == system.actions


@pytest.mark.slow
@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 2))
def test_random_systems(chance: random.Random, total: int) -> None:
    system = random_system(chance)
    check_same(system, random_question(chance, system, goal=True), total)


@pytest.mark.slow
@settings(max_examples=35, derandomize=True, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 2))
def test_random_systems_in_phases(chance: random.Random, total: int) -> None:
    system = phased_system(chance)
    check_same(system, phased_question(chance, system), total)


@pytest.mark.slow
def test_random_systems_in_phases_do_shrink() -> None:
    """The random systems would show nothing if the reduction rarely applied to them."""
    smaller = 0
    for seed in range(40):
        chance = random.Random(seed)
        system = phased_system(chance)
        roots = phased_question(chance, system).predicates
        smaller += states(reset_dead_variables(system, roots), 1) < states(system, 1)
    assert smaller >= 12


def _nothing_is_carried_on(*arguments: object) -> int:
    return -1


def _roots_do_not_count(graph: dead_variables._Graph, reading: dead_variables.Reading) -> int:
    read = dead_variables.union(reading.value(guard).reads for guard in graph.guards)
    return (1 << len(graph.variables)) - 1 & ~read


def _guards_do_not_count(graph: dead_variables._Graph, reading: dead_variables.Reading) -> int:
    read = dead_variables.union(reading.value(root).reads for root in graph.roots)
    return (1 << len(graph.variables)) - 1 & ~read


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("_dead_after", _nothing_is_carried_on),
        ("_not_carried_on", lambda graph, condition, reading, dead: dead[condition]),
        ("_unread", _roots_do_not_count),
        ("_unread", _guards_do_not_count),
    ],
    ids=["every successor counts as dead", "no fixpoint", "roots left out", "guards left out"],
)
def test_an_unsound_reduction_would_be_noticed(monkeypatch: pytest.MonkeyPatch, name: str, wrong: object) -> None:
    monkeypatch.setattr(dead_variables, name, wrong)

    def differs(seed: int) -> bool:
        chance = random.Random(seed)
        system = phased_system(chance)
        roots = phased_question(chance, system).predicates
        return difference(system, reset_dead_variables(system, roots), roots) is not None

    assert any(differs(seed) for seed in range(60))


@pytest.mark.slow
def test_an_example_gives_the_same_answers() -> None:
    kinds = (Fault.KILL, Fault.CONSUMER_CRASH)
    deployment = replace(example("commit-before-processing", kinds, 1), bounds=SMALL)
    prepared = prepare(build(deployment))
    (one,) = group(prepared, properties_of(prepared.model.pipeline))
    reduced = reset_dead_variables(one.system, one.question.predicates)
    assert any(new is not old for new, old in zip(reduced.actions, one.system.actions, strict=True))
    prove_domain_safety(reduced)
    whole, small = (explored(system, one.question, kinds) for system in (one.system, reduced))
    assert found_cut_sets(whole) == found_cut_sets(small)
    assert whole.observed() == small.observed()
    assert small.states <= whole.states


def explored(system: TransitionSystem, question: Question, kinds: Sequence[Fault]) -> Exploration:
    exploration = EmbeddedExploration(system, question, dict.fromkeys(kinds, 1), Meter(Budget(), timed=False), 2)
    for _ in range(2):
        exploration.explore_layer()
    return exploration
