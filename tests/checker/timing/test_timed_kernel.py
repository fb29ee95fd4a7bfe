"""Slices explored with the machine code of the whole have the states that they have with their own."""

from __future__ import annotations

import pytest

from proofka.checker.budget import Budget, Meter
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Question
from proofka.checker.kernel.native import MOST_CLOCKS
from proofka.checker.questions import Group, Prepared, each_alone, prepare, with_history
from proofka.checker.solver import Replayer
from proofka.checker.timing.refinement import Timing
from proofka.checker.timing.timed_kernel import TimedKernel
from proofka.model.faults import Fault
from proofka.model.language import TransitionSystem
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from tests.checker.asking import SMALL, example
from tests.deployments import changed

AT_MOST = {Fault.KILL: 1, Fault.CONSUMER_CRASH: 1}
LAYERS = 3


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    deployment = changed(example("auto-commit-handed-off", AT_MOST), replicas=2, bounds=SMALL)
    return prepare(build(deployment))


@pytest.fixture(scope="module")
def timing(prepared: Prepared) -> Timing:
    return Timing(prepared, Replayer(prepared.model.system))


@pytest.fixture(scope="module")
def asked(prepared: Prepared) -> dict[str, Group]:
    return each_alone(prepared, properties_of(prepared.model.pipeline))


@pytest.fixture(scope="module")
def kernel(prepared: Prepared, timing: Timing, asked: dict[str, Group]) -> TimedKernel:
    whole = with_history(prepared, properties_of(prepared.model.pipeline))
    return timing.kernel(whole, [one.question for one in asked.values()])


def explored(exploration: EmbeddedExploration) -> EmbeddedExploration:
    for _ in range(LAYERS):
        exploration.explore_layer()
    return exploration


def alone(system: TransitionSystem, question: Question) -> EmbeddedExploration:
    return explored(EmbeddedExploration(system, question, AT_MOST, Meter(Budget(), timed=False), infer=False))


def test_every_slice_has_its_own_states(asked: dict[str, Group], timing: Timing, kernel: TimedKernel) -> None:
    assert kernel.fits
    sizes = set()
    for name, one in asked.items():
        own = kernel.slice_for(one.system, one.question, expected=0)
        monitors = timing.monitors(own.system, [], kernel.places)
        meter = Meter(Budget(), timed=False)
        shared = explored(
            EmbeddedExploration(own.system, one.question, AT_MOST, meter, infer=False, monitors=monitors, part=own.part)
        )
        plain = alone(one.system, one.question)
        counts = [{c: shard.count for c, shard in found.shards.items()} for found in (shared, plain)]
        assert counts[0] == counts[1], name
        assert shared.observed() == plain.observed(), name
        lengths = [{(v.combination, v.depth) for v in found.cut_sets(name)} for found in (shared, plain)]
        assert lengths[0] == lengths[1], name
        for violation in shared.cut_sets(name):
            labels = shared.path(violation)
            assert all(own.system.actions[label].updates for label in labels)
        sizes.add(shared.states)
    assert len(sizes) > 1, "all slices have as many states, so nothing is cut"


def test_a_slice_has_an_action_for_each_label(asked: dict[str, Group], kernel: TimedKernel) -> None:
    one = min(asked.values(), key=lambda one: len(one.system.actions))
    own = kernel.slice_for(one.system, one.question, expected=0)
    assert [action.key for action in own.system.actions] == [action.key for action in kernel.system.actions]
    kept = {action.key for action in one.system.actions}
    for action in own.system.actions:
        assert action.key in kept or not (action.updates or own.system.needs_of(action) or action.fault)


def test_a_kernel_that_cannot_answer_for_everything_says_so(kernel: TimedKernel, asked: dict[str, Group]) -> None:
    question = next(iter(asked.values())).question
    term = question.predicates[0]
    clocks = {("clock", (("broker", number),)): term for number in range(MOST_CLOCKS + 1)}
    assert not TimedKernel(kernel.system, [question], clocks).fits
