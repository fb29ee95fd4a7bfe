"""The outcome of a trace's replay on a real cluster, and the evidence that it rests on, as plain values.

This file needs the standard library alone, because a script that replays a trace without Proofka has a copy of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

REPRODUCED = "reproduced"
DIVERGED = "diverged"
NOT_STEERABLE = "not steerable"
NOT_FAILED = "not reproduced"

EXIT_STATUS = {REPRODUCED: 0, DIVERGED: 3, NOT_FAILED: 3, NOT_STEERABLE: 4}
"""Exit status of ``proofka reproduce`` by outcome."""


def digest(steps: Iterable[tuple[str, Mapping[str, int]]]) -> str:
    """Return the digest of a trace: 16 hexadecimal digits of SHA-256 over the action and the arguments of each step."""
    text = json.dumps([[action, sorted(arguments.items())] for action, arguments in steps])
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


@dataclass(frozen=True)
class Fact:
    """One observation. ``step``: number of the step that led to the observation; 0 before the first.

    ``source``: where the observation comes from ("log of broker 2", "delivery report", "metadata of broker 100").
    ``after``: seconds since the replay began.
    """

    step: int
    source: str
    text: str
    after: float


@dataclass(frozen=True)
class ChangedSetting:
    """A setting that the replay uses with another value than the deployment; ``given`` None: the default."""

    scope: str
    key: str
    given: str | None
    used: str
    reason: str


@dataclass(frozen=True)
class Outcome:
    """How a replay ended.

    ``trace``: the digest of the trace (:func:`digest`). ``properties``: the properties that the trace violates.
    ``step``, ``action``: number and action of the step at which the replay ended early, or None. ``model`` and
    ``observed``: both sides of a divergence in words. ``reason``: why a step cannot be steered. ``evidence``: the
    observations that show the failure. ``kafka``: the release that ran. ``clients``: the libraries that ran, with their
    releases. ``on``: the date of the run (UTC, YYYY-MM-DD). ``seconds``: its duration.
    """

    kind: str
    trace: str
    properties: tuple[str, ...]
    kafka: str
    clients: tuple[str, ...]
    on: str
    seconds: float
    step: int | None = None
    action: str | None = None
    model: str = ""
    observed: str = ""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    changed: tuple[ChangedSetting, ...] = ()

    @property
    def exit_status(self) -> int:
        """The exit status of the command that ends with this outcome."""
        return EXIT_STATUS[self.kind]

    @property
    def headline(self) -> str:
        """The outcome in one line."""
        where = f" at step {self.step}" if self.step is not None else ""
        what = f": {self.action}" if self.kind == NOT_STEERABLE and self.action else ""
        return f"{self.kind}{where}{what}"


def to_document(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as a document for JSON."""
    return asdict(outcome)


def from_document(document: dict[str, Any]) -> Outcome:
    """Return the outcome of a document."""
    parts = dict(document)
    parts["facts"] = tuple(Fact(**one) for one in parts["facts"])
    parts["changed"] = tuple(ChangedSetting(**one) for one in parts["changed"])
    for key in ("properties", "clients", "evidence"):
        parts[key] = tuple(parts[key])
    return Outcome(**parts)
