"""The text of a system: what a solver reads back is the system, and the same system gives the same text."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from typing import Any

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.certificates.reading import expressions
from proofka.checker.certificates.systems import system_text
from proofka.checker.certificates.text import Asked, NameTaken, SystemText
from proofka.checker.check import prepare_groups
from proofka.checker.export.named_parts import DEEPEST
from proofka.model.language import Action, TransitionSystem, Variable
from proofka.model.language.terms import BoolVal
from tests.checker.asking import example
from tests.checker.export.systems import turnstile
from tests.checker.test_exploration import random_system

FACTS = re.compile(r"^\(set-info :(action|next|property|goal|variable) (.*)\)$")


def text_of(system: TransitionSystem) -> SystemText:
    asked = [Asked("never", z3.BoolVal(False), z3.BoolVal(True), is_goal=False)]
    return SystemText(system.variables, system.actions, asked)


def facts(text: str, kind: str) -> list[list[str]]:
    """Return the facts of a kind in a text, as S-expressions."""
    found = (FACTS.match(line) for line in text.splitlines())
    return [expressions(one.group(2))[0] for one in found if one is not None and one.group(1) == kind]


def definitions(text: str) -> str:
    """Return the script without the facts, whose lists Z3 does not read."""
    return "\n".join(line for line in text.splitlines() if not FACTS.match(line) and ":smt-lib-version" not in line)


def value(text: str, name: str, sort: str) -> z3.ExprRef:
    """Return Z3's reading of a named term."""
    left = f"(declare-const the-{name} {sort})"
    (equation,) = z3.parse_smt2_string(f"{definitions(text)}\n{left}\n(assert (= the-{name} {name}))")
    return next(child for child in equation.children() if str(child) != f"the-{name}")


def assert_equal_within(system: TransitionSystem, one: z3.ExprRef, other: z3.ExprRef) -> None:
    solver = z3.Solver()
    solver.add(system.domain, one != other)
    assert solver.check() == z3.unsat


def actions_of(text: str) -> list[Any]:
    """Return the number, the name, the kind, the guard, and the next values of each action of a text."""
    found: list[Any] = []
    for kind, (fact,) in ((one[1], expressions(one[2])) for one in map(FACTS.match, text.splitlines()) if one):
        if kind == "action":
            found.append((*fact, []))
        elif kind == "next":
            found[-1][-1].append(fact)
    return found


def assert_reads_back(system: TransitionSystem) -> None:
    text = text_of(system).text()
    known = {str(action): action for action in system.actions}
    for number, (place, name, fault, guard, updates) in enumerate(actions_of(text)):
        action = known.pop(name)
        assert int(place) == number
        assert fault == ("none" if action.fault is None else action.fault.value)
        assert_equal_within(system, value(text, guard, "Bool"), action.guard)
        written = dict(updates)
        for variable, term in action.updates.items():
            read = value(text, written.pop(variable.name), "Int") if variable.name in written else variable.term
            assert_equal_within(system, read, term)
        assert not written
    for action in known.values():
        assert_equal_within(system, action.guard, z3.BoolVal(False))


@settings(max_examples=8, derandomize=True, deadline=None)
@given(st.randoms(use_true_random=False))
def test_random_systems_read_back(chance: random.Random) -> None:
    assert_reads_back(random_system(chance))


def test_a_system_with_negative_numbers_and_awkward_names_reads_back() -> None:
    assert_reads_back(turnstile().system)


def test_variables_have_their_domain_and_initial_value() -> None:
    system = turnstile().system
    told = {name: (low, high, first) for name, low, high, first in facts(text_of(system).text(), "variable")}
    assert told["below_zero"] == (["-", "1"], "1", ["-", "1"])
    assert told["coins"] == ("0", "3", "0")
    assert list(told) == [variable.name for variable in system.variables]


def with_guard(guard: z3.BoolRef, *variables: Variable) -> TransitionSystem:
    action = Action(
        "step", "nobody", lane="brokers", arguments={}, guard=guard, updates={variables[0]: variables[0].term},
        sentence=lambda before, after: "", semantics="",
    )  # fmt: skip
    return TransitionSystem("one", variables, (action,))


def test_an_action_that_can_never_happen_is_left_out() -> None:
    one = Variable("one", 0, 1, 0)
    assert not facts(text_of(with_guard(one.term > 1, one)).text(), "action")
    assert not facts(text_of(with_guard(BoolVal(False), one)).text(), "action")
    assert len(facts(text_of(with_guard(one.term > 0, one)).text(), "action")) == 1


def test_no_term_nests_deeper_than_a_checker_accepts() -> None:
    one, other = Variable("one", 0, 3, 0), Variable("other", 0, 3, 0)
    term = other.term
    for number in range(5 * DEEPEST):
        term = z3.If(one.term == number % 4, term + 1, term * 2)
    text = text_of(with_guard(term > 0, one, other)).text()
    assert max(deepest(line) for line in text.splitlines()) <= 100


def deepest(line: str) -> int:
    """Return the largest number of lists around a token."""
    depth = found = 0
    for character in line:
        depth += (character == "(") - (character == ")")
        found = max(found, depth)
    return found


def test_a_variable_with_the_name_of_a_term_is_refused() -> None:
    with pytest.raises(NameTaken, match="t0"):
        text_of(with_guard(BoolVal(True), Variable("t0", 0, 1, 0)))


PROGRAM = """
import z3, sys
from tests.checker.asking import example
from proofka.checker.check import prepare_groups
from proofka.checker.certificates.systems import system_text
if sys.argv[1] == "busy":
    prepare_groups(example("acks-1"))
    z3.simplify(z3.And(z3.Int("epoch") > 2, z3.Int("leader") == 1))
print(system_text(prepare_groups(example("transactions"))[0]).text())
"""


def test_a_deployment_has_the_same_text_whatever_the_solver_did_before() -> None:
    texts = [
        subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True).stdout
        for how in ("busy", "fresh")
    ]
    assert texts[0] == texts[1]
    assert len(facts(texts[0], "action")) > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", ["acks-1", "exactly-once"])
def test_deployments_read_back(name: str) -> None:
    prepared, _ = prepare_groups(example(name))
    text = system_text(prepared).text()
    told = {fact[1]: fact[3] for fact in facts(text, "action")}
    for action in prepared.system.actions:
        assert_equal_within(prepared.system, value(text, told[str(action)], "Bool"), action.guard)
