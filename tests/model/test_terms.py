"""Constructors of terms: they make the terms that Z3's own Python layer makes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from proofka.model.language import terms

NAMES = ("x", "y", "z")
COMPARISONS: tuple[Callable[..., Any], ...] = (
    lambda one, other: one == other,
    lambda one, other: one != other,
    lambda one, other: one < other,
    lambda one, other: one <= other,
    lambda one, other: one > other,
    lambda one, other: one >= other,
)
NUMBERS: tuple[Callable[..., Any], ...] = (
    lambda made, one, other: one + other,
    lambda made, one, other: one - other,
    lambda made, one, other: made.Sum(one, other, one),
    lambda made, one, other: made.If(one > other, one, other),
)
CONDITIONS: tuple[Callable[..., Any], ...] = (
    lambda made, one, other: made.And(one, other),
    lambda made, one, other: made.Or(one, other, made.Not(one)),
    lambda made, one, other: made.Implies(one, other),
    lambda made, one, other: made.If(one, other, made.BoolVal(False)),
    lambda made, one, other: made.And(one, True),
)


def same(made: z3.ExprRef, own: z3.ExprRef) -> bool:
    """Tell whether both are one term of Z3, which keeps equal terms once."""
    return bool(z3.AstRef.eq(made, own))


def number(made: Any, depth: int, recipe: list[int]) -> Any:
    """Build a number by a list of choices, with the constructors of ``made``."""
    choice = recipe.pop() if recipe else 0
    if depth == 0 or choice % 3 == 0:
        return made.IntVal(choice) if choice % 2 else made.Int(NAMES[choice % len(NAMES)])
    one, other = number(made, depth - 1, recipe), number(made, depth - 1, recipe)
    return NUMBERS[choice % len(NUMBERS)](made, one, other)


def condition(made: Any, depth: int, recipe: list[int]) -> Any:
    """Build a condition by a list of choices, with the constructors of ``made``."""
    choice = recipe.pop() if recipe else 0
    if depth == 0 or choice % 2 == 0:
        one, other = number(made, depth, recipe), number(made, depth, recipe)
        return COMPARISONS[choice % len(COMPARISONS)](one, other)
    one, other = condition(made, depth - 1, recipe), condition(made, depth - 1, recipe)
    return CONDITIONS[choice % len(CONDITIONS)](made, one, other)


@given(st.lists(st.integers(0, 60), max_size=40))
def test_terms_are_those_of_z3s_own_layer(recipe: list[int]) -> None:
    assert same(condition(terms, 4, list(recipe)), condition(z3, 4, list(recipe)))


@given(st.lists(st.integers(0, 60), max_size=40), st.tuples(*(st.integers(-3, 3) for _ in NAMES)))
def test_a_filling_is_a_substitution_that_z3_simplifies(recipe: list[int], values: tuple[int, ...]) -> None:
    made, own = condition(terms, 4, list(recipe)), condition(z3, 4, list(recipe))
    filling = terms.Filling([(terms.Int(name), terms.IntVal(value)) for name, value in zip(NAMES, values, strict=True)])
    pairs = [(z3.Int(name), z3.IntVal(value)) for name, value in zip(NAMES, values, strict=True)]
    assert same(filling.simplified(made), z3.simplify(z3.substitute(own, *pairs)))


@given(st.lists(st.tuples(st.booleans(), st.lists(st.integers(0, 60), max_size=20)), max_size=6), st.integers(-3, 3))
def test_terms_that_are_simplified_together_are_those_that_are_simplified_alone(
    recipes: list[tuple[bool, list[int]]], value: int
) -> None:
    made = [(condition if boolean else number)(terms, 3, list(recipe)) for boolean, recipe in recipes]
    filling = terms.Filling([(terms.Int(NAMES[0]), terms.IntVal(value))])
    together = filling.each_simplified(made)
    alone = [filling.simplified(term) for term in made]
    assert [type(term) for term in together] == [type(term) for term in alone]
    assert [term.sort() for term in together] == [term.sort() for term in made]
    solver = z3.Solver()
    solver.add(z3.Or(*(one != other for one, other in zip(together, alone, strict=True))))
    assert solver.check() == z3.unsat


@pytest.mark.parametrize("value", [0, -4, 7])
def test_python_s_numbers_stand_for_terms(value: int) -> None:
    made, own = terms.Int("x"), z3.Int("x")
    for build in (
        lambda x: x == value,
        lambda x: value <= x,
        lambda x: value + x,
        lambda x: value - x,
        lambda x: x > value,
    ):
        assert same(build(made), build(own))


def test_a_filled_number_has_its_value() -> None:
    filling = terms.Filling([(terms.Int("x"), terms.IntVal(3))])
    filled = filling.simplified(terms.Int("x") + 4)
    assert z3.is_int_value(filled)
    assert filled.as_long() == 7


def test_without_conditions_all_hold_and_none_does() -> None:
    assert z3.is_true(z3.simplify(terms.And()))
    assert z3.is_false(z3.simplify(terms.Or()))


@pytest.mark.parametrize(
    "build",
    [
        lambda: terms.And(terms.Int("x")),
        lambda: terms.Not(terms.Int("x")),
        lambda: terms.If(terms.Int("x"), 1, 2),
        lambda: terms.Implies(True, terms.Int("x")),
    ],
)
def test_an_argument_of_the_wrong_sort_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="Z3 refused the arguments"):
        build()


def test_terms_that_outlive_everything_end_in_silence() -> None:
    program = (
        "import sys\nfrom model.language.terms import And, Int\nsys.kept = [And(Int(str(i)) > 1) for i in range(99)]\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
