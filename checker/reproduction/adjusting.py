"""Settings that a replay changes: the trace's order needs another value, or a shorter wait gives the same trace."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from checker.reproduction.expected import previous
from checker.reproduction.plan import Plan, PlannedClient
from properties.reproduced import ChangedSetting

TABLE = Path(__file__).with_name("adjusted.csv")
"""The table of changed settings: scope, library (empty: none), key, value, when, reason.

``when``: nothing (always), names of actions or situations of which the trace has one, or ``no:`` and a name that the
trace does not have.
"""

AUTO_COMMITS = "auto-commits"
"""The situation that a consumer commits by itself between two steps of the trace."""


def adjusted(
    plan: Plan, scope: str, library: str, given: Mapping[str, str]
) -> tuple[dict[str, str], tuple[ChangedSetting, ...]]:
    """Return the settings that the replay uses for a scope, and those that it changes."""
    used: dict[str, str] = dict(given)
    changed: list[ChangedSetting] = []
    situations = situations_of(plan)
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["scope"] != scope or row["library"] not in ("", library) or not _applies(row["when"], situations):
                continue
            if used.get(row["key"]) != row["value"]:
                before = given.get(row["key"], plan.effective.get(f"{scope}.{row['key']}"))
                changed.append(ChangedSetting(scope, row["key"], before, row["value"], row["reason"]))
            used[row["key"]] = row["value"]
    return used, tuple(changed)


def adjusted_client(plan: Plan, role: str, client: PlannedClient) -> tuple[dict[str, str], tuple[ChangedSetting, ...]]:
    """Return the settings that the replay uses for a client, and those that it changes."""
    return adjusted(plan, role, client.library, client.settings)


def _applies(when: str, situations: frozenset[str]) -> bool:
    if when.startswith("no:"):
        return when[3:] not in situations
    return not when or bool(situations.intersection(when.split()))


def situations_of(plan: Plan) -> frozenset[str]:
    """Return the names of the trace's actions, and the situations that no single action shows."""
    situations = {step.action for step in plan.steps}
    if any(committed_by(plan, step.number) is not None for step in plan.steps):
        situations.add(AUTO_COMMITS)
    return frozenset(situations)


def committed_by(plan: Plan, number: int) -> int | None:
    """Return the offset in the modelled log that the group has committed when its consumer starts at this step.

    None if the step starts no consumer, or if the offset is the one of the start before.
    """
    step = plan.steps[number - 1]
    key = "committed offset at the last start"
    before, after = previous(plan, step).get(key), step.state.get(key)
    return None if after is None or before == after else int(after)
