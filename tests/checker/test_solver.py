"""Answers of Z3 about systems small enough to know the answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import z3

from proofka.checker import solver
from proofka.checker.solver import Replayer, SolverUndecided, UnsafeUpdate, prove_domain_safety
from proofka.checker.terms import TermTable
from proofka.model.deployment.choices import Acks
from proofka.model.language import Action, TransitionSystem, Variable
from proofka.model.pipeline import build
from tests.checker.asking import SMALL, example
from tests.checker.test_exploration import action

X, Y = Variable("x", -1, 3, 0), Variable("y", 0, 1, 0)


def system(*actions: Action) -> TransitionSystem:
    return TransitionSystem("small", (X, Y), actions)


@pytest.mark.parametrize(
    ("guard", "value"),
    [
        (z3.BoolVal(True), X.term + 1),
        (X.term <= 3, X.term + 1),
        (Y.term == 0, X.term - 1),
        (z3.BoolVal(True), z3.IntVal(4)),
        (z3.BoolVal(True), z3.If(Y.term == 1, z3.IntVal(-2), X.term)),
    ],
)
def test_unsafe_updates_are_refused(guard: z3.BoolRef, value: z3.ArithRef) -> None:
    with pytest.raises(UnsafeUpdate, match="overflow"):
        prove_domain_safety(system(action("overflow", guard, {X: value})))


@pytest.mark.parametrize(
    ("guard", "value"),
    [
        (X.term < 3, X.term + 1),
        (z3.And(X.term > 0, Y.term == 1), X.term - Y.term),
        (z3.BoolVal(True), z3.If(Y.term == 1, z3.IntVal(-1), X.term)),
        (z3.BoolVal(True), z3.If(X.term == 3, z3.IntVal(-1), X.term + 1)),
    ],
)
def test_safe_updates_are_kept(guard: z3.BoolRef, value: z3.ArithRef) -> None:
    safe = system(action("safe", guard, {X: value}))
    assert prove_domain_safety(safe) == safe


def test_actions_that_cannot_happen_are_dropped() -> None:
    possible = action("possible", X.term == 3, {X: z3.IntVal(0)})
    impossible = action("impossible", X.term > 3, {X: z3.IntVal(0)})
    contradictory = action("contradictory", z3.And(X.term == 1, X.term != 1), {X: z3.IntVal(7)})
    assert prove_domain_safety(system(possible, impossible, contradictory)).actions == (possible,)


def test_replay_of_one_step() -> None:
    """Simultaneous assignment: both next values are computed from the state before."""
    swap = action("swap", X.term == 1, {X: Y.term, Y: X.term})
    replayer = Replayer(system(swap))
    assert replayer.step({"x": 1, "y": 0}, swap) == {"x": 0, "y": 1}
    assert replayer.step({"x": 2, "y": 0}, swap) is None


def test_replay_keeps_variables_that_an_action_leaves_alone() -> None:
    reset = action("reset", X.term > 0, {X: z3.If(Y.term == 1, z3.IntVal(0), z3.IntVal(-1))})
    replayer = Replayer(system(reset))
    assert replayer.step({"x": 3, "y": 0}, reset) == {"x": -1, "y": 0}
    assert replayer.step({"x": 3, "y": 1}, reset) == {"x": 0, "y": 1}


def test_replay_tells_actions_apart() -> None:
    """The preparation for one action is never used for another, however short-lived the actions are."""
    replayer = Replayer(system())
    for number in range(200):
        value = number % 4
        short_lived = action(f"set {value}", X.term == 0, {X: z3.IntVal(value)})
        assert replayer.step({"x": 0, "y": 0}, short_lived) == {"x": value, "y": 0}


def test_replay_needs_the_whole_state() -> None:
    """A variable without a value is no licence to choose one."""
    copy = action("copy", X.term == 1, {X: Y.term})
    with pytest.raises((SolverUndecided, KeyError)):
        Replayer(system(copy)).step({"x": 1}, copy)
    with pytest.raises((SolverUndecided, KeyError)):
        Replayer(system(copy)).holds({"x": 1}, Y.term == 0)


def test_truth_in_a_state() -> None:
    replayer = Replayer(system())
    assert replayer.holds({"x": 2, "y": 1}, X.term > Y.term)
    assert not replayer.holds({"x": 0, "y": 1}, X.term > Y.term)
    assert replayer.holds({"x": 3, "y": 1}, X.term + Y.term == 4)


@pytest.mark.slow
def test_model_without_idempotence_recognises_no_retry() -> None:
    """Actions of mechanisms that are off are not in the model, or Z3 finds that they cannot happen."""
    names = {action.name for action in prove_domain_safety(build(example("acks-0")).system).actions}
    assert example("acks-0").producer.acks is Acks.NONE
    assert not names & {"recognise_duplicate", "acknowledge", "lose_response", "elect_unclean"}
    assert {"send", "transmit", "append", "fetch", "kill", "fence", "restart"} <= names


@pytest.mark.slow
def test_a_model_is_safe_over_its_whole_domain() -> None:
    """The proof does not rest on what is reachable, and leaves only actions that can happen somewhere."""
    whole = build(replace(example("idempotent-restart"), bounds=replace(SMALL, sends=2))).system
    safe = prove_domain_safety(whole)
    assert {action.key for action in safe.actions} <= {action.key for action in whole.actions}
    assert all(action.updates for action in safe.actions)


def test_a_proof_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof holds for this very system: for a changed action the solver is asked again."""
    possible, impossible = action("up", X.term < 3, {X: X.term + 1}), action("never", X.term > 7, {X: z3.IntVal(0)})
    first = prove_domain_safety(system(possible, impossible))
    asked = []
    satisfiable = solver._satisfiable
    monkeypatch.setattr(solver, "_satisfiable", lambda *given: asked.append(given) or satisfiable(*given))
    assert prove_domain_safety(system(possible, impossible)) == first
    assert first.actions == (possible,)
    assert not asked
    with pytest.raises(UnsafeUpdate, match="up"):
        prove_domain_safety(system(action("up", X.term < 3, {X: X.term + 2}), impossible))
    assert asked


def test_nothing_is_kept_of_an_unsafe_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROOFKA_CACHE", str(tmp_path))
    for _ in range(2):
        with pytest.raises(UnsafeUpdate):
            prove_domain_safety(system(action("overflow", X.term >= 0, {X: X.term + 9})))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "changed",
    [
        system(action("up", X.term < 2, {X: X.term + 1})),
        system(action("up", X.term < 3, {X: X.term + 2})),
        system(action("up", X.term < 3, {Y: z3.IntVal(1)})),
        TransitionSystem("small", (X, Variable("y", 0, 2, 0)), (action("up", X.term < 3, {X: X.term + 1}),)),
    ],
)
def test_another_system_is_another_proof(changed: TransitionSystem) -> None:
    def key(asked: TransitionSystem) -> str:
        table = TermTable()
        return solver._key_of(asked, [solver._Step(one, table) for one in asked.actions], table)

    plain = system(action("up", X.term < 3, {X: X.term + 1}))
    assert key(plain) == key(plain)
    assert key(changed) != key(plain)
