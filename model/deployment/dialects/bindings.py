"""The settings that bindings of librdkafka (for Python, Go, .NET, JavaScript) use themselves and do not pass on."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("tables") / "librdkafka_bindings.csv"


@cache
def _patterns() -> Sequence[tuple[str, str]]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return [(row["key"], row["reason"]) for row in csv.DictReader(table)]


def of_binding(key: str) -> str:
    """Return the reason for which librdkafka does not get the setting; empty if it does."""
    return next((reason for pattern, reason in _patterns() if fnmatchcase(key, pattern)), "")
