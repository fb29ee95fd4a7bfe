"""Every action of every example has a plan, or a row that says why no replay can bring the action about."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from proofka.checker.reproduction.run import PLANS, unsteerable
from proofka.checker.reproduction.unsteerable import TABLE
from proofka.model.deployment.yaml_reader import read_deployment
from proofka.model.pipeline import build
from tests.checker.reproduction.traces import Trace

ROOT = Path(__file__).parents[3]
EXAMPLES = (*sorted((ROOT / "examples").glob("*.yaml")), *sorted((ROOT / "examples" / "time").glob("*.yaml")))
"""The deployments to begin with."""


def without_a_plan() -> set[str]:
    """Return the actions that the table names for every mode."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["action"] for row in csv.DictReader(file) if not row["mode"]}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_action_has_a_plan_or_a_reason(example: Path) -> None:
    actions = {action.name for action in build(read_deployment(example)).system.actions}
    assert actions
    assert not sorted(actions - set(PLANS) - without_a_plan())


def test_no_action_has_both_a_plan_and_a_reason() -> None:
    assert not without_a_plan() & set(PLANS)


def rows_of_zookeeper() -> list[str]:
    """Return the actions that the table names for ZooKeeper alone."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [row["action"] for row in csv.DictReader(file) if row["mode"] == "zookeeper"]


@pytest.mark.parametrize("action", rows_of_zookeeper())
def test_an_action_that_ends_the_controller_has_an_obstacle_with_zookeeper_alone(action: str) -> None:
    trace = Trace().add("send", batch=0).add(action)
    assert unsteerable(trace.plan(kafka="3.6")) is None
    found = unsteerable(trace.plan(kafka="3.6", mode="zookeeper"))
    assert found is not None and (found.step.action, "controller" in found.reason) == (action, True)


def test_transactions_of_releases_whose_coordinator_tells_no_state_have_an_obstacle() -> None:
    trace = Trace().add("send", batch=0)
    assert unsteerable(trace.plan(kafka="3.0", transactional=True)) is None
    found = unsteerable(trace.plan(kafka="2.8", transactional=True))
    assert found is not None and "2.8 does not tell the state of a transaction" in found.reason
