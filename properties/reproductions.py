"""The outcomes of replays in a result: of which trace each outcome is, and whether the outcome agrees with itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from proofka.properties.reproduced import DIVERGED, NOT_FAILED, NOT_STEERABLE, REPRODUCED, Outcome, digest
from proofka.properties.verdict import Step

FIRST_REPLAY = "2026-11-01"
"""The month in which Proofka's first replay ran, as a date: no outcome is older."""

ROUNDED = 0.1
"""Largest difference in seconds between an outcome's duration and its last observation that rounding explains."""

_HAS = {
    REPRODUCED: {"evidence"},
    DIVERGED: {"step", "action", "model", "observed"},
    NOT_FAILED: {"model", "observed"},
    NOT_STEERABLE: {"reason"},
}
"""The members that are not empty, by the kind of the outcome."""

_MAY_HAVE = {NOT_STEERABLE: {"step", "action"}}
"""Members that can be empty or not, by the kind of the outcome. All other members of :data:`_DEPENDING` are empty."""

_DEPENDING = ("step", "action", "model", "observed", "reason", "evidence")
"""The members that depend on the kind of the outcome."""


def with_outcomes(older: Sequence[Outcome], newer: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Return the older outcomes with newer ones. A newer outcome replaces the older one of its trace and release."""
    kept = {(one.trace, frozenset(one.properties), one.kafka): one for one in older}
    for one in newer:
        kept.pop((one.trace, frozenset(one.properties), one.kafka), None)
        kept[one.trace, frozenset(one.properties), one.kafka] = one
    return tuple(kept.values())


def outcomes_of(
    steps: Sequence[Step], properties: Iterable[str], reproductions: Sequence[Outcome]
) -> tuple[Outcome, ...]:
    """Return the outcomes of the trace with these steps, for ``properties`` that the trace violates."""
    if not reproductions:
        return ()
    trace, names = digest((step.action, step.arguments) for step in steps), set(properties)
    return tuple(one for one in reproductions if one.trace == trace and names <= set(one.properties))


def contradiction(outcome: Outcome, actions: Sequence[str]) -> str | None:
    """Return why an outcome of a trace with these actions contradicts itself or the trace, or None if it does not."""
    for name in _DEPENDING:
        has = bool(getattr(outcome, name))
        if has and name not in _HAS[outcome.kind] | _MAY_HAVE.get(outcome.kind, set()):
            return f"is {outcome.kind}, but has {_called(name)}"
        if not has and name in _HAS[outcome.kind]:
            return f"is {outcome.kind}, but has no {_called(name)}"
    return _wrong_step(outcome, actions) or _wrong_run(outcome) or _blank(outcome)


def _called(name: str) -> str:
    """Return a member in words."""
    words = {"step": "step", "action": "action", "model": "words of the model", "observed": "words of the cluster"}
    return words.get(name, name)


def _wrong_step(outcome: Outcome, actions: Sequence[str]) -> str | None:
    """Return what is wrong with the step at which a replay ended, or with the steps of its facts."""
    last = len(actions)
    if (outcome.step is None) != (outcome.action is None):
        return "names a step without its action, or an action without its step"
    if outcome.step is not None:
        if not 1 <= outcome.step <= len(actions):
            return f"ended at step {outcome.step}; the trace has {len(actions)}"
        if outcome.action != actions[outcome.step - 1]:
            return f"ended at {outcome.action}; step {outcome.step} of the trace is {actions[outcome.step - 1]}"
        last = outcome.step
    steps = [fact.step for fact in outcome.facts]
    if steps != sorted(steps):
        return "has observations that are not in the order of the steps"
    if steps and steps[-1] > last:
        return f"has an observation at step {steps[-1]}, after its end"
    return None


def _wrong_run(outcome: Outcome) -> str | None:
    """Return what is wrong with the date of a run, or with its observations."""
    try:
        date.fromisoformat(outcome.on)
    except ValueError:
        return f"has the date {outcome.on}, which does not exist"
    if not outcome.clients and outcome.kind != NOT_STEERABLE:
        return f"is {outcome.kind}, but names no client"
    if outcome.on < FIRST_REPLAY:
        return f"has the date {outcome.on}, and no trace was replayed before {FIRST_REPLAY}"
    times = [fact.after for fact in outcome.facts]
    if times != sorted(times):
        return "has observations that are not in the order of their times"
    if times and (times[0] < 0 or times[-1] > outcome.seconds + ROUNDED):
        return f"has an observation outside its {outcome.seconds:g} s"
    return None


def _blank(outcome: Outcome) -> str | None:
    """Return which text of an outcome is blank, or None if each says something."""
    texts = {
        "line of evidence": outcome.evidence,
        "client": outcome.clients,
        "observation": [text for fact in outcome.facts for text in (fact.source, fact.text)],
        "changed setting": [text for one in outcome.changed for text in (one.scope, one.key, one.reason)],
        "reason or words": [text for text in (outcome.model, outcome.observed, outcome.reason) if text],
    }
    return next((f"has a blank {what}" for what, those in texts.items() if any(not one.strip() for one in those)), None)
