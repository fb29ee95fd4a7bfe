"""Sensitivity of verdicts to assumptions: the effect of another value of something that no file tells."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from proofka.checker.budget import Budget
from proofka.checker.check import Run, prepare_groups
from proofka.checker.processes import as_completed
from proofka.checker.questions import fingerprints
from proofka.model.deployment import ASSUMPTIONS, with_assumption
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.properties.verdict import CutSet, Sensitivity, Status, Verdict

FAULTS = 1
"""Largest number of faults within which variants are compared with the deployment."""

SECONDS_EACH = 20.0
"""Seconds for each variant, in a command that a user waits for."""

Outcome = Mapping[str, tuple[CutSet, ...] | None]
"""The smallest fault sets of each property; None if undecided."""


@dataclass(frozen=True)
class Variant:
    """The deployment with one assumption changed."""

    key: str
    value: str
    deployment: Deployment


def sensitivities(
    deployment: Deployment,
    verdicts: Sequence[Verdict],
    stop: threading.Event | None = None,
    seconds: float | None = None,
) -> tuple[Sensitivity, ...]:
    """Check each other value of each assumption with up to one fault, and return the differing verdicts.

    Variants are independent, so each is checked in a process of its own, as many at a time as there are cores. Once
    ``stop`` is set, undecided variants are left out. ``seconds``: limit for each variant; a variant that reaches the
    limit is reported as unknown. Undecided properties of the deployment are not compared.
    """
    changed = list(variants(deployment))
    if not changed:
        return ()
    decided = [one for one in verdicts if one.cut_sets or one.status is not Status.UNKNOWN]
    every = fingerprints(*prepare_groups(_narrowed(deployment)))
    known = {one.property: every[one.property] for one in decided if one.property in every}
    ask = partial(smallest_cut_sets, known=known, seconds=seconds)
    outcomes = {(one.key, one.value): outcome for one, outcome in as_completed(ask, changed, stop)}
    return tuple(
        difference
        for one in changed
        if (one.key, one.value) in outcomes
        for difference in _differences(one, outcomes[one.key, one.value], decided)
    )


def variants(deployment: Deployment) -> Iterator[Variant]:
    """Yield each assumption that no file tells, with each of its other values."""
    for setting in deployment.assumptions:
        if setting.key not in ASSUMPTIONS:
            continue
        assumption = ASSUMPTIONS[setting.key]
        for value in assumption.values if assumption.tried is None else assumption.tried:
            if value != setting.value:
                try:
                    yield Variant(setting.key, value, with_assumption(deployment, setting.key, value))
                except DeploymentError:
                    continue


def smallest_cut_sets(variant: Variant, known: Mapping[str, bytes], seconds: float | None = None) -> Outcome:
    """Return the smallest fault sets of up to one fault, for each property whose system differs from the ``known`` one.

    Properties without a known system are left out.
    """
    deployment = _narrowed(variant.deployment)
    prepared, groups = prepare_groups(deployment)
    now = fingerprints(prepared, groups)
    different = [one for one in groups if any(p.name in known and known[p.name] != now[p.name] for p in one.properties)]
    if not different:
        return {}
    run = Run(deployment, prepared, different, Budget(threads=1, seconds=seconds))
    run.explore(None)
    return run.cut_sets()


def _narrowed(deployment: Deployment) -> Deployment:
    return replace(deployment, faults=deployment.faults.up_to(FAULTS))


def _differences(variant: Variant, outcome: Outcome, verdicts: Sequence[Verdict]) -> Iterator[Sensitivity]:
    for before in verdicts:
        if before.property not in outcome:
            continue
        was = [one for one in before.cut_sets if sum(count for _, count in one) <= FAULTS]
        now = outcome[before.property]
        if now is None:
            yield Sensitivity(variant.key, variant.value, before.property, Status.UNKNOWN, ())
        elif bool(was) != bool(now):
            status = Status.VIOLATED if now else Status.HOLDS
            yield Sensitivity(variant.key, variant.value, before.property, status, now)
