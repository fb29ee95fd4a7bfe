"""The codes of refusals: what the model lacks, and what the user can do instead.

A message "not modelled yet" ends with the code of its reason, as in ``(N12)``; ``proofka help N12`` explains the code.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from proofka.model.deployment.defaults import TABLES


@dataclass(frozen=True)
class Code:
    """One reason for a refusal.

    ``code``: ``N12``. ``of``: the client, broker, topic, application or fault. ``what``: the refused configuration.
    ``why``: the mechanism that the model lacks. ``instead``: the changes that the user can make.
    """

    code: str
    of: str
    what: str
    why: str
    instead: str


@cache
def codes() -> Mapping[str, Code]:
    """Return every reason for a refusal, by code."""
    text = (TABLES / "refusals.csv").read_text(encoding="utf-8")
    return {row["code"]: Code(**row) for row in csv.DictReader(text.splitlines())}
