"""Scripts say what the terms say: both solvers find the answer that is known."""

from __future__ import annotations

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.obligations.scripts import CannotBeWritten, Scripts, cycle_script
from proofka.checker.timing.network import Contradiction, Edge, earliest_times
from proofka.model.language import Variable
from tests.checker.obligations.answers import answer

X, Y, Z = Variable("x", -2, 3, 0), Variable("y", 0, 4, 0), Variable("z", 1, 1, 1)
VARIABLES = (X, Y, Z)
SCRIPTS = Scripts(VARIABLES)

NUMBERS = st.recursive(
    st.sampled_from([X.term, Y.term, Z.term]) | st.integers(-3, 4).map(z3.IntVal),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda both: both[0] + both[1]),
        st.tuples(inner, inner).map(lambda both: both[0] - both[1]),
        inner.map(lambda one: -one),
        inner.map(lambda one: one * 2),
    ),
    max_leaves=5,
)
COMPARED = st.tuples(NUMBERS, NUMBERS).flatmap(
    lambda both: st.sampled_from(
        [
            both[0] < both[1],
            both[0] <= both[1],
            both[0] > both[1],
            both[0] >= both[1],
            both[0] == both[1],
            z3.Distinct(*both),
            z3.If(both[0] < both[1], both[0], both[1]) == 1,
        ]
    )
)
CONDITIONS = st.recursive(
    COMPARED | st.booleans().map(z3.BoolVal),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda some: z3.And(*some)),
        st.lists(inner, max_size=3).map(lambda some: z3.Or(*some)),
        inner.map(z3.Not),
        st.tuples(inner, inner).map(lambda both: z3.Xor(*both)),
        st.tuples(inner, inner).map(lambda both: z3.Implies(*both)),
        st.tuples(inner, inner).map(lambda both: both[0] == both[1]),
        st.tuples(inner, inner, inner).map(lambda three: z3.If(*three)),
    ),
    max_leaves=6,
)


def holds_somewhere(condition: z3.BoolRef) -> bool:
    """Try all values within the domains."""
    return any(
        z3.is_true(z3.simplify(z3.substitute(condition, *zip((X.term, Y.term, Z.term), values, strict=True))))
        for values in (
            (z3.IntVal(x), z3.IntVal(y), z3.IntVal(1)) for x in range(X.low, X.high + 1) for y in range(Y.high + 1)
        )
    )


@given(CONDITIONS)
@settings(max_examples=60, derandomize=True, deadline=None)
def test_a_script_has_an_answer_exactly_if_some_values_fulfil_the_condition(condition: z3.BoolRef) -> None:
    assert answer(SCRIPTS.within_domains(condition)) == ("sat" if holds_somewhere(condition) else "unsat")


def test_domains_bound_and_constants_fix_values() -> None:
    beyond = X.term > X.high
    assert answer(SCRIPTS.within_domains(beyond)) == "unsat"
    assert answer(SCRIPTS.with_constants(beyond, {})) == "sat"
    assert answer(SCRIPTS.with_constants(z3.And(beyond, Y.term == 2), {"x": 4, "y": 2})) == "sat"
    assert answer(SCRIPTS.with_constants(z3.And(beyond, Y.term == 2), {"x": 4, "y": 3})) == "unsat"


def test_a_term_that_nests_deep_and_is_used_twice_is_written_once() -> None:
    deep = X.term
    for _ in range(64):
        deep = z3.If(deep > 0, deep - 1, deep + 1)
    script = SCRIPTS.within_domains(z3.And(deep >= -1, deep <= 1))
    assert len(script) < 10_000
    assert answer(script) == "sat"
    assert answer(SCRIPTS.within_domains(z3.Or(deep < -2, deep > 3))) == "unsat"


def test_terms_without_a_form_in_a_script_are_refused() -> None:
    with pytest.raises(CannotBeWritten, match="elsewhere: is no variable"):
        SCRIPTS.within_domains(z3.Int("elsewhere") > 0)
    with pytest.raises(CannotBeWritten, match="operator"):
        SCRIPTS.within_domains(X.term % 2 == 1)
    for name in ("t7", "a b", "x)"):
        with pytest.raises(CannotBeWritten, match="cannot be the name"):
            Scripts([Variable(name, 0, 1, 0)])


def test_a_cycle_whose_weights_are_below_zero_has_no_times() -> None:
    edges = [Edge(0, 2, 5, None), Edge(2, 0, -6, None)]
    found = earliest_times(2, edges)
    assert isinstance(found, Contradiction)
    assert answer(cycle_script(found.edges)) == "unsat"
    assert answer(cycle_script([edges[0], Edge(2, 0, -5, None)])) == "sat"
