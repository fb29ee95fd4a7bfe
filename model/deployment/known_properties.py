"""The properties that a deployment can require, and what each of them means for users: a table.

``tables/properties.csv`` has a row for each property, in the order of reports. A profile or a promise of settings names
its properties there, and so does a subject of several properties (``concerns``), by which modelling assumptions are
chosen. ``required_because`` and ``severe_because`` are reasons for readers of the table.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from proofka.model.deployment.defaults import TABLES


class Asked(StrEnum):
    """The deployments for which a property is checked. No profile has a property that is checked by name."""

    ALWAYS = "always"
    IF_REQUIRED = "if-required"
    WITHOUT_TRANSACTIONS = "if-required-without-transactions"
    WITH_TRANSACTIONS = "if-required-with-transactions"
    BY_NAME_WITH_TRANSACTIONS = "if-named-with-transactions"


@dataclass(frozen=True)
class KnownProperty:
    """A row of the table.

    ``defects_of``: the properties whose known defects can violate this property as well.
    ``profiles`` and ``promised_by``: the profiles and the promises of settings that require the property. ``severity``:
    1 to 9, the worst. ``consequence``: a violation in words. ``says_also``: the properties whose violation follows.
    """

    asked: Asked
    profiles: frozenset[str]
    promised_by: frozenset[str]
    concerns: frozenset[str]
    defects_of: frozenset[str]
    severity: int
    consequence: str
    says_also: frozenset[str]


@cache
def known_properties() -> Mapping[str, KnownProperty]:
    """Return every property by name, in the order of reports. Raises ValueError for an unknown word of ``asked``."""
    text = (TABLES / "properties.csv").read_text(encoding="utf-8")
    return {row["property"]: _property(row) for row in csv.DictReader(text.splitlines())}


def properties_about(subject: str) -> frozenset[str]:
    """Return the properties that concern a subject. Raises ValueError if no property does."""
    found = frozenset(name for name, one in known_properties().items() if subject in one.concerns)
    if not found:
        raise ValueError(f"tables/properties.csv: no property concerns {subject}")
    return found


def _property(row: Mapping[str, str]) -> KnownProperty:
    return KnownProperty(
        asked=Asked(row["asked"]),
        profiles=frozenset(row["profiles"].split()),
        promised_by=frozenset(row["promised_by"].split()),
        concerns=frozenset(row["concerns"].split()),
        defects_of=frozenset(row["defects_of"].split()),
        severity=int(row["severity"]),
        consequence=row["consequence"],
        says_also=frozenset(row["says_also"].split()),
    )
