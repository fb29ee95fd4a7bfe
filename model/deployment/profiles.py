"""What is required of a pipeline where nobody names properties: a profile, and what its own settings promise.

A profile is a set of properties with a name (``tables/profiles.csv``). Nobody has to choose one: at least once is
what every pipeline is for, and some settings are set by nobody who does not want more (``tables/intentions.csv``).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from functools import cache

from model.deployment.defaults import TABLES
from model.deployment.given import Given, complaint
from model.deployment.known_keys import unknown
from model.deployment.setting import Setting

AT_LEAST_ONCE = "at-least-once"
"""The profile of a pipeline that says nothing more."""

PROFILES = (AT_LEAST_ONCE, "exactly-once", "ordered", "all")
"""Every profile, in the order in which documents list them."""

NAMED = "require"
"""What stands in the place of a profile where the required properties were named, one by one."""

IDEMPOTENCE, TRANSACTIONS, ONE_IN_FLIGHT = "idempotence", "transactions", "one-in-flight"
"""What the settings of a producer can promise beyond at least once."""

SAID = ("file", "option")
"""Kinds of origin of a setting that somebody wrote down for this pipeline."""


def properties_of_profile(name: Given) -> frozenset[str]:
    """Name the properties of a profile. Raises DeploymentError where there is no such profile."""
    text = name.value.strip()
    if text not in PROFILES:
        error = unknown(Given(text, "", name.origin), "unknown profile", PROFILES)
        raise complaint(name, f"{error.message} (choices: {', '.join(PROFILES)})")
    return in_profile(text)


def in_profile(name: str) -> frozenset[str]:
    """Name the properties of a profile that is one of :data:`PROFILES`."""
    return frozenset(row["property"] for row in _rows("profiles") if row["profile"] == name)


def promised(intentions: Iterable[str]) -> frozenset[str]:
    """Name the properties that are required because the producer's settings promise them."""
    wanted = set(intentions)
    return frozenset(row["property"] for row in _rows("intentions") if row["intention"] in wanted)


def intentions_of(
    settings: Sequence[Setting], *, idempotence: bool, max_in_flight: int, transactional: bool
) -> tuple[str, ...]:
    """Name what the settings that somebody wrote down promise, where that is in force and no default."""
    written = {one.key for one in settings if one.scope == "producer" and one.origin.kind in SAID}
    keys: dict[str, set[str]] = {}
    for row in _rows("intention_keys"):
        keys.setdefault(row["intention"], set()).add(row["key"])
    in_force = {IDEMPOTENCE: idempotence, ONE_IN_FLIGHT: max_in_flight == 1}
    found = [name for name, holds in in_force.items() if holds and written & keys[name]]
    return (*found, *([TRANSACTIONS] if transactional else ()))


@cache
def _rows(table: str) -> tuple[dict[str, str], ...]:
    with (TABLES / f"{table}.csv").open(encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))
