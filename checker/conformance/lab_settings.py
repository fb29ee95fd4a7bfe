"""The settings of brokers, topics and clients of the lab: those of the deployment, and those that runs change."""

from __future__ import annotations

import csv
from pathlib import Path

from proofka.checker.real_settings import given_settings
from proofka.model.deployment.deployment import Deployment

_TABLE = Path(__file__).parent / "tables" / "lab_settings.csv"
_ROWS = tuple(csv.DictReader(_TABLE.read_text(encoding="utf-8").splitlines()))

LAG = "replica.lag.time.max.ms"
"""The setting of brokers after which a leader drops a silent follower; a run has a shorter one."""


def milliseconds_of(setting: str) -> int:
    """Return the value of a setting that runs change."""
    return int(next(row["value"] for row in _ROWS if row["setting"] == setting))


def changed_settings(role: str, library: str) -> dict[str, str]:
    """Return the settings that runs change. ``role``: as in the table; ``library``: "" for brokers and topics."""
    return {row["setting"]: row["value"] for row in _ROWS if (row["role"], row["library"]) == (role, library)}


def lab_settings(deployment: Deployment, role: str, library: str = "") -> dict[str, str]:
    """Return the settings of a role ("broker", "topic", "producer" or "consumer") without names and addresses."""
    own = given_settings(deployment, role)
    for key in ("client.id", "bootstrap.servers"):
        own.pop(key, None)
    return own | changed_settings(role, library)
