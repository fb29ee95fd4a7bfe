"""SMT-LIB: what a solver reads back is the system."""

from __future__ import annotations

import random

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.export.exported import Exported, export_deployment
from proofka.checker.export.smtlib import SmtLib
from proofka.model.faults import Fault
from proofka.model.language import Action
from tests.checker.asking import SMALL, example
from tests.checker.export.systems import random_exported, turnstile
from tests.checker.naive import Naive
from tests.checker.test_exploration import KINDS
from tests.deployments import changed


def read(text: str, name: str) -> z3.BoolRef:
    """Return a solver's reading of one definition."""
    return z3.And(*z3.parse_smt2_string(f"{text}\n(assert {name})\n"))


def relation(exported: Exported, action: Action, called: dict[str, str]) -> z3.BoolRef:
    """Return the transition relation of an action, from its terms."""
    changes = [
        z3.Int(f"{called[variable.name]}.next") == action.updates.get(variable, variable.term)
        for variable in exported.system.variables
    ]
    renamed = [(variable.term, z3.Int(called[variable.name])) for variable in exported.system.variables]
    return z3.substitute(z3.And(action.guard, *changes), *renamed)


def assert_equal(one: z3.BoolRef, other: z3.BoolRef) -> None:
    solver = z3.Solver()
    solver.add(one != other)
    assert solver.check() == z3.unsat


def assert_same_system(exported: Exported) -> None:
    """Assert that every relation and property read back equals the original, for all values."""
    script = SmtLib(exported)
    text, called = script.text(), script.lexicon.variables
    renamed = [(variable.term, z3.Int(called[variable.name])) for variable in exported.system.variables]
    for action in exported.system.actions:
        assert_equal(read(text, script.relation_name(str(action))), relation(exported, action, called))
    for kind, terms in (("violated", exported.violated), ("goal", exported.goals)):
        for name, term in terms.items():
            found = read(text, f"{kind}_{script.lexicon.properties[name]}")
            assert_equal(found, z3.substitute(term, *renamed))
    steps = [read(text, script.relation_name(str(action))) for action in exported.system.actions]
    assert_equal(read(text, "trans"), z3.Or(*steps))
    initial = [z3.Int(called[v.name]) == v.initial for v in exported.system.variables]
    assert_equal(read(text, "init"), z3.And(*initial))
    assert_equal(read(text, "domain"), z3.substitute(exported.system.domain, *renamed))


@settings(max_examples=15, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_random_systems_read_back(chance: random.Random) -> None:
    assert_same_system(random_exported(chance, {kind: chance.randint(1, 2) for kind in KINDS}, 2))


def test_awkward_names_read_back() -> None:
    assert_same_system(turnstile())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["acks-1", "idempotent"])
def test_deployments_read_back(name: str) -> None:
    assert_same_system(export_deployment(changed(example(name), bounds=SMALL, replicas=2), total=1))


@pytest.mark.slow
def test_a_known_violation_within_the_right_number_of_steps() -> None:
    """Unrolled, the relations lead to a loss exactly where breadth-first search does."""
    deployment = changed(example("acks-1", (Fault.POWER_LOSS,)), bounds=SMALL, replicas=2)
    exported = export_deployment(deployment, properties=["no-acked-loss"], total=1)
    naive = Naive(exported.system, (), (), 0)
    lost = naive.where(exported.violated["no-acked-loss"])
    ((_, reached),) = naive.depth.items()
    shortest = min(reached[state] for state in lost)

    text = SmtLib(exported).text()
    step, bad = read(text, "trans"), read(text, "violated_no_acked_loss")
    names = [variable.name for variable in exported.system.variables]

    def at(term: z3.BoolRef, time: int) -> z3.BoolRef:
        now = [(z3.Int(name), z3.Int(f"{name}@{time}")) for name in names]
        return z3.substitute(term, *now, *((z3.Int(f"{name}.next"), z3.Int(f"{name}@{time + 1}")) for name in names))

    solver = z3.SolverFor("QF_LIA")
    solver.add(at(read(text, "init"), 0))
    for time in range(shortest):
        assert solver.check(at(bad, time)) == z3.unsat
        solver.add(at(step, time))
    assert solver.check(at(bad, shortest)) == z3.sat
