"""Induction on small systems of which everything is known: lemmas that hold, lemmas that do not, and no answer."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
import z3

from proofka.checker.invariants.induction import Conditions, Induction, Largest, NoAnswer, domains_of
from proofka.model.language import Action, Variable
from proofka.model.language.lemmas import Lemma, OpenSystem

LOW, HIGH = Variable("low", 0, 0, 0), Variable("high", 0, 0, 0)
AT = z3.Int("at")
NEXT = Variable("next", 0, 0, 0)
SQUARE = z3.Function("square", z3.IntSort(), z3.IntSort())


def step(name: str, guard: z3.BoolRef, **updates: z3.ArithRef) -> Action:
    variables = {one.name: one for one in (LOW, HIGH, NEXT)}
    changed = {variables[one]: value for one, value in updates.items()}
    return Action(
        name,
        "nobody",
        lane="brokers",
        arguments={},
        guard=guard,
        updates=changed,
        sentence=lambda before, after: name,
        semantics="",
    )


RACE = OpenSystem(
    "race",
    (LOW, HIGH),
    (
        step("raise_high", z3.BoolVal(True), high=HIGH.term + 1),
        step("raise_low", LOW.term < HIGH.term, low=LOW.term + 1),
    ),
    frozenset({"low", "high"}),
    ("steps",),
    (),
)
"""A counter that never overtakes another one, with any number of steps."""

BEHIND = Lemma("low is at most high", LOW.term <= HIGH.term)
SLOW = Lemma("high is at most 3", HIGH.term <= 3)
SLOWER = Lemma("low is at most 3", LOW.term <= 3)
POSITIVE = Lemma("high is above 0", HIGH.term > 0)


def search(system: OpenSystem, lemmas: Sequence[Lemma], seconds: float = 60) -> tuple[Induction, Largest]:
    induction = Induction(system, lemmas, time.monotonic() + seconds)
    return induction, induction.largest()


def test_lemmas_that_steps_break_are_dropped_with_those_that_need_them() -> None:
    _, found = search(RACE, [SLOWER, SLOW, BEHIND])
    assert found.lemmas == (BEHIND,)
    assert {str(one) for one in found.dropped} == {
        "high is at most 3: is not kept by raise_high()",
        "low is at most 3: is not kept by raise_low()",
    }


def test_lemmas_that_are_false_at_the_start_are_dropped() -> None:
    _, found = search(RACE, [POSITIVE, BEHIND])
    assert found.lemmas == (BEHIND,)
    assert [str(one) for one in found.dropped] == ["high is above 0: is false in the initial state"]


def test_properties_follow_from_the_lemmas_that_are_left_alone() -> None:
    induction, _ = search(RACE, [SLOWER, SLOW, BEHIND])
    assert induction.implies(LOW.term > HIGH.term)
    assert not induction.implies(LOW.term > 3)


def test_lemmas_that_are_true_and_not_inductive_prove_nothing() -> None:
    """It is true that low never is 7 while high is 5, and no step keeps that alone."""
    alone = Lemma("low is not 7 while high is 5", z3.Not(z3.And(LOW.term == 7, HIGH.term == 5)))
    assert not search(RACE, [alone])[1].lemmas
    assert search(RACE, [alone, BEHIND])[1].lemmas == (alone, BEHIND)


def test_domains_are_lemmas_as_far_as_they_have_bounds() -> None:
    bounded = OpenSystem("bounded", (LOW, NEXT), RACE.actions[1:], frozenset({"low"}), (), ())
    words = [lemma.words for lemma in domains_of(bounded)]
    assert words == ["low is at least 0", "next is between 0 and 0"]


TABLE = OpenSystem(
    "table",
    (NEXT,),
    (step("fill", SQUARE(NEXT.term) == NEXT.term + NEXT.term, next=NEXT.term + 1),),
    frozenset({"next"}),
    ("steps",),
    (),
    ranges_over=lambda at: z3.And(at >= 0, at < NEXT.term),
)
"""A table that each step fills in one more place, with twice the number of the place."""


def test_lemmas_speak_of_all_values_in_the_range() -> None:
    even = Lemma("each filled place has its double", SQUARE(AT) == AT + AT, (AT,))
    large = Lemma("each filled place has more than 2", SQUARE(AT) > 2, (AT,))
    assert search(TABLE, [even])[1].lemmas == (even,)
    _, found = search(TABLE, [large, even])
    assert found.lemmas == (even,)
    assert "is not kept by fill()" in str(found.dropped[0])


def test_steps_that_never_happen_are_named() -> None:
    never = step("overtake", HIGH.term < LOW.term, low=LOW.term + 1)
    system = OpenSystem("race", RACE.variables, (*RACE.actions, never), RACE.endless, (), ())
    induction, _ = search(system, [BEHIND])
    assert induction.idle_steps() == (never,)


def test_lemmas_about_values_that_a_step_receives_are_refused() -> None:
    """Such a lemma would be assumed of the value that a step receives, and proved of the value before."""
    received = z3.Int("received")
    taking = OpenSystem(
        "taking", (LOW,), (step("take", received > LOW.term, low=received),), frozenset(), (), (), inputs=(received,)
    )
    with pytest.raises(ValueError, match=r"small: speaks of received, which is no variable"):
        Conditions(taking, [Lemma("small", received < 5)])
    undeclared = OpenSystem("taking", (LOW,), taking.actions, frozenset(), (), ())
    with pytest.raises(ValueError, match=r"take\(\): has received, which is no variable"):
        Conditions(undeclared, [])


def test_variables_of_no_system_are_refused() -> None:
    with pytest.raises(ValueError, match=r"raise_high\(\): has high, which is no variable"):
        Conditions(OpenSystem("race", (LOW,), RACE.actions, RACE.endless, (), ()), [])


def test_no_answer_in_time_is_no_proof() -> None:
    with pytest.raises(NoAnswer, match="the time was over before Z3 was asked about the initial state"):
        search(RACE, [BEHIND], seconds=0)
