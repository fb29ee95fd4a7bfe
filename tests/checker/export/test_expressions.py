"""Simplified expressions mean what the terms meant, wherever their context holds."""

from __future__ import annotations

import random
from itertools import product

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.export.assumptions import Known
from proofka.checker.export.expressions import Expressions, Op
from proofka.checker.export.infix import Infix
from proofka.checker.export.sharing import shared
from proofka.checker.export.tla import DIALECT
from proofka.checker.kernel.emission import UnsupportedTerm
from proofka.model.language import Variable
from tests.checker.test_exploration import random_condition, random_number

VARIABLES = (Variable("a", 0, 1, 0), Variable("b", 0, 3, 0), Variable("c", -1, 2, 0))
DOMAIN = z3.And(*(variable.domain for variable in VARIABLES))


def nested(chance: random.Random, depth: int) -> z3.BoolRef:
    """Return a random condition with conditions, choices and names in it."""
    if depth == 0:
        return random_condition(chance, VARIABLES)
    one, other, third = (nested(chance, depth - 1) for _ in range(3))
    first, second = random_number(chance, VARIABLES), random_number(chance, VARIABLES)
    return chance.choice(
        [
            z3.And(one, other, one),
            z3.Or(one, z3.Not(other), third),
            z3.Implies(one, other),
            z3.Not(z3.And(one, other)),
            z3.Xor(one, other),
            one == other,
            z3.If(one, other, third),
            z3.If(one, first, z3.If(other, second, 1)) >= chance.randint(-1, 3),
            z3.Sum(z3.If(one, 1, 0), z3.If(other, 1, 0), -first) != second - 1,
            z3.Distinct(first, second, z3.If(third, 2, 0)),
            2 * first - (second - z3.IntVal(1)) * -1 < chance.randint(-2, 2),
        ]
    )


def as_term(expressions: Expressions, place: int) -> z3.ExprRef:
    """Turn an expression back into a term, by its definition."""
    node = expressions.nodes[place]
    children = [as_term(expressions, child) for child in node.children]
    match node.op:
        case Op.VARIABLE:
            return z3.Int(str(node.leaf))
        case Op.NUMBER:
            return z3.IntVal(int(node.leaf))
        case Op.TRUTH:
            return z3.BoolVal(bool(node.leaf))
        case Op.NAMED:
            return children[0]
        case Op.NOT:
            return z3.Not(children[0])
        case Op.AND:
            return z3.And(*children)
        case Op.OR:
            return z3.Or(*children)
        case Op.IMPLIES:
            return z3.Implies(*children)
        case Op.SAME | Op.EQUAL:
            return children[0] == children[1]
        case Op.DIFFERENT:
            return children[0] != children[1]
        case Op.LESS:
            return children[0] < children[1]
        case Op.AT_MOST:
            return children[0] <= children[1]
        case Op.GREATER:
            return children[0] > children[1]
        case Op.AT_LEAST:
            return children[0] >= children[1]
        case Op.PLUS:
            return z3.Sum(*children)
        case Op.NEGATIVE:
            return -children[0]
        case Op.TIMES:
            return z3.Product(*children)
        case Op.CHOICE:
            return z3.If(*children)


def assert_follows(condition: z3.BoolRef, conclusion: z3.BoolRef) -> None:
    solver = z3.Solver()
    solver.add(condition, z3.Not(conclusion))
    assert solver.check() == z3.unsat


def assert_agree_everywhere(claim: z3.BoolRef) -> None:
    """Assert the claim for every state of the domain, by evaluation: products let a solver run out of memory."""
    for values in product(*(range(one.low, one.high + 1) for one in VARIABLES)):
        state = [(v.term, z3.IntVal(value)) for v, value in zip(VARIABLES, values, strict=True)]
        assert z3.is_true(z3.simplify(z3.substitute(claim, state))), values


@pytest.mark.slow
@settings(max_examples=60, derandomize=True)
@given(st.randoms(use_true_random=False), st.booleans())
def test_reading_keeps_the_meaning(chance: random.Random, by_domain: bool) -> None:
    term = nested(chance, 2)
    expressions = Expressions({v.name: v for v in VARIABLES} if by_domain else {})
    if chance.random() < 0.5:
        expressions.define("named", nested(chance, 1))
    found = as_term(expressions, expressions.read(term))
    assert_follows(DOMAIN if by_domain else z3.BoolVal(True), found == term)


@pytest.mark.slow
@settings(max_examples=60, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_known_facts_keep_the_meaning_of_a_term(chance: random.Random) -> None:
    expressions = Expressions({v.name: v for v in VARIABLES})
    guard, term = nested(chance, 1), z3.If(nested(chance, 2), random_number(chance, VARIABLES), VARIABLES[1].term)
    if chance.random() < 0.5:
        expressions.define("named", guard)
    nothing = Known(expressions)
    small_guard = nothing.simplify(expressions.read(guard))
    assert_agree_everywhere(as_term(expressions, small_guard) == guard)
    small = nothing.and_(small_guard).simplify(expressions.read(term))
    assert_agree_everywhere(z3.Implies(guard, as_term(expressions, small) == term))


def text(term: z3.ExprRef, known: z3.BoolRef | None = None) -> str:
    """Write a term as TLA+ writes it."""
    expressions = Expressions({v.name: v for v in VARIABLES})
    expressions.define("few", VARIABLES[1].term + VARIABLES[2].term)
    place = Known(expressions).simplify(expressions.read(term))
    if known is not None:
        place = Known(expressions).and_(expressions.read(known)).simplify(place)
    return Infix(DIALECT, expressions, str, {"b": {0: "None"}}).text(place)


A, B, C = (variable.term for variable in VARIABLES)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (z3.Not(A == 1), "a = 0"),
        (z3.Not(B <= 0), "b > None"),
        (B <= 3, "TRUE"),
        (z3.Or(B > 3, A == 1), "a = 1"),
        (z3.If(B > 2, 1, 0) == 0, "b <= 2"),
        (z3.Not(z3.Or(B == 1, C < 0)), "b /= 1 /\\ c >= 0"),
        (z3.And(A == 1, z3.Or(A == 0, B == 2)), "a = 1 /\\ b = 2"),
        (z3.Implies(A == 1, z3.And(A == 1, B == 2)), "a = 1 => b = 2"),
        (z3.If(A == 1, z3.If(A == 0, B, C), 2), "IF a = 1 THEN c ELSE 2"),
        (B - 1 + C - (C - 2) < 0, "b + c - c < -1"),
        (B + C + A > 2 * C, "few + a > 2 * c"),
        (z3.And(z3.Or(A == 1, B == 2), C == 1), "(a = 1 \\/ b = 2) /\\ c = 1"),
        ((A == 1) == (B == 2), "(a = 1) <=> (b = 2)"),
        (-1 * B + 3, "-b + 3"),
    ],
)
def test_texts(term: z3.ExprRef, expected: str) -> None:
    assert text(term) == expected


def test_conditions_that_a_guard_decides_are_left_out() -> None:
    assert text(z3.If(z3.And(A == 1, B < 2), 1, C), z3.And(A == 1, B == 0)) == "1"
    assert text(z3.And(B + C > A, A == 0), B + C > A) == "a = 0"


def test_large_parts_that_occur_twice_are_shared() -> None:
    expressions = Expressions()
    large = z3.If(A > B, B + C, z3.If(A > C, A, C))
    twice = expressions.read(z3.And(large > 1, large < 3))
    assert shared(expressions, [twice]) == [expressions.read(large)]
    assert shared(expressions, [expressions.read(large > 1)]) == []


def test_a_chain_of_shared_parts_does_not_explode() -> None:
    """Each part occurs twice in the next: written out it would have 2**60 parts."""
    term: z3.ArithRef = B
    for number in range(60):
        term = z3.If(term > number, term - C, term + A)
    expressions = Expressions({v.name: v for v in VARIABLES})
    place = Known(expressions).simplify(expressions.read(term))
    parts = shared(expressions, [place])
    infix = Infix(DIALECT, expressions, str, {}, {part: f"part_{number}" for number, part in enumerate(parts)})
    assert sum(len(line) for part in (*parts, place) for line in infix.body(part)) < 20_000


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(UnsupportedTerm, match="unknown operator"):
        Expressions().read(B % 2)
