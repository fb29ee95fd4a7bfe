"""Verdicts of random deployments do not depend on reductions, threads or the other properties."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.model.deployment import Deployment
from proofka.properties.verdict import Status
from tests.fuzz.verdicts import Answer, compared, deployment, differences
from tests.reports import samples

QUICK = range(1)
SLOW = range(100, 140)


def read(seeds: range, folder: Path) -> dict[int, Deployment]:
    """Return the deployments of these seeds that are not rejected."""
    found = {seed: deployment(seed, folder) for seed in seeds}
    return {seed: one for seed, one in found.items() if one is not None}


def disagreements(seeds: range, folder: Path) -> dict[int, list[str]]:
    asked = read(seeds, folder)
    assert len(asked) > len(seeds) / 4, "too few random deployments are accepted"
    found = {seed: differences(one, random.Random(seed)) for seed, one in asked.items()}
    return {seed: lines for seed, lines in found.items() if lines}


def test_few_random_deployments(tmp_path: Path) -> None:
    assert disagreements(QUICK, tmp_path) == {}


@pytest.mark.slow
def test_random_deployments(tmp_path: Path) -> None:
    assert disagreements(SLOW, tmp_path) == {}


def test_different_answers_are_noticed() -> None:
    one = samples.RESULT.verdicts[0]
    one = replace(one, coverage=replace(one.coverage, stopped=None))
    assert one.status is Status.VIOLATED
    assert list(compared([one], [replace(one, cut_sets=())], "none"))
    assert not list(compared([one], [one], "none"))


def test_stopped_explorations_have_no_answer() -> None:
    (one, *_) = samples.RESULT.verdicts
    assert Answer.of(replace(one, coverage=replace(one.coverage, stopped="states"))) is None
    assert Answer.of(replace(one, status=Status.UNKNOWN)) is None
