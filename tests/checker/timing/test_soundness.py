"""Timed violations of random systems equal those of a list of all runs, each decided by Z3 alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import cast

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.budget import Budget, Meter
from proofka.checker.cone import FreeVariables
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import AnyExploration, Question, Violation
from proofka.checker.questions import VIOLATED, Prepared
from proofka.checker.solver import Replayer
from proofka.checker.timing.loop import InTime
from proofka.checker.timing.refinement import Timing
from proofka.model.faults import Fault
from proofka.model.language import Action
from proofka.model.pipeline import Model
from proofka.model.state.pipeline import Pipeline
from tests.checker.timing.random_systems import LONGEST, Timed, conditions, evaluated, has_times, runs, timed_systems

MOST_FAULTS = 2


Shortest = dict[int, int]
"""By the smallest number of faults of a run that ends in a violation and has times: the length of a shortest one."""


def by_definition(timed: Timed, violated: z3.BoolRef) -> Shortest:
    found: Shortest = {}
    for taken, states in runs(timed.system):
        faults = sum(action.fault is not None for action in taken)
        ends_there = str(evaluated(violated, states[-1])) == "True"
        if faults <= MOST_FAULTS and ends_there and has_times(timed.system, taken, states):
            found[faults] = min(len(taken), found.get(faults, LONGEST))
    return {min(found): found[min(found)]} if found else {}


def explored(timed: Timed, also: z3.BoolRef, *, alike: bool = True) -> list[InTime]:
    """Return the verdicts of the checker on the system, for its property and a second property that is asked
    afterwards."""
    system = timed.system
    prepared = Prepared(Model(cast(Pipeline, None), system), system, [], FreeVariables())
    asked = {"bad": timed.violated, "also bad": also}
    acts = [
        replace(action, updates={v: u for v, u in action.updates.items() if v not in system.history})
        for action in system.actions
    ]
    kept = tuple(variable for variable in system.variables if variable not in system.history)
    forgetful = replace(system, variables=kept, actions=tuple(acts), history=())
    question = Question(asked, None, {})
    found = EmbeddedExploration(forgetful, question, {Fault.KILL: MOST_FAULTS}, Meter(Budget(), timed=False))
    timing = Timing(prepared, Replayer(system))
    asks_first = Question({"bad": timed.violated}, None, {VIOLATED + "also bad": also})
    asks_second = Question({"also bad": also}, None, {})
    first = InTime(timing, "bad", system, asks_first, threads=1)
    beside = [first] if alike else []
    second = InTime(timing, "also bad", system, asks_second, threads=1, beside=beside, before=[first])

    def run_of(exploration: AnyExploration, violation: Violation) -> tuple[list[Action], None]:
        return [exploration.system.actions[label] for label in exploration.path(violation)], None

    for faults in range(MOST_FAULTS + 1):
        if not found.exhausted():
            found.explore_layer()
        for one in (first, second):
            one.keep(found, faults + 1, run_of)
    return [first, second]


@pytest.mark.slow
@given(timed_systems(), st.none() | conditions(), st.booleans())
@settings(max_examples=50, derandomize=True)
def test_random_systems(timed: Timed, further: z3.BoolRef | None, alike: bool) -> None:
    finds_what_there_is(timed, further, alike=alike)


@pytest.mark.slow
@given(timed_systems(), st.none() | conditions(), st.booleans())
@settings(max_examples=400, derandomize=True)
def test_many_random_systems(timed: Timed, further: z3.BoolRef | None, alike: bool) -> None:
    finds_what_there_is(timed, further, alike=alike)


def finds_what_there_is(timed: Timed, further: z3.BoolRef | None, *, alike: bool) -> None:
    """Assert that the checker finds all timed violations, also where a property reuses the exploration or lemmas of
    another."""
    also = timed.violated if further is None else z3.And(timed.violated, further)
    for in_time, violated in zip(explored(timed, also, alike=alike), (timed.violated, also), strict=True):
        assert in_time.undecided == []
        found = {Counter(dict(one.faults)).total(): len(one.actions) for one in in_time.timely}
        assert found == by_definition(timed, violated)
        for one in in_time.timely:
            assert len(one.schedule.times) <= LONGEST
