"""Outcomes of replays: the newest of a trace and release is kept, and a contradiction is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.properties.reproduced import Fact, Outcome
from proofka.properties.reproductions import contradiction, outcomes_of, with_outcomes
from tests.reports import samples

ACTIONS = {
    one.kind: [step.action for step in steps]
    for one, steps in (
        (samples.REPRODUCED, samples.KILL_TRACE.steps),
        (samples.DIVERGED, samples.MOVE_TRACE.steps),
        (samples.NOT_STEERABLE, samples.FAULTLESS.traces[0].steps),
    )
}


def test_a_newer_outcome_replaces_the_older_one_of_its_trace_and_release() -> None:
    again = replace(samples.REPRODUCED, on="2026-12-01")
    elsewhere = replace(samples.REPRODUCED, kafka="3.9.2")
    older = (samples.REPRODUCED, samples.DIVERGED)
    assert with_outcomes(older, [again]) == (samples.DIVERGED, again)
    assert with_outcomes(older, [elsewhere]) == (*older, elsewhere)
    assert with_outcomes(older, []) == older


def test_outcomes_are_found_by_steps_and_properties() -> None:
    every = samples.REPLAYED.reproductions
    steps = samples.KILL_TRACE.steps
    assert outcomes_of(steps, ["no-loss", "no-acked-loss"], every) == (samples.REPRODUCED,)
    assert outcomes_of(steps, ["no-acked-loss"], every) == (samples.REPRODUCED,)
    assert outcomes_of(steps, ["no-acked-loss", "no-skip"], every) == ()
    assert outcomes_of(steps[:-1], ["no-loss", "no-acked-loss"], every) == ()


@pytest.mark.parametrize("outcome", samples.REPLAYED.reproductions, ids=lambda one: one.kind)
def test_an_outcome_as_a_replay_gives_it_contradicts_nothing(outcome: Outcome) -> None:
    assert contradiction(outcome, ACTIONS[outcome.kind]) is None


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (replace(samples.REPRODUCED, evidence=()), "is reproduced, but has no evidence"),
        (replace(samples.REPRODUCED, step=2, action="append"), "is reproduced, but has step"),
        (replace(samples.REPRODUCED, observed="nothing"), "is reproduced, but has words of the cluster"),
        (replace(samples.REPRODUCED, on="2026-02-30"), "has the date 2026-02-30, which does not exist"),
        (replace(samples.REPRODUCED, facts=samples.REPRODUCED.facts[::-1]), "not in the order of the steps"),
        (replace(samples.REPRODUCED, facts=(Fact(5, "a", "b", 1.0),)), "has an observation at step 5, after its end"),
        (
            replace(samples.REPRODUCED, facts=(Fact(1, "a", "b", 2.0), Fact(2, "a", "b", 1.0))),
            "not in the order of their times",
        ),
        (replace(samples.DIVERGED, kind="reproduced"), "is reproduced, but has step"),
        (replace(samples.DIVERGED, evidence=("lost",)), "is diverged, but has evidence"),
        (replace(samples.DIVERGED, observed=""), "is diverged, but has no words of the cluster"),
        (replace(samples.DIVERGED, step=None, action=None), "is diverged, but has no step"),
        (replace(samples.DIVERGED, step=2), "ended at move; step 2 of the trace is append"),
        (replace(samples.DIVERGED, step=9), "ended at step 9; the trace has 3"),
        (
            replace(samples.DIVERGED, facts=(Fact(3, "a", "b", 1.0),), step=2, action="append"),
            "at step 3, after its end",
        ),
        (replace(samples.DIVERGED, kind="not reproduced"), "is not reproduced, but has step"),
        (replace(samples.NOT_STEERABLE, reason=""), "is not steerable, but has no reason"),
        (replace(samples.NOT_STEERABLE, action=None), "names a step without its action"),
    ],
)
def test_a_contradiction_is_named(outcome: Outcome, said: str) -> None:
    actions = next(actions for kind, actions in ACTIONS.items() if kind == _original(outcome))
    why = contradiction(outcome, actions)
    assert why is not None
    assert said in why


def _original(outcome: Outcome) -> str:
    """Return the kind of the sample that an outcome was made of."""
    return next(one.kind for one in samples.REPLAYED.reproductions if one.trace == outcome.trace)
