"""Traces: rebuilt through Z3, shortest, in words, and refused where kernel and solver disagree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.checker.solver import Replayer
from proofka.checker.traces import ReplayMismatch, build_trace, cut_set, replay, steps_of
from proofka.model.faults import Fault
from proofka.model.language import Action, describe
from proofka.model.pipeline import Model, build
from proofka.properties.catalogue import properties_of
from proofka.properties.property import Property
from proofka.properties.verdict import Trace
from tests.checker.asking import SMALL, ask, cut, example
from tests.deployments import changed

K = Fault.KILL
DEPLOYMENT = replace(example("acks-1", (K,), 1), bounds=SMALL)


@pytest.fixture(scope="module")
def model() -> Model:
    return build(DEPLOYMENT)


@pytest.fixture(scope="module")
def trace() -> Trace:
    (found,) = ask(DEPLOYMENT, "no-acked-loss")["no-acked-loss"].traces
    return found


@pytest.fixture(scope="module")
def lost(model: Model) -> Property:
    return next(prop for prop in properties_of(model.pipeline) if prop.name == "no-acked-loss")


def actions_of(model: Model, trace: Trace) -> list[Action]:
    found = [model.system.action(step.action, step.arguments) for step in trace.steps]
    assert all(found)
    return [action for action in found if action is not None]


def test_steps_have_sentences_about_the_action(model: Model, trace: Trace) -> None:
    """Each step's changes are the differences between the states it lies between, in the displays' words."""
    actions = actions_of(model, trace)
    states = replay(model.system, Replayer(model.system), actions)
    assert states[0] == model.system.initial
    for step, action, before, after in zip(trace.steps, actions, states, states[1:], strict=False):
        assert step.text == action.sentence(before, after)
        assert (step.actor, step.lane) == (action.actor, action.lane)
        assert step.fault == (None if action.fault is None else action.fault.value)
        was, now = describe(model.system, before), describe(model.system, after)
        assert {change.what: (change.before, change.after) for change in step.changes} == {
            what: (was[what], now[what]) for what in now if was[what] != now[what]
        }


def test_faults_of_a_trace(model: Model, trace: Trace) -> None:
    actions = actions_of(model, trace)
    assert trace.faults == cut_set(actions) == cut(K)
    assert cut_set([*actions, *(action for action in actions if action.fault)]) == cut(K, K)
    assert cut_set([]) == ()


def test_failure_names_record_and_leader(trace: Trace) -> None:
    assert "record 1 was acknowledged" in trace.failure
    assert "broker 2" in trace.failure


def test_no_step_can_be_left_out(model: Model, trace: Trace, lost: Property) -> None:
    """A shortest trace: without any of its steps it is no run, or no violation."""
    actions = actions_of(model, trace)
    whole = replay(model.system, Replayer(model.system), actions)
    times = [step.at or 0 for step in trace.steps]
    assert build_trace(model.system, Replayer(model.system), lost, actions, whole, times=times) == trace
    for left_out in range(len(actions)):
        shorter = actions[:left_out] + actions[left_out + 1 :]
        with pytest.raises(ReplayMismatch):
            build_trace(
                model.system,
                Replayer(model.system),
                lost,
                shorter,
                replay(model.system, Replayer(model.system), shorter),
            )


def test_a_step_that_is_not_allowed_is_named(model: Model, trace: Trace) -> None:
    actions = actions_of(model, trace)
    with pytest.raises(ReplayMismatch, match=r"^step 2, .*is not allowed"):
        replay(model.system, Replayer(model.system), [actions[0], actions[0]])


def test_disagreement_with_the_kernel_is_refused(model: Model, trace: Trace, lost: Property) -> None:
    """A kernel that computed another state than Z3 did makes no trace, whatever variable differs."""
    actions = actions_of(model, trace)
    states = replay(model.system, Replayer(model.system), actions)
    for name, wrong in (("leader", 3), ("broker_1_log_end", 0), ("batch_0_fate", 0)):
        packed = [dict(state) for state in states]
        assert packed[-2][name] != wrong
        packed[-2][name] = wrong
        with pytest.raises(ReplayMismatch, match=f"after step {len(actions) - 1} .*{name}"):
            build_trace(model.system, Replayer(model.system), lost, actions, packed)


def test_a_run_that_violates_nothing_is_refused(model: Model, trace: Trace, lost: Property) -> None:
    actions = actions_of(model, trace)[:-1]
    with pytest.raises(ReplayMismatch, match="not violated at the end"):
        build_trace(
            model.system, Replayer(model.system), lost, actions, replay(model.system, Replayer(model.system), actions)
        )


def test_steps_of_no_run(model: Model) -> None:
    assert steps_of(model.system, [], [model.system.initial]) == ()


@pytest.mark.slow
def test_every_property_explains_its_violation() -> None:
    """One trace of every property there is a violation of, each ending in words for what failed."""
    kinds = (K, Fault.CONSUMER_CRASH, Fault.LOST_RESPONSE, Fault.LEADER_MOVE)
    deployment = changed(example("acks-1", kinds, 1), bounds=replace(SMALL, records=2), replicas=2, idempotence=False)
    violated = {name: verdict for name, verdict in ask(deployment).items() if verdict.traces}
    assert {"no-acked-loss", "no-silent-loss", "no-loss", "no-log-duplicate", "no-reprocessing"} <= violated.keys()
    for name, verdict in violated.items():
        for found in verdict.traces:
            assert found.failure and found.failure[0].islower() and not found.failure.endswith("."), name
            # What a leader comes to know of a follower is told in the step's own words alone.
            silent = {step.action for step in found.steps if not step.changes}
            assert all(step.text for step in found.steps), name
            assert silent <= {"fetch"}, name
