"""The settings of a node: those of the deployment as given, and those that a cluster on one machine needs instead."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from proofka.checker.cluster.plan import KRAFT, ZOOKEEPER

TABLE = Path(__file__).parent / "harness_settings.csv"
"""The table of the settings that a cluster on one machine needs, with their reasons."""
TABLES = {mode: Path(__file__).parent / f"{mode}_settings.csv" for mode in (KRAFT, ZOOKEEPER)}
"""The tables of the further settings that a cluster of each mode needs."""


@dataclass(frozen=True)
class Changed:
    """A setting of the deployment that a node has not as given. ``used`` is None where the node does not have it."""

    setting: str
    given: str
    used: str | None
    reason: str


@dataclass(frozen=True)
class _Row:
    pattern: str
    value: str
    reason: str


def node_properties(
    given: Mapping[str, str], facts: Mapping[str, str], *, mode: str, is_broker: bool
) -> tuple[dict[str, str], tuple[Changed, ...]]:
    """Return the settings of a node, and each setting of the deployment that the node has not as given.

    ``facts``: values for the names in braces in the tables, such as {node}.
    """
    used = dict(given)
    changed = []
    for row in _rows(mode, is_broker=is_broker):
        value = row.value.format(**facts) or None
        for setting in sorted(name for name in given if fnmatchcase(name, row.pattern)):
            used.pop(setting, None)
            if given[setting].strip() != value:
                changed.append(Changed(setting, given[setting], value, row.reason))
        if value is not None:
            used[row.pattern] = value
    return used, tuple(changed)


def _rows(mode: str, *, is_broker: bool) -> Iterator[_Row]:
    for table in (TABLES[mode], TABLE):
        with table.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if is_broker or row["role"] == "all":
                    yield _Row(row["setting"], row["value"], row["reason"])


def properties_text(settings: Mapping[str, str]) -> str:
    """Return the settings as the text of a Java properties file."""
    return "".join(f"{_escaped(name)}={_escaped(value)}\n" for name, value in settings.items())


def _escaped(text: str) -> str:
    return "".join(_character(character) for character in text)


def _character(character: str) -> str:
    if character in "\\ =:#!":
        return "\\" + character
    number = ord(character)
    if 0x20 < number < 0x7F:
        return character
    return "".join(f"\\u{part:04x}" for part in _utf16(character))


def _utf16(character: str) -> Iterator[int]:
    data = character.encode("utf-16-be")
    return (int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
