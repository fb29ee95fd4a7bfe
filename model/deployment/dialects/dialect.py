"""A dialect: one way to write a configuration, the recognition of its files, and their reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path

from proofka.model.deployment.dialects.component import Found
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.errors import DeploymentError

Fits = Callable[[Document], bool]
"""A function that tells whether a file is of the dialect. It never raises: a file that cannot be parsed does not
fit."""

Read = Callable[[Document, Fillings], Found]
"""A function that returns the content of a file. Raises DeploymentError for a file that cannot be read as a whole."""

Beside = Callable[[Path], list[Path]]
"""A function that returns the other files that the real reader of a file reads too, in the places where it looks."""


def of_what_parses(fits: Fits) -> Fits:
    """Wrap ``fits`` so that files that cannot be parsed do not fit."""

    @wraps(fits)
    def of_any(document: Document) -> bool:
        try:
            return fits(document)
        except DeploymentError:
            return False

    return of_any


def nothing_beside(path: Path) -> list[Path]:
    """Return no files: each file is independent."""
    return []


@dataclass(frozen=True)
class Dialect:
    """One dialect. ``name``: the description of a file, for example ``Spring Boot application``."""

    name: str
    fits: Fits
    read: Read
    beside: Beside = nothing_beside
