"""Invariants of small deployments: what is found holds in every state, and what is false is never proved.

Python alone runs the systems, and a third reading of terms evaluates the lemmas there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from proofka.checker.invariants import open_deployment
from proofka.checker.invariants.deployments import NOT_WITNESSED, VIOLATED, prove_deployment, prove_part
from proofka.checker.invariants.goal_directed import Search
from proofka.checker.invariants.induction import NoAnswer
from proofka.checker.invariants.mining import MOST_LITERALS, mined
from proofka.checker.invariants.open_deployment import NotOpen, OpenDeployment, open_deployments, with_any_number
from proofka.checker.invariants.proof import Proof, Subject
from proofka.checker.invariants.proof import prove as prove_again
from proofka.checker.invariants.seen_states import seen_states
from proofka.checker.invariants.statements import Form, Statement, Statements, packed, statements
from proofka.checker.reductions.ranking import ranked_state
from proofka.model.deployment import Deployment, read_deployment
from proofka.model.language import Action, TransitionSystem
from proofka.model.language.terms import BoolVal, IntVal
from tests.checker.plain_evaluator import PlainEvaluator, holds, successors

ONE_BROKER = """
kafka: "4.0"
topic: {replicas: 1, min.insync.replicas: 1}
producer: {acks: all, enable.idempotence: false}
consumer: {group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}
bounds: {records: 1}
require: [no-acked-loss]
assume: {faults: {kill: any, power-loss: any}}
"""
LOSS = "no-acked-loss"


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    file = tmp_path_factory.mktemp("deployment") / "one.yaml"
    file.write_text(ONE_BROKER, encoding="utf-8")
    return read_deployment(file)


@pytest.fixture(scope="module")
def part(deployment: Deployment) -> OpenDeployment:
    (only,) = open_deployments(with_any_number(deployment, ["kill"]), [LOSS])
    return only


@pytest.fixture(scope="module")
def proof(part: OpenDeployment) -> Proof:
    return prove_part(part, 120)


def reachable(system: TransitionSystem) -> list[dict[str, int]]:
    """Return every state of a system, up to the labels of ranked values."""
    first = system.initial
    found, waiting = {tuple(first.values())}, [first]
    states = [first]
    families = [
        replace(one, variables=tuple(variable for variable in one.variables if variable in system.variables))
        for one in system.ranked
        if one.newest in system.variables
    ]
    while waiting:
        for after in successors(system.actions, waiting.pop()).values():
            state = ranked_state(after, families)
            if tuple(state.values()) not in found:
                found.add(tuple(state.values()))
                states.append(state)
                waiting.append(state)
    return states


def test_a_deployment_is_proved_and_its_invariant_holds_in_every_state(part: OpenDeployment, proof: Proof) -> None:
    assert proof.proved == (LOSS,)
    assert not proof.reasons
    assert not proof.dropped
    states = reachable(part.group.system)
    assert len(states) > 50
    for state in states:
        evaluator = PlainEvaluator(state)
        assert all(evaluator.value(lemma.term) for lemma in proof.lemmas)


def test_steps_of_the_explored_system_are_steps_of_the_open_system(part: OpenDeployment) -> None:
    for state in reachable(part.group.system):
        opened = successors(part.subject.system.actions, state)
        assert successors(part.group.system.actions, state).items() <= opened.items()


def test_a_bound_on_leader_epochs_that_stays_in_a_term_is_noticed(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    another = SimpleNamespace(epoch_left=lambda pipeline: pipeline.controller.epoch.term < 99)
    monkeypatch.setattr(open_deployment, "controller", another)
    with pytest.raises(NotOpen, match="terms of the model depend on the bound on leader epochs"):
        list(open_deployments(deployment, [LOSS]))


def test_lemmas_are_false_somewhere_without_the_steps_that_they_need(deployment: Deployment, proof: Proof) -> None:
    (with_power_loss,) = open_deployments(with_any_number(deployment, None), [LOSS])
    states = reachable(with_power_loss.group.system)
    assert any(not holds(lemma.term, state) for state in states for lemma in proof.lemmas)


def test_a_violated_property_is_not_proved(deployment: Deployment) -> None:
    (found,) = prove_deployment(deployment, None, None, 60)
    assert not found.proved
    assert found.reasons == {LOSS: VIOLATED}
    assert not found.obligations


def test_a_violated_property_is_not_proved_with_candidates_from_states_without_its_violation(
    deployment: Deployment, part: OpenDeployment
) -> None:
    """The explored states have kills alone, and the system has power losses as well."""
    (worse,) = open_deployments(with_any_number(deployment, None), [LOSS])
    names = {variable.name for variable in part.subject.system.variables}
    assert names == {variable.name for variable in worse.subject.system.variables}
    spoken = spoken_of(part)
    search = Search(worse.subject.system, spoken, mined(spoken))
    with suppress(NoAnswer):
        assert search.clauses_for(worse.subject.violated[LOSS], 60) is None


def test_an_invariant_proves_nothing_of_a_system_with_further_faults(deployment: Deployment, proof: Proof) -> None:
    (worse,) = open_deployments(with_any_number(deployment, None), [LOSS])
    again = prove_again(replace(worse.subject, candidates=proof.lemmas))
    assert not again.proved
    assert again.dropped


def with_changed(proof: Proof, name: str, change: Callable[[Action], Action]) -> Subject:
    """Return the subject of a proof with its invariant as candidates, in which actions of a name are others."""
    system = proof.subject.system
    actions = tuple(change(one) if one.name == name else one for one in system.actions)
    assert actions != system.actions
    return replace(proof.subject, system=replace(system, actions=actions), candidates=proof.lemmas)


def test_a_weaker_guard_makes_the_proof_fail(proof: Proof) -> None:
    again = prove_again(with_changed(proof, "acknowledge", lambda one: replace(one, guard=BoolVal(True))))
    assert not again.proved
    assert again.dropped


def test_a_kill_that_empties_the_log_makes_the_proof_fail(proof: Proof) -> None:
    (log_end,) = (one for one in proof.subject.system.variables if one.name == "broker_1_log_end")
    again = prove_again(
        with_changed(proof, "kill", lambda one: replace(one, updates={**one.updates, log_end: IntVal(0)}))
    )
    assert not again.proved
    assert again.dropped


def test_a_false_candidate_is_dropped_and_the_property_proved_without_it(part: OpenDeployment) -> None:
    spoken = spoken_of(part)
    number = next(n for n, one in enumerate(spoken.all) if one == Statement(Form.IS_VALUE, "batch_0_fate", 5))
    false = np.full((1, MOST_LITERALS), -1, dtype=np.int32)
    false[0, 0] = 2 * number
    search = Search(part.subject.system, spoken, false)
    found = search.clauses_for(part.subject.violated[LOSS], 120)
    assert found is not None
    assert [2 * number] not in found
    assert search.counts.dropped >= 1


def spoken_of(part: OpenDeployment) -> Statements:
    seen = seen_states(part, states=100_000, seconds=60)
    assert seen.is_closed
    assert LOSS in seen.witnessed
    return statements(part.subject.system.variables, part.subject.system.endless, 1, seen.values)


def test_explored_states_are_those_of_the_plain_evaluator(part: OpenDeployment) -> None:
    seen = seen_states(part, states=100_000, seconds=60)
    names = sorted(seen.values)
    explored = set(zip(*(seen.values[name].tolist() for name in names), strict=True))
    assert explored == {tuple(state[name] for name in names) for state in reachable(part.group.system)}


def test_mined_clauses_are_exactly_those_that_hold_and_are_shortest() -> None:
    random = np.random.default_rng(7)
    truths = random.random((6, 40)) < 0.5
    truths[3] &= truths[2]
    truths[5] = truths[0] | truths[1]
    bits = np.array([packed(row) for row in truths])
    every = tuple(Statement(Form.IS_VALUE, f"v{n}", 0) for n in range(7))
    found = mined(Statements(every, bits, packed(np.ones(40, dtype=np.bool_)), (False,)))
    clauses = {frozenset(int(one) for one in row if one >= 0) for row in found}
    expected: set[frozenset[int]] = {frozenset({12})}
    for size in (2, 3):
        for literals in product(range(12), repeat=size):
            numbers = {one >> 1 for one in literals}
            holds_everywhere = np.logical_or.reduce([truths[one >> 1] == (one & 1) for one in literals]).all()
            is_shortest = not any(one < frozenset(literals) for one in expected)
            if len(numbers) == size and holds_everywhere and is_shortest:
                expected.add(frozenset(literals))
    assert clauses == expected


def test_unknown_kinds_and_properties_are_refused(deployment: Deployment) -> None:
    with pytest.raises(NotOpen, match="has no fault 'flood'; its kinds are kill, power-loss"):
        with_any_number(deployment, ["flood"])
    with pytest.raises(NotOpen, match="unknown property 'no-luck'"):
        list(open_deployments(deployment, ["no-luck"]))
    with pytest.raises(NotOpen, match="recoverability: it asks that a goal stays within reach"):
        prove_deployment(deployment, ["recoverability"], None)


def test_a_property_without_its_situation_is_not_proved(deployment: Deployment) -> None:
    (found,) = prove_deployment(deployment, ["no-log-duplicate"], [], 30)
    assert found.reasons == {"no-log-duplicate": NOT_WITNESSED}
    assert not found.proved
