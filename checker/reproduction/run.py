"""One replay from its plan to its outcome."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime, timezone

from proofka.checker.cluster.errors import NotSeen
from proofka.checker.reproduction.comparing import compare, compare_coordinator
from proofka.checker.reproduction.errors import DivergedError, NotSteerableError, UnknownOutcome
from proofka.checker.reproduction.judgement import judge
from proofka.checker.reproduction.observing import observe, remember_readings
from proofka.checker.reproduction.plan import Plan, PlannedStep
from proofka.checker.reproduction.replay import Replay, Steer
from proofka.checker.reproduction.running import RunningCluster, Told
from proofka.checker.reproduction.steps import (
    adding,
    brokers,
    consuming,
    coordinating,
    ending,
    initialising,
    late_ends,
    membership,
    producing,
    recovering,
    retention,
)
from proofka.checker.reproduction.unsteerable import Obstacle, obstacle
from proofka.properties.reproduced import DIVERGED, NOT_FAILED, NOT_STEERABLE, REPRODUCED, Outcome, digest

PLANS: Mapping[str, Steer] = {
    **producing.PLANS,
    **recovering.PLANS,
    **brokers.PLANS,
    **consuming.PLANS,
    **membership.PLANS,
    **retention.PLANS,
    **adding.PLANS,
    **ending.PLANS,
    **initialising.PLANS,
    **late_ends.PLANS,
    **coordinating.PLANS,
}
"""The plan of each action that a replay can bring about, by the action's name."""


def reproduce(plan: Plan, running: RunningCluster | None, tell: Told) -> Outcome:
    """Replay a trace on a cluster that runs, and return the outcome. ``tell`` is given a line for each step.

    ``running`` is None if no cluster was started, because a step of the trace cannot be brought about.
    """
    began = time.monotonic()
    early = unsteerable(plan)
    if early is not None or running is None:
        step, reason = (early.step, early.reason) if early is not None else (None, "no cluster runs")
        return _outcome(plan, running, began, kind=NOT_STEERABLE, step=step, reason=reason)
    replay = running.prepare(plan, tell)
    for step in plan.steps:
        replay.step = step.number
        tell(f"{step.number:3}/{len(plan.steps)} {step.text}")
        try:
            PLANS[step.action](replay, step)
            compare(replay, step)
            compare_coordinator(replay, step)
            if any(name == "read-stability" for name, _ in plan.failures):
                remember_readings(replay)
        except NotSteerableError as error:
            return _outcome(plan, running, began, kind=NOT_STEERABLE, step=step, reason=str(error), replay=replay)
        except DivergedError as error:
            return _outcome(
                plan,
                running,
                began,
                kind=DIVERGED,
                step=step,
                model=error.model,
                observed=error.observed,
                replay=replay,
            )
        except NotSeen as error:
            observed = f"{error.what} did not happen within {error.waited:g} s"
            return _outcome(
                plan, running, began, kind=DIVERGED, step=step, model=step.text, observed=observed, replay=replay
            )
    return _judged(plan, running, began, replay)


def unsteerable(plan: Plan) -> Obstacle | None:
    """Return the first step that no replay can bring about, with the reason, or None."""
    return obstacle(plan, PLANS)


def _judged(plan: Plan, running: RunningCluster, began: float, replay: Replay) -> Outcome:
    """Judge each property that the trace violates, from what was observed."""
    observed = observe(replay)
    evidence: list[str] = []
    missing: list[str] = []
    for name, failure in plan.failures:
        try:
            found = judge(name, observed)
        except UnknownOutcome as error:
            return _outcome(plan, running, began, kind=NOT_STEERABLE, reason=str(error), replay=replay)
        evidence += [sentence for sentence in found if sentence not in evidence]
        if not found:
            missing.append(f"{name} ({failure})")
    if missing:
        return _outcome(
            plan,
            running,
            began,
            kind=NOT_FAILED,
            model=f"fails: {'; '.join(missing)}",
            observed=f"nothing failed: {observed}",
            replay=replay,
        )
    return _outcome(plan, running, began, kind=REPRODUCED, evidence=tuple(evidence), replay=replay)


def _outcome(
    plan: Plan,
    running: RunningCluster | None,
    began: float,
    *,
    kind: str,
    step: PlannedStep | None = None,
    model: str = "",
    observed: str = "",
    reason: str = "",
    evidence: tuple[str, ...] = (),
    replay: Replay | None = None,
) -> Outcome:
    return Outcome(
        kind=kind,
        trace=digest((one.action, one.arguments) for one in plan.steps),
        properties=tuple(name for name, _ in plan.failures),
        kafka=running.release if running else plan.kafka,
        clients=running.clients() if running else (),
        on=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        seconds=round(time.monotonic() - began, 1),
        step=step.number if step else None,
        action=step.action if step else None,
        model=model,
        observed=observed,
        reason=reason,
        evidence=evidence,
        facts=tuple(replay.facts) if replay else (),
        changed=running.changed if running else (),
    )
