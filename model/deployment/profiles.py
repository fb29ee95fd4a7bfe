"""The required properties where the user names none: a profile, and the promises of the pipeline's own settings.

A profile is a named set of properties (``tables/properties.csv``). The default is at least once, the purpose of every
pipeline. Some settings promise more (the same table, and ``tables/intention_keys.csv``).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from functools import cache

from proofka.model.deployment.defaults import TABLES
from proofka.model.deployment.given import Given, complaint
from proofka.model.deployment.known_keys import unknown, with_choices
from proofka.model.deployment.known_properties import Asked, known_properties
from proofka.model.deployment.setting import Setting

AT_LEAST_ONCE = "at-least-once"
"""The default profile."""

ALL = "all"
"""The profile of every property that depends on no duration of a fault."""

PROFILES = (AT_LEAST_ONCE, "exactly-once", "ordered", ALL)
"""Every profile, in the order of the documents."""

NAMED = "require"
"""The profile's name where the user named the required properties one by one."""

IDEMPOTENCE, TRANSACTIONS, ONE_IN_FLIGHT = "idempotence", "transactions", "one-in-flight"
"""The promises of a producer's settings beyond at least once."""

SAID = ("file", "option")
"""The kinds of origin of settings that the user wrote for this pipeline."""


def properties_of_profile(name: Given) -> frozenset[str]:
    """Return the properties of a profile. Raises DeploymentError for an unknown profile."""
    text = name.value.strip()
    if text not in PROFILES:
        error = unknown(Given(text, "", name.origin), "unknown profile", PROFILES)
        raise complaint(name, with_choices(error.message, PROFILES))
    return in_profile(text)


def in_profile(name: str) -> frozenset[str]:
    """Return the properties of a profile that is one of :data:`PROFILES`."""
    if name == ALL:
        timeless = (Asked.ALWAYS, Asked.WITH_TRANSACTIONS)
        return frozenset(name for name, one in known_properties().items() if one.asked in timeless)
    return frozenset(one for one, row in known_properties().items() if name in row.profiles)


def promised(intentions: Iterable[str]) -> frozenset[str]:
    """Return the properties that the promises of the producer's settings require."""
    wanted = set(intentions)
    return frozenset(name for name, row in known_properties().items() if wanted & row.promised_by)


def intentions_of(
    settings: Sequence[Setting], *, idempotence: bool, max_in_flight: int, transactional: bool
) -> tuple[str, ...]:
    """Return the promises of the settings that the user wrote, as far as the settings are in force."""
    written = {one.key for one in settings if one.scope == "producer" and one.origin.kind in SAID}
    keys: dict[str, set[str]] = {}
    for row in _keys():
        keys.setdefault(row["intention"], set()).add(row["key"])
    in_force = {IDEMPOTENCE: idempotence, ONE_IN_FLIGHT: max_in_flight == 1}
    found = [name for name, holds in in_force.items() if holds and written & keys[name]]
    return (*found, *([TRANSACTIONS] if transactional else ()))


@cache
def _keys() -> tuple[dict[str, str], ...]:
    with (TABLES / "intention_keys.csv").open(encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))
