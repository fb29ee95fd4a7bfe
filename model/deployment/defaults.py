"""Defaults, types and valid values of every setting, by release: tables shipped with the package.

``tables/defaults.csv`` and the tables of client libraries in ``tables/clients`` have a row for each interval of
releases in which a default holds: from ``since`` on and before ``until``. ``valid`` is a range (``>=1``, ``0..1``), a
choice (``a|b``, with ``nocase:`` or ``list:`` in front), ``nonempty``, ``reset`` (``auto.offset.reset``) or empty.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proofka.model.deployment.release import NEWEST, Release

TABLES = Path(__file__).with_name("tables")

Span = tuple[str, str | None, str | None]
"""The first release, the first release after the span (None: up to the newest), and the value in the span."""

IN_WORDS = {"reset": "latest|earliest|none|by_duration:DURATION"}
"""The values of a setting for which the table has a word."""

CREATION_ARGUMENTS = {
    # Arguments of a topic's creation, not settings of a release: no table of defaults has them.
    "replication.factor": (">=-1", "short"),
    "partitions": (">=-1", "int"),
}


@dataclass(frozen=True)
class Definition:
    """The definition of a setting in one release: default, type, valid values."""

    default: str | None
    type: str
    valid: str


@dataclass(frozen=True)
class _Row:
    since: tuple[int, ...]
    until: tuple[int, ...] | None
    definition: Definition


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def _text(default: str) -> str | None:
    if default in ("null", "<required>"):
        return None
    return "" if default == '""' else default


@cache
def _rows() -> dict[tuple[str, str], list[_Row]]:
    rows: dict[tuple[str, str], list[_Row]] = {}
    for path in (TABLES / "defaults.csv", *sorted((TABLES / "clients").glob("*.csv"))):
        with path.open(encoding="utf-8", newline="") as table:
            for row in csv.DictReader(table):
                definition = Definition(_text(row["default"]), row["type"], row["valid"])
                until = _numbers(row["until"]) if row["until"] else None
                rows.setdefault((row["scope"], row["key"]), []).append(_Row(_numbers(row["since"]), until, definition))
    for key, (valid, kind) in CREATION_ARGUMENTS.items():
        rows[("topic", key)] = [_Row((0, 10), None, Definition(None, kind, valid))]
    return rows


def find_definition(scope: str, key: str, release: Release) -> Definition | None:
    """Return the definition of a setting in a release, or None if the release has no such setting."""
    for row in _rows().get((scope, key), ()):
        if row.since <= release.full and (row.until is None or release.full < row.until):
            return row.definition
    return None


def definitions_of(scope: str, key: str) -> list[Definition]:
    """Return the definitions of a setting in all releases; empty if no release has the setting."""
    return [row.definition for row in _rows().get((scope, key), ())]


def names_in(definition: Definition) -> tuple[str, ...]:
    """Return the names among the valid values of a setting; empty where it takes numbers or any text."""
    if definition.type in ("boolean", "flag"):
        return "true", "false"
    choices = IN_WORDS.get(definition.valid, definition.valid).rpartition("case:")[2].removeprefix("list:")
    return tuple(name for name in choices.split("|") if name[:1].isalpha())


def find_default(scope: str, key: str, release: Release) -> str:
    """Return the default of a setting that has one in every modelled release. Raises KeyError if it has none."""
    definition = find_definition(scope, key, release)
    if definition is None or definition.default is None:
        raise KeyError(f"{scope} setting {key} has no default in Kafka {release}")
    return definition.default


def history_of(scope: str, key: str) -> list[Span]:
    """Return a known setting's defaults, by span of releases; None where it has no default."""
    return _spans(scope, key, lambda definition: definition.default)


def choices_of(scope: str, key: str) -> list[Span]:
    """Return the valid values of a known setting in words, by span of releases."""
    return _spans(scope, key, lambda definition: IN_WORDS.get(definition.valid, definition.valid).replace("|", ", "))


def existence_of(scope: str, key: str) -> list[Span]:
    """Return the spans of releases that have a setting."""
    return _spans(scope, key, lambda definition: None)


def _spans(scope: str, key: str, said: Callable[[Definition], str | None]) -> list[Span]:
    found: list[Span] = []
    for row in sorted(_rows()[(scope, key)], key=lambda row: row.since):
        until = None if row.until is None else ".".join(map(str, row.until))
        value = said(row.definition)
        if found and found[-1][2] == value:
            found[-1] = (found[-1][0], until, value)
        else:
            found.append((".".join(map(str, row.since)), until, value))
    return found


def is_known(scope: str, key: str) -> bool:
    """Tell whether any release defines the setting."""
    return (scope, key) in _rows()


def known_keys(scope: str) -> list[str]:
    """Return every setting of a scope that any release defines, sorted."""
    return sorted(key for row_scope, key in _rows() if row_scope == scope)


def defined_when(scope: str, key: str) -> str:
    """Return the releases that define a known setting, in words: ``before 4.0``, ``from 4.1`` or ``from 3.7 and before
    4.0``."""
    rows = _rows()[(scope, key)]
    since, until = min(row.since for row in rows), max((row.until or (99,)) for row in rows)
    first = f"from {'.'.join(map(str, since))}" if since > (0, 10, 0) else ""
    last = "" if until == (99,) else f"before {'.'.join(map(str, until))}"
    return " and ".join(part for part in (first, last) if part) or f"up to {NEWEST[0]}.{NEWEST[1]}"
