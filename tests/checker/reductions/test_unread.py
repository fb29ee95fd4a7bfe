"""Values that nothing reads any more: reset where that is declared, and then no answer changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import z3

from proofka.checker.questions import prepare
from proofka.checker.reductions.unread import reset_unread
from proofka.model.deployment import Deployment
from proofka.model.deployment.explored import FaultBudget
from proofka.model.language import TransitionSystem, Unread, Variable
from proofka.model.pipeline import Model, build
from tests.checker.asking import explored
from tests.checker.reductions.reference import action
from tests.checker.test_kernel import deployments

DEPLOYMENTS = (
    pytest.param("acks-all, forgotten offsets"),
    pytest.param("acks-all, deleted unread", marks=pytest.mark.slow),
    pytest.param("acks-all, idempotent, unclean", marks=pytest.mark.slow),
    pytest.param("acks-all, resending, flushing, fast restarts", marks=pytest.mark.slow),
    pytest.param("idempotence of 2.4", marks=pytest.mark.slow),
    pytest.param("librdkafka, gapless", marks=pytest.mark.slow),
    pytest.param("franz-go", marks=pytest.mark.slow),
    pytest.param("sarama, idempotent", marks=pytest.mark.slow),
)

WORK, NUMBER = Variable("work", 0, 2, 0), Variable("number", 0, 5, 0)
OVER = Unread("worker", z3.Or(WORK.term == 2), (NUMBER,))


def system(*updates: dict[Variable, object], unread: Unread = OVER) -> TransitionSystem:
    """Return a system with an action for each of these updates."""
    actions = tuple(action(f"step_{place}", z3.BoolVal(True), one) for place, one in enumerate(updates))  # type: ignore[arg-type]
    return TransitionSystem("toy", (WORK, NUMBER), actions, unread=(unread,))


def one_fault(name: str) -> Deployment:
    deployment = deployments()[name]
    return replace(deployment, faults=FaultBudget(1, deployment.faults.at_most))


def found(model: Model) -> tuple[dict[str, object], int]:
    """Return the answers of a model explored with one fault, and the number of states."""
    run = explored(prepare(model))
    answers = {one.property: (one.status, set(one.cut_sets), one.witness_reached) for one in run.verdicts()}
    return answers, sum(exploration.states for exploration in run.explorations)


def declaring(model: Model, *unread: Unread) -> Model:
    return replace(model, system=replace(model.system, unread=unread))


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_no_answer_changes(name: str) -> None:
    model = build(one_fault(name))
    assert model.system.unread
    answers, states = found(model)
    plain, more = found(declaring(model))
    assert answers == plain
    assert states < more


def test_a_wrong_declaration_changes_an_answer() -> None:
    """The end of a broker's log is read after the last send."""
    model = build(one_fault("acks-all, forgotten offsets"))
    (right,) = model.system.unread
    ends = tuple(replica.log.end for replica in model.pipeline.replicas)
    assert found(declaring(model, replace(right, variables=ends)))[0] != found(declaring(model))[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", deployments())
def test_every_send_that_is_over_stays_over(name: str) -> None:
    """A step after which a record is sent once more would need the numbers again."""
    model = build(deployments()[name])
    for one in model.system.unread:
        solver = z3.Solver()
        solver.add(model.system.domain, one.once)
        for step in model.system.actions:
            later = z3.substitute(one.once, *((variable.term, value) for variable, value in step.updates.items()))
            assert solver.check(step.guard, z3.Not(later)) == z3.unsat, step


def test_the_step_that_ends_the_work_resets_the_number() -> None:
    ends = z3.If(NUMBER.term > 3, z3.IntVal(2), WORK.term)
    (step,) = reset_unread(system({WORK: ends, NUMBER: NUMBER.term + 1})).actions
    solver = z3.Solver()
    solver.add(step.updates[NUMBER] != z3.If(z3.Or(NUMBER.term > 3, WORK.term == 2), 0, NUMBER.term + 1))
    assert solver.check() == z3.unsat


@pytest.mark.parametrize("updates", [{WORK: 1}, {NUMBER: 2}, {WORK: z3.If(NUMBER.term > 1, z3.IntVal(1), WORK.term)}])
def test_a_step_that_cannot_end_the_work_stays_as_it_is(updates: dict[Variable, object]) -> None:
    before = system(updates)
    assert reset_unread(before).actions == before.actions


def test_a_system_is_reset_once() -> None:
    once = reset_unread(system({WORK: 2}))
    assert reset_unread(once) == once


def test_a_condition_of_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="neither conjunction, disjunction nor comparison"):
        reset_unread(system({WORK: 2}, unread=replace(OVER, once=WORK.term > 1)))
