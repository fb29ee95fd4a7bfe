"""The notes of a deployment under headings: rejected values, misspelt names, assumptions, and silent changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofka.model.deployment.known_keys import GOES_ON, MEANT
from proofka.model.deployment.leaving_out import AS_READ, PASSED_OVER

_HEADINGS = (
    ("rejected, and left out", (PASSED_OVER,)),
    ("probably misspelt, so without effect", (MEANT, GOES_ON)),
    ("assumed by Proofka, because no file states it", ("assumed", f", {AS_READ}: ")),
)
"""Headings with the words by which a note belongs below: the first that fits counts."""

_SILENT = "changed silently by clients or brokers"
"""The heading of every other note."""


def noted(notes: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each heading that has notes, with its notes."""
    found: dict[str, list[str]] = {heading: [] for heading in (_SILENT, *(heading for heading, _ in _HEADINGS))}
    for note in notes:
        found[_heading(note)].append(note)
    yield from ((heading, tuple(those)) for heading, those in found.items() if those)


def _heading(note: str) -> str:
    return next((heading for heading, words in _HEADINGS if any(one in note for one in words)), _SILENT)
