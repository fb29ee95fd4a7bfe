"""Which assumptions matter: what another value of something that no file told would change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from checker.budget import Budget, Meter
from model.deployment import ASSUMPTIONS, with_assumption
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError
from properties.verdict import CutSet, Sensitivity, Status, Verdict

FAULTS = 1
"""Variants are compared with the deployment up to so many faults."""


def sensitivities(deployment: Deployment, verdicts: Sequence[Verdict], meter: Meter) -> tuple[Sensitivity, ...]:
    """Check each other value of each assumption with up to one fault, and report where a verdict differs."""
    from checker.check import explore

    found = []
    for key, value, variant in variants(deployment):
        if meter.interrupted:
            break
        narrowed = replace(variant, faults=replace(variant.faults, total=FAULTS))
        now = {verdict.property: verdict for verdict in explore(narrowed, Budget()).verdicts()}
        for before in verdicts:
            after = now[before.property]
            smallest = _within(after.cut_sets)
            if bool(_within(before.cut_sets)) != bool(smallest):
                status = Status.VIOLATED if smallest else Status.HOLDS
                found.append(Sensitivity(key, value, before.property, status, smallest))
    return tuple(found)


def variants(deployment: Deployment) -> Iterator[tuple[str, str, Deployment]]:
    """Each assumption that no file told, with each of its other values."""
    for setting in deployment.assumptions:
        if setting.key not in ASSUMPTIONS:
            continue
        for value in ASSUMPTIONS[setting.key].values:
            if value != setting.value:
                try:
                    yield setting.key, value, with_assumption(deployment, setting.key, value)
                except DeploymentError:
                    continue


def _within(cut_sets: Sequence[CutSet]) -> tuple[CutSet, ...]:
    return tuple(cut_set for cut_set in cut_sets if sum(count for _, count in cut_set) <= FAULTS)
