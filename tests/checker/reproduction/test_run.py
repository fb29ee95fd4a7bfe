"""Outcomes: reproduced, diverged, not reproduced, not steerable."""

from __future__ import annotations

import pytest

from proofka.checker.reproduction.errors import NotSteerableError
from proofka.checker.reproduction.run import PLANS, reproduce
from proofka.properties.reproduced import DIVERGED, NOT_FAILED, NOT_STEERABLE, REPRODUCED
from tests.checker.reproduction.scene import Scene
from tests.checker.reproduction.traces import Trace

STORED = {1: ("record 1 @1",)}
MOVED = {"leader": "broker 2", "leader epoch": "2"}


def acknowledged() -> Trace:
    """Return the trace in which broker 1 alone has record 1, which is acknowledged."""
    trace = Trace().add("send", batch=0).add("transmit", batch=0, leader=1).add("append", batch=0, logs=STORED)
    return trace.add("acknowledge", batch=0)


def test_a_trace_whose_failure_is_observed_is_reproduced(scene: Scene) -> None:
    outcome = scene.outcome(acknowledged().add("move_leader", broker=2, state=MOVED))
    assert outcome.kind == REPRODUCED
    assert outcome.step is None
    assert outcome.evidence == ("record 1 was reported as stored, and is not in the log of broker 2, which leads",)
    assert [fact.step for fact in outcome.facts if fact.source == "delivery report"] == [4]


def test_a_trace_after_which_nothing_failed_is_not_reproduced(scene: Scene) -> None:
    outcome = scene.outcome(acknowledged())
    assert outcome.kind == NOT_FAILED
    assert outcome.model == "fails: no-acked-loss (record 1 is lost)"
    assert "nothing failed" in outcome.observed


def test_each_property_of_the_trace_has_to_fail(scene: Scene) -> None:
    failures = (("no-acked-loss", "record 1 is lost"), ("no-log-duplicate", "record 1 is twice there"))
    outcome = scene.outcome(acknowledged().add("move_leader", broker=2, state=MOVED), failures=failures)
    assert outcome.kind == NOT_FAILED
    assert outcome.model == "fails: no-log-duplicate (record 1 is twice there)"


@pytest.mark.usefixtures("impatient")
def test_a_trace_diverges_at_the_step_after_which_a_log_differs(scene: Scene) -> None:
    trace = Trace().add("send", batch=0).add("transmit", batch=0, leader=1)
    outcome = scene.outcome(trace.add("append", batch=0, logs={1: ("record 2 @1",)}).add("acknowledge", batch=0))
    assert (outcome.kind, outcome.step, outcome.action) == (DIVERGED, 3, "append")
    assert outcome.model == "broker 1's log is [record 2 @1]"
    assert outcome.observed == "broker 1's disk has [record 1 @1]"


@pytest.mark.usefixtures("impatient")
def test_an_observation_that_does_not_come_diverges(scene: Scene) -> None:
    outcome = scene.outcome(Trace().add("decide", broker=2).add("fence", broker=2, state=MOVED, text="2 is fenced"))
    assert outcome.kind == NOT_STEERABLE, "no plan is written for the first action"
    outcome = scene.outcome(Trace().add("fence", broker=2, state=MOVED, text="broker 1 is fenced"))
    assert (outcome.kind, outcome.step, outcome.model) == (DIVERGED, 1, "broker 1 is fenced")
    assert outcome.observed == ("the controller's decision on leader 2 and ISR {1, 2, 3} did not happen within 0.3 s")


def test_an_action_that_nothing_can_bring_about_is_told_before_a_cluster_runs() -> None:
    plan = acknowledged().add("restart_before_fenced", broker=1).plan()
    outcome = reproduce(plan, None, print)
    assert (outcome.kind, outcome.step, outcome.action) == (NOT_STEERABLE, 5, "restart_before_fenced")
    assert "debugger" in outcome.reason


def test_an_action_of_which_nothing_is_known_is_not_steerable() -> None:
    outcome = reproduce(Trace().add("fly").plan(), None, print)
    assert outcome.reason == "no plan is written for the action fly"


def test_a_step_that_turns_out_not_to_be_steerable_ends_the_replay(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(replay: object, step: object) -> None:
        raise NotSteerableError("the consumer tells no offset")

    monkeypatch.setitem(PLANS, "acknowledge", refuse)  # type: ignore[arg-type]
    outcome = scene.outcome(acknowledged())
    assert (outcome.kind, outcome.step, outcome.reason) == (NOT_STEERABLE, 4, "the consumer tells no offset")


def test_a_property_that_one_run_cannot_show_is_not_steerable(scene: Scene) -> None:
    outcome = scene.outcome(acknowledged(), failures=(("recoverability", "broker 1 is lost"),))
    assert outcome.kind == NOT_STEERABLE
    assert "recoverability" in outcome.reason


def test_the_outcome_names_its_trace_by_all_its_steps(scene: Scene) -> None:
    assert scene.outcome(acknowledged()).trace != reproduce(Trace().add("fly").plan(), None, print).trace
