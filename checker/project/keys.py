"""The keys of the project file: the table from which the reader, the JSON Schema and the page of docs are made."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from proofka.checker.project.errors import TABLES
from proofka.checker.project.rate_values import OF_CAUSES, OF_FAULTS, OPTIONAL
from proofka.model.deployment.assumptions import ASSUMPTIONS
from proofka.model.deployment.bounds import RANGES_WITH_TRANSACTIONS
from proofka.model.deployment.budget import FAULT_KEYS
from proofka.model.deployment.durations import ENVIRONMENT
from proofka.model.deployment.options import OPTION_KEYS
from proofka.model.deployment.profiles import PROFILES
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.model.faults import Fault


class Kind(StrEnum):
    """The form of a value."""

    TEXT = "text"
    PATTERN = "pattern"
    PATTERNS = "patterns"
    CHOICE = "choice"
    CHOICES = "choices"
    BUDGET = "budget"
    DATE = "date"
    VALUES = "values"
    """Keys with single values: assumptions, or faults with numbers."""
    SECTIONS = "sections"
    """A list of sections; a single text in the list stands for a section with its first key alone."""
    NAMED = "named"
    """Names, each with a value of the next row. The user chooses the names, unless the row has choices."""
    SECTION = "section"
    """A section with keys of its own."""


@dataclass(frozen=True)
class Key:
    """A key with the form of its value. ``path``: the key with the sections around it, as in ``accepted.until``."""

    path: str
    kind: Kind
    needed: bool
    choices: str
    what: str

    @property
    def name(self) -> str:
        """The key without the sections around it."""
        return self.path.rpartition(".")[2]


@cache
def keys() -> tuple[Key, ...]:
    """Return all keys, in the order of the table."""
    text = (TABLES / "keys.csv").read_text(encoding="utf-8")
    return tuple(
        Key(row["key"], Kind(row["kind"]), row["needed"] == "yes", row["choices"], row["what"])
        for row in csv.DictReader(text.splitlines())
    )


def keys_of(section: str) -> Mapping[str, Key]:
    """Return the keys directly in a section, by name; those of the file itself for an empty text."""
    return {key.name: key for key in keys() if key.path.rpartition(".")[0] == section}


def choices_of(key: Key) -> Mapping[str, tuple[str, ...]]:
    """Return the names from which the user chooses; of keys with values, each with its values if these are known."""
    match key.choices:
        case "profiles":
            return dict.fromkeys(PROFILES, ())
        case "properties":
            return dict.fromkeys(KNOWN_PROPERTIES, ())
        case "faults":
            return dict.fromkeys(FAULT_KEYS, ())
        case "kinds":
            return dict.fromkeys((kind.value for kind in Fault), ())
        case "rate":
            return OF_FAULTS
        case "cause":
            return OF_CAUSES
        case "assumptions":
            names = [name for name in OPTION_KEYS if name.partition(".")[0] != "faults"]
            return {name: _values_of(name) for name in names}
        case _:
            return {}


def needed_of(key: Key) -> tuple[str, ...]:
    """Return the keys that a mapping of values must have."""
    match key.choices:
        case "faults":
            return ("total",)
        case "rate" | "cause":
            return tuple(name for name in choices_of(key) if name not in OPTIONAL)
        case _:
            return ()


def meaning_of(name: str) -> str:
    """Return a sentence about an assumption, for editors; empty for others."""
    if name in ASSUMPTIONS:
        return ASSUMPTIONS[name].sentence
    return ENVIRONMENT[name].sentence if name in ENVIRONMENT else ""


def _values_of(name: str) -> tuple[str, ...]:
    bound = name.removeprefix("bounds.")
    if name.startswith("bounds."):
        return tuple(map(str, RANGES_WITH_TRANSACTIONS[bound]))
    return ASSUMPTIONS[name].values if name in ASSUMPTIONS else ()
