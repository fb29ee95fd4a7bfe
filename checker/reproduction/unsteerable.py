"""Actions that a replay has no means to bring about, each with its reason."""

from __future__ import annotations

import csv
from pathlib import Path

TABLE = Path(__file__).with_name("unsteerable.csv")
"""The table of actions that no plan brings about: action, reason."""


def reason_for(action: str) -> str:
    """Return why a replay cannot bring about an action."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        reasons = {row["action"]: row["reason"] for row in csv.DictReader(file)}
    return reasons.get(action, f"no plan is written for the action {action}")
