"""Accepted violations: until a day, a property is not required of a pipeline, and every report lists why."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from proofka.model.deployment.deployment import Deployment

ACCEPTED = "accepted until"
"""The text before the day in the note about an accepted property."""

_NOTE = re.compile(rf"{ACCEPTED} [0-9-]+: (?P<property>[a-z-]+), ")


@dataclass(frozen=True)
class Acceptance:
    """A property (``name``) whose violation is accepted up to and including a day; ``file`` and ``line`` say so.

    ``patterns``: the pipelines that an entry of a project file means; empty for all, or for the file with a comment.
    """

    name: str
    until: date
    reason: str
    file: str
    line: int
    patterns: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The note about the acceptance, which all reports list."""
        return f"{ACCEPTED} {self.until.isoformat()}: {self.name}, {self.reason} ({self.file}:{self.line})"


def accepting(deployment: Deployment, acceptances: Iterable[Acceptance]) -> Deployment:
    """Return the deployment with accepted properties no longer required, and with a note about each acceptance."""
    those = list(acceptances)
    names = {one.name for one in those}
    left = tuple(name for name in deployment.require if name not in names)
    notes = tuple(dict.fromkeys((*(one.note for one in those), *deployment.notes)))
    return replace(deployment, require=left, notes=notes) if those else deployment


def accepted_notes(deployment: Deployment) -> tuple[str, ...]:
    """Return the notes about what is accepted."""
    return tuple(note for note in deployment.notes if _NOTE.match(note))


def note_about(deployment: Deployment, name: str) -> str | None:
    """Return the note about the acceptance of a property; None if the property is not accepted."""
    found = ((_NOTE.match(note), note) for note in deployment.notes)
    return next((note for match, note in found if match is not None and match["property"] == name), None)
