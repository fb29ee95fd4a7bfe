"""A verdict rests on the lemmas that it lists, and on no other duration."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from proofka.checker.check import check
from proofka.checker.timing.contradictions import in_parts
from proofka.model.deployment import read_deployment
from proofka.model.deployment.deployment import Deployment
from proofka.model.durations import Duration, Quantity, in_units
from proofka.properties.verdict import Status, TimingLemma, Verdict

EXAMPLES = Path(__file__).parents[3] / "examples" / "time"

AGES = 10**12
"""Longer than anything here lasts, in ms."""

KEEPS = {"retention.ms", "offsets.retention.minutes"}
"""Settings for deletions that the model lacks where no component can be away for so long."""

IN_TIME = [
    ("quick-workers", "no-skip"),
    ("lagging-follower-kept", "no-acked-loss"),
    ("delivery-timeout", "no-dropped-record"),
    ("long-retention", "no-loss"),
]


def of(deployment: Deployment, name: str) -> Verdict:
    return next(verdict for verdict in check(deployment).verdicts if verdict.property == name)


def named_in(lemmas: tuple[TimingLemma, ...], deployment: Deployment) -> set[str]:
    words = re.findall(r"([a-z][a-z._]*) [\d,]+", " ".join(lemma.inequality for lemma in lemmas))
    return all_names(deployment).intersection(words)


def with_durations(deployment: Deployment, names: set[str], least: int, most: int | None) -> Deployment:
    durations = deployment.durations
    changed = {
        field.name: Quantity(value.name, least, most)
        for field in fields(durations)
        if (value := getattr(durations, field.name)).name in names
    }
    return replace(deployment, durations=replace(durations, **changed))


def forgetting(deployment: Deployment, names: set[str]) -> Deployment:
    """Return the deployment where the durations of these names can be any."""
    return with_durations(deployment, names, 0, AGES)


def all_names(deployment: Deployment) -> set[str]:
    return {getattr(deployment.durations, field.name).name for field in fields(deployment.durations)}


@pytest.mark.slow
@pytest.mark.parametrize(("example", "name"), IN_TIME)
def test_verdict_does_not_depend_on_durations_that_its_lemmas_do_not_name(example: str, name: str) -> None:
    deployment = read_deployment(EXAMPLES / f"{example}.yaml")
    verdict = of(deployment, name)
    named = named_in(verdict.lemmas, deployment)
    assert verdict.status is Status.HOLDS
    assert named
    assert named < all_names(deployment)
    others = all_names(deployment) - named
    asked = forgetting(with_durations(deployment, others & KEEPS, AGES, None), others - KEEPS)
    assert of(asked, name).status is Status.HOLDS


@pytest.mark.slow
@pytest.mark.parametrize(("example", "name"), IN_TIME)
def test_without_the_durations_of_its_tightest_lemma_it_does_not_hold(example: str, name: str) -> None:
    deployment = read_deployment(EXAMPLES / f"{example}.yaml")
    named = named_in(of(deployment, name).lemmas[:1], deployment)
    assert of(forgetting(deployment, named), name).status is Status.VIOLATED


def test_largest_part_of_a_duration_comes_first() -> None:
    network, session = Quantity("network", 0, 100), Quantity("session", 9_000, 9_000)
    duration = Duration.of(network, 3) + Duration.of(session)
    assert in_parts(duration, shortest=False) == "session 9,000 + 3 x network 100"
    assert in_parts(Duration.of(session) - Duration.of(network), shortest=True) == "session 9,000 - network 100"


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1 s"),
        (27_885, "27.885 s"),
        (60_000, "1 min"),
        (173_822_100, "2 d 17 min 2.1 s"),
        (3_600_040, "1 h 0.04 s"),
    ],
)
def test_times_are_exact_in_larger_units(milliseconds: int, text: str) -> None:
    assert in_units(milliseconds) == text
