"""Shortest traces that have certain steps, for steps that no shortest violation has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from proofka.checker.budget import Budget, Meter
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Question
from proofka.checker.reproduction.of_trace import plan_of
from proofka.checker.reproduction.plan import Plan
from proofka.checker.solver import Replayer
from proofka.checker.traces import actions_of, cut_set, shown_of, steps_of
from proofka.checker.traces import replay as states_along
from proofka.model.deployment import read_deployment
from proofka.model.deployment.explored import FaultBudget
from proofka.model.language import Action, State, TransitionSystem
from proofka.model.language.terms import Or
from proofka.model.pipeline import build
from proofka.properties.verdict import Trace


def plan_with(text: str, *names: str) -> Plan:
    """Return the plan of a trace of a deployment in YAML that has these actions in this order, and violates nothing.

    An action has its name alone, or its name with its arguments: ``kill(broker=3)``.
    The trace to the first action is a shortest one with as few faults as possible, of the kinds that the deployment
    assumes, and so is the trace from there to each further action.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "deployment.yaml"
        file.write_text(text, encoding="utf-8")
        deployment = read_deployment(file)
    system = build(deployment).system
    replayer = Replayer(system)
    run: list[Action] = []
    state = system.initial
    for name in names:
        steps = actions_of(system, _shortest(_beginning_in(system, state), name, deployment.faults))
        run += _ended(system, replayer, state, steps, name)
        state = states_along(system, replayer, run)[-1]
    states = states_along(system, replayer, run)
    trace = Trace(cut_set(run), steps_of(system, run, states), "", shown_of(system, states[0]))
    return plan_of(deployment, trace, [])


def _beginning_in(system: TransitionSystem, state: State) -> TransitionSystem:
    """Return the system that begins in a state of another one."""
    started = {variable: replace(variable, initial=state[variable.name]) for variable in system.variables}
    actions = tuple(
        replace(action, updates={started[variable]: value for variable, value in action.updates.items()})
        for action in system.actions
    )
    return replace(system, variables=tuple(started.values()), actions=actions)


def _shortest(system: TransitionSystem, name: str, faults: FaultBudget) -> list[Action]:
    """Return the actions of a shortest run to a state in which an action of a name is enabled."""
    last = [one for one in system.actions if name in (one.name, str(one))]
    assert last, f"the model of the deployment has no {name}"
    question = Question({name: Or(*(one.guard for one in last))}, None, {})
    most = {kind: faults.limit_of(kind) for kind in faults.possible}
    found = EmbeddedExploration(system, question, most, Meter(Budget(), timed=False), infer=False)
    for _ in range((faults.total or 0) + 1):
        found.explore_layer()
        if found.violations[name]:
            return [system.actions[label] for label in found.path(found.violations[name][0])]
    raise AssertionError(f"no trace with these faults leads to {name}")


def _ended(system: TransitionSystem, replayer: Replayer, state: State, steps: list[Action], name: str) -> list[Action]:
    """Return the steps from a state with the action of a name that is enabled after them."""
    for step in steps:
        following = replayer.step(state, step)
        assert following is not None, f"{step} is not enabled"
        state = following
    enabled = (one for one in system.actions if name in (one.name, str(one)) and replayer.step(state, one) is not None)
    return [*steps, next(enabled)]
