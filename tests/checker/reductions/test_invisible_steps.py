"""Priority of invisible steps: fewer states, and the same roots violated with the same faults."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.exploration import Question
from checker.questions import group, prepare
from checker.reductions import invisible_steps
from checker.reductions.invisible_steps import find_invisible_steps, prioritise_invisible_steps
from model.faults import Fault
from model.language import Action, TransitionSystem, Variable
from model.pipeline import build
from properties.catalogue import properties_of
from tests.checker.asking import SMALL, example
from tests.checker.naive import Faults, Naive
from tests.checker.test_exploration import (
    KINDS,
    LOST,
    SLOW,
    action,
    random_condition,
)

X, NOTE, OTHER = Variable("x", 0, 3, 0), Variable("note", 0, 2, 0), Variable("other", 0, 2, 0)
STEP = action("step", X.term < 3, {X: X.term + 1})
TAKE = action("take", NOTE.term == 0, {NOTE: z3.IntVal(1)})
SEEN = [X.term == 3]


def merged(*actions: Action, roots: list[z3.BoolRef] = SEEN) -> list[str]:
    system = TransitionSystem("hand-made", (X, NOTE, OTHER), actions)
    return [one.name for one in find_invisible_steps(system, roots).merged]


def why_not(one: Action, *others: Action) -> str:
    """Why an action is not merged, where the others are there."""
    system = TransitionSystem("hand-made", (X, NOTE, OTHER), (one, *others))
    return next(str(found) for found in find_invisible_steps(system, SEEN).obstacles if found.action is one)


def explored(system: TransitionSystem, total: int) -> Naive:
    return Naive(system, KINDS, (total,) * len(KINDS), total)


def answers(naive: Naive, question: Question) -> tuple[dict[str, set[Faults]], set[str]]:
    """The minimal cut sets of everything asked, without the lengths of their runs, and what was observed."""
    sets = {name: set(found) for name, found in naive.cut_sets(question).items()}
    return sets, {name for name, term in question.observations.items() if naive.where(term)}


def noting_system(chance: random.Random) -> TransitionSystem:
    """Random steps of a core, and notes that hardly any of them reads, sets or undoes; some go to and fro for ever."""
    core = tuple(Variable(f"x{i}", 0, 2, 0) for i in range(2))
    notes = tuple(Variable(f"note{i}", 0, 2, 0) for i in range(chance.randint(1, 2)))
    actions = []
    for number in range(chance.randint(5, 7)):
        one, now = core[number % 2], number // 2 % 3
        updates = {one: z3.IntVal(chance.choice([value for value in range(3) if value != now]))}
        guard = one.term == now
        if chance.random() < 0.2:
            guard = z3.And(guard, random_condition(chance, core))
        if chance.random() < 0.08:
            guard = z3.And(guard, chance.choice(notes).term == chance.randint(0, 2))
        if chance.random() < 0.1:
            updates[chance.choice(notes)] = z3.IntVal(chance.randint(0, 2))
        actions.append(action(f"core{number}", guard, updates, chance.choice([None, None, None, *KINDS])))
    for number in range(chance.randint(2, 4)):
        note, now = chance.choice(notes), chance.randint(0, 2)
        guard = note.term == now if chance.random() < 0.9 else random_condition(chance, core)
        if chance.random() < 0.1:
            guard = z3.And(guard, random_condition(chance, core))
        following = now + 1 if now < 2 and chance.random() < 0.8 else chance.randint(0, 2)
        fault = LOST if chance.random() < 0.1 else None
        actions.append(action(f"note{number}", guard, {note: z3.IntVal(following)}, fault))
    if chance.random() < 0.3:
        for name, now, then in (("there", 0, 1), ("back", 1, 0)):
            actions.append(action(name, notes[0].term == now, {notes[0]: z3.IntVal(then)}))
    chance.shuffle(actions)
    return TransitionSystem("noting", (*core, *notes), tuple(actions))


def noting_question(chance: random.Random, system: TransitionSystem) -> Question:
    """Questions about what the core does; now and then about a note as well."""

    def seen() -> z3.BoolRef:
        core = z3.And(*(system.variables[i].term == chance.randint(0, 2) for i in chance.sample(range(2), 1)))
        return z3.And(core, system.variables[-1].term == 1) if chance.random() < 0.2 else core

    return Question({"bad": seen(), "worse": seen()}, ("goal", seen()), {"seen": seen()})


def changes_answers(system: TransitionSystem, question: Question, total: int) -> bool:
    reduced = prioritise_invisible_steps(system, question.predicates)
    return answers(explored(system, total), question) != answers(explored(reduced, total), question)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_steps_that_nobody_sees_come_first(count: int) -> None:
    """Notes taken at any time make two to their number states for each of x; one order of taking them is enough."""
    notes = tuple(Variable(f"note{i}", 0, 1, 0) for i in range(count))
    taking = [action(f"take{i}", note.term == 0, {note: z3.IntVal(1)}) for i, note in enumerate(notes)]
    system = TransitionSystem("notes", (X, *notes), (STEP, *taking))
    reduced = prioritise_invisible_steps(system, SEEN)
    assert len(explored(system, 0).states) == 4 * 2**count
    assert len(explored(reduced, 0).states) == count + 4
    question = Question({"bad": SEEN[0]}, None, {})
    assert explored(system, 0).cut_sets(question) == {"bad": {(0, 0, 0): 3}}
    assert explored(reduced, 0).cut_sets(question) == {"bad": {(0, 0, 0): 3 + count}}, "runs are longer"


def test_what_is_merged() -> None:
    undone = action("undo", X.term == 1, {NOTE: z3.IntVal(0), X: z3.IntVal(2)})
    overwritten = action("overwrite", X.term == 1, {NOTE: z3.IntVal(2), X: z3.IntVal(2)}, SLOW)
    assert merged(STEP, TAKE) == ["take"]
    assert merged(STEP, TAKE, overwritten) == ["take"], "what another step overwrites might as well have happened"
    assert merged(STEP, TAKE, undone) == ["take"], "what is undone by another step can be done again"
    late = action("late", NOTE.term == 1, {OTHER: z3.IntVal(1)})
    assert merged(STEP, TAKE, replace(late, updates={X: z3.IntVal(0), NOTE: z3.IntVal(2)})) == ["take"], "it may enable"


def test_what_is_not_merged() -> None:
    assert why_not(replace(TAKE, updates={X: z3.IntVal(3)}), STEP) == "take() can be seen"
    assert why_not(replace(TAKE, updates={NOTE: z3.IntVal(0)}), STEP) == "take() can happen again at once"
    faulty = replace(TAKE, fault=LOST)
    system = TransitionSystem("hand-made", (X, NOTE, OTHER), (STEP, faulty))
    assert find_invisible_steps(system, SEEN) == invisible_steps.InvisibleSteps(
        (), (invisible_steps.Obstacle(STEP, "can be seen"),)
    )
    needs = action("needs", z3.And(NOTE.term == 0, X.term == 0), {X: z3.IntVal(1)})
    assert why_not(TAKE, needs) == "take() may disable needs()"
    cautious = replace(TAKE, guard=z3.And(NOTE.term == 0, X.term == 0))
    assert why_not(cautious, STEP) == "take() may be disabled by step()"
    copies = action("copies", X.term == 0, {OTHER: NOTE.term, X: z3.IntVal(1)})
    assert why_not(TAKE, copies) == "take() does not commute with copies()"
    shadow = replace(TAKE, name="shadow", updates={NOTE: z3.IntVal(2)})
    assert why_not(TAKE, shadow) == "take() may disable shadow()"


def test_invisible_by_proof() -> None:
    """The root reads the note, but only whether it is 2, which the step never makes it."""
    assert merged(STEP, TAKE, roots=[z3.And(X.term == 3, NOTE.term == 2)]) == ["take"]
    assert merged(STEP, TAKE, roots=[z3.And(X.term == 3, NOTE.term == 1)]) == []


def test_steps_that_go_on_for_ever_are_not_all_merged() -> None:
    """To and fro, seen by nobody: if both went before all others nothing else would ever happen."""
    back = action("back", NOTE.term == 1, {NOTE: z3.IntVal(0)})
    system = TransitionSystem("to and fro", (X, NOTE), (STEP, TAKE, back))
    found = find_invisible_steps(system, SEEN)
    assert [one.name for one in found.merged] == ["take"]
    assert [str(one) for one in found.obstacles][-1] == "back() could repeat forever with other merged steps"
    question = Question({"bad": SEEN[0]}, None, {})
    assert not changes_answers(system, question, 0)


def test_the_order_of_merged_steps() -> None:
    """Each waits for those before it, so that one of them is enabled at a time."""
    other = action("other", OTHER.term == 0, {OTHER: z3.IntVal(1)})
    system = TransitionSystem("hand-made", (X, NOTE, OTHER), (STEP, TAKE, other))
    step, take, last = prioritise_invisible_steps(system, SEEN).actions
    assert take.guard.eq(TAKE.guard)
    solver = z3.Solver()
    assert solver.check(step.guard, TAKE.guard) == z3.unsat
    assert solver.check(step.guard, other.guard) == z3.unsat
    assert solver.check(last.guard, TAKE.guard) == z3.unsat
    nothing = invisible_steps.InvisibleSteps((), ())
    assert prioritise_invisible_steps(system, SEEN, nothing) == system


@pytest.mark.slow
@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 2))
def test_random_systems(chance: random.Random, total: int) -> None:
    """The same minimal cut sets, of what must never be and of what must stay reachable, and the same observations."""
    system = noting_system(chance)
    assert not changes_answers(system, noting_question(chance, system), total)


@pytest.mark.slow
def test_random_systems_do_shrink() -> None:
    """The random systems would show nothing if the reduction rarely applied to them."""
    smaller = 0
    for seed in range(40):
        chance = random.Random(seed)
        system = noting_system(chance)
        reduced = prioritise_invisible_steps(system, noting_question(chance, system).predicates)
        smaller += len(explored(reduced, 1).states) < len(explored(system, 1).states)
    assert smaller >= 6


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        pytest.param("_is_invisible", lambda proofs, one: True, marks=pytest.mark.slow),
        ("_disables_itself", lambda proofs, one: True),
        ("_why_not_confluent", lambda proofs, one, other: None),
        ("terminates", lambda proofs, actions: True),
    ],
    ids=["visible steps", "steps that repeat", "steps that do not commute", "cycles of steps"],
)
def test_an_unsound_reduction_would_be_noticed(monkeypatch: pytest.MonkeyPatch, name: str, wrong: object) -> None:
    monkeypatch.setattr(invisible_steps._Proofs, name, wrong)

    def differs(seed: int) -> bool:
        chance = random.Random(seed)
        system = noting_system(chance)
        return changes_answers(system, noting_question(chance, system), 1)

    assert any(differs(seed) for seed in range(100))


@pytest.mark.slow
def test_no_step_of_the_model_qualifies() -> None:
    """Whatever no property sees, something that breaks is in the way of it (docs/reductions.md)."""
    deployment = replace(example("acks-1", (Fault.KILL, Fault.SLOW_FOLLOWER), 1), bounds=SMALL)
    prepared = prepare(build(deployment))
    for one in group(prepared, properties_of(prepared.model.pipeline)):
        found = find_invisible_steps(one.system, one.question.predicates)
        assert found.merged == ()
        reduced = prioritise_invisible_steps(one.system, [], found)
        assert reduced == one.system
