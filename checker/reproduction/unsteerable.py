"""Steps that a replay has no means to bring about, each with its reason."""

from __future__ import annotations

import csv
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.cluster.jars import Release
from proofka.checker.reproduction.plan import Plan, PlannedStep

TABLE = Path(__file__).with_name("unsteerable.csv")
"""The table of actions that no plan brings about: action, mode of the cluster (empty: every mode), reason."""
TELLS_TRANSACTIONS = (3, 0)
"""The first release whose coordinator tells the state of a transaction (KIP-664)."""


@dataclass(frozen=True)
class Obstacle:
    """A step that a replay cannot bring about."""

    step: PlannedStep
    reason: str


def obstacle(plan: Plan, planned: Container[str]) -> Obstacle | None:
    """Return the first step that no replay can bring about, or None. ``planned``: the actions that have a plan."""
    if plan.transactional and Release(plan.kafka).numbers[:2] < TELLS_TRANSACTIONS:
        return Obstacle(
            plan.steps[0], f"the coordinator of Kafka {plan.kafka} does not tell the state of a transaction"
        )
    reasons = _reasons(plan.mode)
    for step in plan.steps:
        if step.action in reasons or step.action not in planned:
            return Obstacle(step, reasons.get(step.action, f"no plan is written for the action {step.action}"))
    return None


def _reasons(mode: str) -> dict[str, str]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["action"]: row["reason"] for row in csv.DictReader(file) if row["mode"] in ("", mode)}
