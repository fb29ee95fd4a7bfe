"""Which line of the files a violation is shown at: that of the setting which is to blame for it.

``tables/blame.csv`` has, for properties and faults of a trace, the settings that such a violation turns on, the first
to look at first. ``safe`` is a regular expression for the values that are not to blame: who set ``acks=all`` did
nothing wrong, even where a record is lost. ``faults``: only traces with one of them (``none``: without any fault).
It is a place to show something at, and no proof: no run was repeated with another value.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from model.deployment.deployment import Deployment
from model.deployment.setting import Origin, Setting
from properties.verdict import CutSet, Verdict

NO_FAULT = "none"
"""What stands in the table for a trace without faults."""


@dataclass(frozen=True)
class Blame:
    """Where a verdict is shown: ``place`` in a file, or None where no file says anything.

    ``setting`` is the one to blame, or None where no value from a file is: then the place is where the files begin.
    ``others`` are the further settings from files that the property turns on.
    """

    place: Origin | None
    setting: Setting | None
    others: tuple[Setting, ...]


@dataclass(frozen=True)
class _Row:
    """A line of the table."""

    properties: frozenset[str]
    faults: frozenset[str]
    scope: str
    key: str
    safe: str

    def is_about(self, faults: CutSet) -> bool:
        kinds = {kind for kind, _ in faults} or {NO_FAULT}
        return not self.faults or bool(kinds & self.faults)


def blame(deployment: Deployment, verdict: Verdict) -> Blame:
    """Where to show what came out for a property."""
    rows = [row for row in _rows() if verdict.property in row.properties]
    given = _from_files(deployment)
    faults = verdict.cut_sets[0] if verdict.cut_sets else None
    guilty = next(
        (
            setting
            for row in rows
            if faults is not None and row.is_about(faults) and (setting := given.get((row.scope, row.key)))
            if not re.fullmatch(row.safe, setting.value)
        ),
        None,
    )
    about = dict.fromkeys(setting for row in rows if (setting := given.get((row.scope, row.key))))
    others = tuple(setting for setting in about if setting is not guilty)
    return Blame(guilty.origin if guilty else _beginning(deployment), guilty, others)


def _from_files(deployment: Deployment) -> dict[tuple[str, str], Setting]:
    return {(one.scope, one.key): one for one in deployment.settings if _in_file(one.origin)}


def _in_file(origin: Origin) -> bool:
    return origin.kind == "file" and bool(origin.file)


def _beginning(deployment: Deployment) -> Origin | None:
    """The first line of the first file that says anything."""
    said = [*(one.origin for one in deployment.settings), *(one.origin for one in deployment.ignored)]
    return next((Origin("file", file=one.file, line=1) for one in said if _in_file(one)), None)


@cache
def _rows() -> tuple[_Row, ...]:
    text = files(__package__).joinpath("tables/blame.csv").read_text(encoding="utf-8")
    return tuple(
        _Row(
            frozenset(row["property"].split("|")),
            frozenset(filter(None, row["faults"].split("|"))),
            row["scope"],
            row["key"],
            row["safe"],
        )
        for row in csv.DictReader(text.splitlines())
    )
