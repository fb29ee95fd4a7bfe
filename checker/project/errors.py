"""Errors about a project file, and about what is accepted: a place, a sentence with the remedy, and a code."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from proofka.model.input.input_error import InputError
from proofka.model.input.one_line import one_line

TABLES = Path(__file__).parent / "tables"


class ProjectError(InputError):
    """An error in a project file; ``str()`` is one line: ``file:line: key: message (W02)``."""

    def __init__(
        self, code: str, message: str, *, file: str | None = None, line: int | None = None, key: str | None = None
    ) -> None:
        if code not in codes():
            raise ValueError(f"tables/codes.csv has no code {code}")
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.file = file
        self.line = line
        self.key = key

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return one_line(": ".join(part for part in (place, self.key, f"{self.message} ({self.code})") if part))


@cache
def codes() -> Mapping[str, Mapping[str, str]]:
    """Return each code with its row: ``what`` is wrong, and what to do ``instead``."""
    text = (TABLES / "codes.csv").read_text(encoding="utf-8")
    return {row["code"]: row for row in csv.DictReader(text.splitlines())}
