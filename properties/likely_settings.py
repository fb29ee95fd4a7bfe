"""The settings that a violation of a property may depend on, the likeliest first, from a table.

``tables/likely_settings.csv`` has a row for each setting. ``property``: the names of the properties. ``faults``: only
violations with one of these kinds of fault, or of a group of :data:`model.faults.GROUPS` (``none``: without any fault;
empty: with any faults). ``safe``: a regular expression for the values on which such a violation cannot depend:
``acks=all`` is not the cause of a lost record. The table is knowledge about Kafka, not the outcome of a check, so
reports say "may" about its rows.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from proofka.model.faults import GROUPS
from proofka.properties.verdict import CutSet

NO_FAULT = "none"
"""The word in the column ``faults`` for a trace without faults."""


@dataclass(frozen=True)
class LikelySetting:
    """A row of the table: a setting by scope and key, and the violations that possibly depend on the setting."""

    properties: frozenset[str]
    faults: frozenset[str]
    scope: str
    key: str
    safe: str

    @property
    def name(self) -> str:
        """The setting with its scope, as in effective settings: ``application.commit``."""
        return f"{self.scope}.{self.key}"

    def is_about(self, faults: CutSet) -> bool:
        """Tell whether violations with this fault set possibly depend on the setting."""
        kinds = {kind for kind, _ in faults} or {NO_FAULT}
        return not self.faults or bool(kinds & self.faults)

    def is_safe(self, value: str) -> bool:
        """Tell whether the setting is harmless with this value."""
        return re.fullmatch(self.safe, value) is not None


def _kinds(words: str) -> Iterator[str]:
    """Yield the kinds of fault that words stand for: kinds and groups."""
    for word in filter(None, words.split("|")):
        yield from (kind.value for kind in GROUPS[word]) if word in GROUPS else (word,)


@cache
def likely_settings() -> tuple[LikelySetting, ...]:
    """Read the table."""
    text = files(__package__).joinpath("tables/likely_settings.csv").read_text(encoding="utf-8")
    return tuple(
        LikelySetting(
            frozenset(row["property"].split("|")),
            frozenset(_kinds(row["faults"])),
            row["scope"],
            row["key"],
            row["safe"],
        )
        for row in csv.DictReader(text.splitlines())
    )


def likely_for(property_name: str, faults: CutSet) -> tuple[LikelySetting, ...]:
    """List the settings that violations of a property with a fault set may depend on, the likeliest first."""
    return tuple(row for row in likely_settings() if property_name in row.properties and row.is_about(faults))
