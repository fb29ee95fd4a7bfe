"""Every action of every example has a plan, or a row that says why no replay can bring the action about."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from checker.reproduction.run import PLANS
from checker.reproduction.unsteerable import TABLE
from model.deployment.yaml_reader import read_deployment
from model.pipeline import build

ROOT = Path(__file__).parents[3]
EXAMPLES = (*sorted((ROOT / "examples").glob("*.yaml")), *sorted((ROOT / "examples" / "time").glob("*.yaml")))
"""The deployments to begin with."""


def unsteerable() -> set[str]:
    """Return the actions that the table names."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["action"] for row in csv.DictReader(file)}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_action_has_a_plan_or_a_reason(example: Path) -> None:
    actions = {action.name for action in build(read_deployment(example)).system.actions}
    assert actions
    assert not sorted(actions - set(PLANS) - unsteerable())


def test_no_action_has_both_a_plan_and_a_reason() -> None:
    assert not unsteerable() & set(PLANS)
