"""An agent's reaction to failures, and the time when it marks a record as read: ``tables/agents_answers.csv``.

The first row of an answer whose condition holds counts. A condition is a value of a setting in the agent's section, or
(``file:``) in the rest of the file; an empty condition always holds. A row without a value leaves the answer open.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from proofka.model.deployment.given import Given
from proofka.model.deployment.setting import Origin

_TABLE = Path(__file__).with_name("tables") / "agents_answers.csv"
_AROUND = "file:"


@dataclass(frozen=True)
class _Row:
    setting: str
    value: str
    answer: str
    says: str


@cache
def _rows(agent: str) -> tuple[_Row, ...]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return tuple(
            _Row(row["setting"], row["value"], row["answer"], row["is"])
            for row in csv.DictReader(table)
            if row["agent"] == agent
        )


def answers_of(agent: str, own: Mapping[str, str], around: Mapping[str, str]) -> dict[str, Given]:
    """Return the answers by names of assumptions. ``own``: the section's values. ``around``: the rest of the file, by
    names."""
    found: dict[str, str] = {}
    for row in _rows(agent):
        if row.answer not in found and _holds(row, own, around):
            found[row.answer] = row.says
    origin = Origin("rule", agent.partition("-consumer")[0])
    return {answer: Given(answer, says, origin) for answer, says in found.items() if says}


def _holds(row: _Row, own: Mapping[str, str], around: Mapping[str, str]) -> bool:
    if not row.setting:
        return True
    where = around if row.setting.startswith(_AROUND) else own
    name = row.setting.removeprefix(_AROUND).lower()
    return any(
        fnmatchcase(key.lower(), name) and fnmatchcase(value.strip().lower(), row.value) for key, value in where.items()
    )
