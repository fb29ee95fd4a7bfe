"""The obligations of systems and reductions: both solvers confirm them, and refute what is wrong on purpose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
import z3

from proofka.checker import solver
from proofka.checker.cone import propagate_constants
from proofka.checker.obligations.collecting import Collected, obligations_of
from proofka.checker.obligations.obligation import Impossible, Kind
from proofka.checker.obligations.scripts import Scripts
from proofka.checker.obligations.second_solver import agreement
from proofka.checker.obligations.simplification import simplifications
from proofka.checker.questions import Simplified, simplify
from proofka.checker.reductions.choice import Reduction
from proofka.checker.reductions.ranking import asked_of_z3
from proofka.checker.reductions.settled import unsettled
from proofka.checker.reductions.symmetry import differences
from proofka.checker.solver import impossible_actions, prove_domain_safety, unsafe_updates
from proofka.model.faults import Fault
from proofka.model.language import Action, Ranked, TransitionSystem, Variable
from proofka.model.pipeline import Model, build
from proofka.properties.catalogue import properties_of
from tests.checker.asking import SMALL, example, run
from tests.checker.obligations.answers import answer
from tests.checker.reductions.reference import action
from tests.checker.reductions.test_symmetry import PROCESSES, token, written_otherwise
from tests.deployments import changed

X, Y, FLAG = Variable("x", -1, 3, 0), Variable("y", 0, 1, 0), Variable("flag", 0, 1, 0)
VARIABLES = (X, Y, FLAG)


def system(*actions: Action) -> TransitionSystem:
    return TransitionSystem("small", VARIABLES, actions)


def answers(asked: Iterable[Impossible], variables: Iterable[Variable] = VARIABLES) -> list[str]:
    scripts = Scripts(variables)
    return [answer(scripts.within_domains(one.condition)) for one in asked]


def test_both_solvers_agree_on_a_deployment() -> None:
    deployment = changed(example("acks-1", (Fault.KILL,)), bounds=SMALL, replicas=2)
    obligations = obligations_of(deployment)
    found = agreement(obligations)
    assert not [str(one.obligation) for one in (*found.disputed, *found.undecided)]
    assert found.agreed == Counter(one.kind for one in obligations)
    assert found.agreed[Kind.CONSTANTS] > 50
    assert found.agreed[Kind.DOMAINS] > 20
    assert len({one.name for one in obligations}) == len({one.script for one in obligations}) == len(obligations)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["transactions", "idempotent-restart", "eligible-leader-replicas"])
def test_both_solvers_agree_on_examples_with_reductions(name: str) -> None:
    obligations = obligations_of(example(name), frozenset(Reduction))
    found = agreement(obligations)
    assert not [str(one.obligation) for one in (*found.disputed, *found.undecided)]
    assert found.agreed.total() == len(obligations)


def test_an_action_that_can_happen_is_no_impossible_action() -> None:
    """A cache that names too few actions makes the checker drop an action; the obligation then has an answer."""
    possible = action("possible", X.term == 3, {X: z3.IntVal(0)})
    never = action("never", X.term > 3, {X: z3.IntVal(0)})
    whole = system(possible, never)
    safe = prove_domain_safety(whole)
    assert safe.actions == (possible,)
    assert answers(impossible_actions(whole, safe)) == ["unsat"]
    assert answers(impossible_actions(whole, replace(whole, actions=()))) == ["sat", "unsat"]


def test_an_action_that_a_wrong_proof_dropped_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = solver._feasible_and_safe
    monkeypatch.setattr(solver, "disk_cache", lambda: None)
    monkeypatch.setattr(solver, "_feasible_and_safe", lambda *asked: honest(*asked)[1:])
    obligations = obligations_of(changed(example("acks-1", (Fault.KILL,)), bounds=SMALL, replicas=2))
    (one,) = agreement(one for one in obligations if one.kind is Kind.IMPOSSIBLE_ACTIONS).disputed
    assert one.obligation.meaning == "send(batch=0) happens in no state within the domains."
    assert (one.z3.word, one.second.word) == ("sat", "sat")


def test_an_update_that_leaves_its_domain_is_refuted() -> None:
    safe = system(action("safe", X.term < 3, {X: X.term + 1}), action("by form", X.term < 3, {X: z3.IntVal(2)}))
    assert answers(unsafe_updates(safe)) == ["unsat"]
    assert answers(unsafe_updates(system(action("unsafe", X.term < 3, {X: X.term - 1})))) == ["sat"]


def simplified(*actions: Action) -> Simplified:
    whole = system(*actions)
    return Simplified(Model(None, whole), *propagate_constants(whole))  # type: ignore[arg-type]


def of_simplifying(one: Simplified) -> list[str]:
    found = Collected()
    constants = {str(variable): value.as_long() for variable, value in one.constants}
    found.add_with_constants(simplifications(one, ()), Scripts(one.model.system.variables), constants)
    return [answer(obligation.script) for obligation in found.in_order()]


def test_simplified_actions_are_the_same_and_a_wrong_one_is_refuted() -> None:
    step = action("step", z3.And(X.term < 3, z3.Not(FLAG.term == 1), z3.BoolVal(True)), {X: X.term + 1 + FLAG.term})
    never = action("never", z3.And(FLAG.term == 1, X.term > 0), {X: z3.IntVal(0), FLAG: z3.IntVal(0)})
    one = simplified(step, never)
    assert [str(variable) for variable, _ in one.constants] == ["y", "flag"]
    assert [found.name for found in one.system.actions] == ["step"]
    assert of_simplifying(one) == ["unsat", "unsat"]
    (simple,) = one.system.actions
    weaker = replace(simple, guard=X.term < 4)
    other_value = replace(simple, updates={X: X.term + 2})
    for wrong in (weaker, other_value):
        assert of_simplifying(replace(one, system=replace(one.system, actions=(wrong,)))) == ["sat", "unsat"]
    assert of_simplifying(replace(one, system=replace(one.system, actions=()))) == ["sat", "unsat"]


def test_a_constant_that_changes_is_refuted() -> None:
    one = simplified(action("step", X.term < 3, {X: X.term + 1, FLAG: z3.If(X.term == 2, z3.IntVal(1), FLAG.term)}))
    assert [str(variable) for variable, _ in one.constants] == ["y"]
    kept = tuple(variable for variable in one.system.variables if variable is not FLAG)
    (simple,) = one.system.actions
    less = replace(simple, updates={X: simple.updates[X]})
    constants = [*one.constants, (FLAG.term, z3.IntVal(0))]
    wrong = replace(one, system=replace(one.system, variables=kept, actions=(less,)), constants=constants)
    assert of_simplifying(wrong) == ["sat"]


def test_every_question_about_a_deployment_is_simplified_rightly() -> None:
    one = simplify(build(changed(example("acks-1", (Fault.KILL,)), bounds=SMALL, replicas=2)))
    meanings = [found.meaning for found in simplifications(one, properties_of(one.model.pipeline))]
    for what in ("what violates no-acked-loss", "the witness of no-acked-loss", "the goal of recoverability"):
        assert any(meaning.startswith(what) for meaning in meanings), what


def test_a_symmetry_that_only_a_solver_sees() -> None:
    asked = list(differences(PROCESSES, token(written_otherwise), []))
    variables = token().variables
    assert asked
    assert set(answers(asked, variables)) == {"unsat"}
    prefers = token(lambda name: [action("prefer", z3.BoolVal(name == 2), {}, who=name)])
    assert "sat" in answers(differences(PROCESSES, prefers, []), variables)


def test_ranked_values_are_settled() -> None:
    newest, other = Variable("newest", 0, 6, 1), Variable("other", 0, 6, 0)
    family = Ranked("epoch", (newest, other), newest, reserved=1, settled=FLAG.term == 1)
    following = action("next", z3.And(newest.term < 6, FLAG.term == 0), {newest: newest.term + 1})
    reset = action("reset", FLAG.term == 0, {newest: z3.IntVal(0), FLAG: z3.IntVal(1)})
    early = action("early", FLAG.term == 0, {newest: z3.IntVal(0)})
    variables = (newest, other, FLAG)
    whole = TransitionSystem("epochs", variables, (following, reset), ranked=(family,))
    assert answers(asked_of_z3(whole, [], []), variables) == ["unsat", "unsat"]
    wrong = replace(whole, actions=(following, early))
    assert list(asked_of_z3(wrong, [], [])) == []  # not ranked, so nothing rests on an answer
    assert answers(unsettled(family, wrong, []), variables) == ["unsat", "sat"]


def test_ranked_epochs_of_a_deployment_leave_obligations() -> None:
    deployment = changed(example("acks-all-min-isr-1", (Fault.KILL,)), bounds=SMALL, replicas=2)
    plain = obligations_of(deployment)
    ranked = obligations_of(deployment, frozenset({Reduction.RANKED_EPOCHS}))
    more = [one for one in ranked if one.kind is Kind.RANKS]
    assert [one.name for one in ranked if one.kind is not Kind.RANKS] == [one.name for one in plain]
    assert agreement(more).agreed == {Kind.RANKS: len(more)}
    assert len(more) > 10


def test_any_number_of_faults_leaves_the_obligations_of_wider_systems() -> None:
    kills = changed(example("acks-1", (Fault.KILL,)), bounds=SMALL, replicas=2)
    wider = obligations_of(replace(kills, faults=kills.faults.without_limits()))
    extended = [one for one in wider if one.kind is Kind.DOMAINS and "epoch 31))" in one.script]
    assert extended
    assert not [one for one in obligations_of(kills) if "epoch 31))" in one.script]
    assert agreement(extended[:5]).agreed == {Kind.DOMAINS: 5}


def test_the_cycles_behind_lemmas_are_obligations() -> None:
    found = run(example("acks-all-min-isr-2", (Fault.DELAYED_REQUEST,)), ["no-log-duplicate"])
    cycles = [lemma.contradiction for lemma in found.in_time("no-log-duplicate").rests_on]
    collected = Collected()
    for cycle in (*cycles, *cycles):
        collected.add_cycle(cycle)
    obligations = collected.in_order()
    assert cycles
    assert len(obligations) <= len(cycles)
    assert {one.kind for one in obligations} == {Kind.CYCLES}
    assert {answer(one.script) for one in obligations} == {"unsat"}
    assert "delivery.timeout.ms" in obligations[0].meaning
