"""What violates a system in time is what does when every run is listed and decided by Z3 alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import cast

from hypothesis import given, settings

from checker.budget import Budget, Meter
from checker.cone import FreeVariables
from checker.embedded import EmbeddedExploration
from checker.exploration import AnyExploration, Question, Violation
from checker.questions import Prepared
from checker.solver import Replayer
from checker.timing.loop import InTime
from checker.timing.refinement import Timing
from model.faults import Fault
from model.language import Action
from model.pipeline import Model
from model.state import Pipeline
from tests.checker.timing.random_systems import LONGEST, Timed, evaluated, has_times, runs, timed_systems

MOST_FAULTS = 2


def by_definition(timed: Timed) -> set[int]:
    """The smallest number of faults of a run that ends in a violation and has times, if there is one."""
    found = set()
    for taken, states in runs(timed.system):
        faults = sum(action.fault is not None for action in taken)
        violated = str(evaluated(timed.violated, states[-1])) == "True"
        if faults <= MOST_FAULTS and violated and has_times(timed.system, taken, states):
            found.add(faults)
    return {min(found)} if found else set()


def explored(timed: Timed) -> InTime:
    """What the checker says of the same."""
    system = timed.system
    prepared = Prepared(Model(cast(Pipeline, None), system), system, [], FreeVariables())
    question = Question({"bad": timed.violated}, None, {})
    acts = [
        replace(action, updates={v: u for v, u in action.updates.items() if v not in system.history})
        for action in system.actions
    ]
    kept = tuple(variable for variable in system.variables if variable not in system.history)
    forgetful = replace(system, variables=kept, actions=tuple(acts), history=())
    found = EmbeddedExploration(forgetful, question, {Fault.KILL: MOST_FAULTS}, Meter(Budget(), timed=False))
    in_time = InTime(Timing(prepared, Replayer(system)), "bad", system, question, threads=1)

    def run_of(exploration: AnyExploration, violation: Violation) -> tuple[list[Action], None]:
        return [exploration.system.actions[label] for label in exploration.path(violation)], None

    for faults in range(MOST_FAULTS + 1):
        if not found.exhausted():
            found.explore_layer()
        in_time.keep(found, faults + 1, run_of)
    return in_time


@given(timed_systems())
@settings(max_examples=150, derandomize=True)
def test_random_systems(timed: Timed) -> None:
    in_time = explored(timed)
    assert in_time.undecided == []
    assert {Counter(dict(one.faults)).total() for one in in_time.timely} == by_definition(timed)
    for one in in_time.timely:
        assert len(one.schedule.times) <= LONGEST
