"""A dialect: one way to write down a configuration, how to know a file of it, and how to read one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path

from model.deployment.dialects.component import Found
from model.deployment.dialects.document import Document
from model.deployment.dialects.placeholders import Fillings
from model.deployment.errors import DeploymentError

Fits = Callable[[Document], bool]
"""Whether a file is of the dialect. Never raises: what cannot be parsed does not fit."""

Read = Callable[[Document, Fillings], Found]
"""What a file of it says. Raises DeploymentError for a file that cannot be read as a whole."""

Beside = Callable[[Path], list[Path]]
"""The other files that what reads a file of it reads as well, and that lie where it looks for them."""


def of_what_parses(fits: Fits) -> Fits:
    """The same for files that can be parsed as what they look like; others do not fit."""

    @wraps(fits)
    def of_any(document: Document) -> bool:
        try:
            return fits(document)
        except DeploymentError:
            return False

    return of_any


def nothing_beside(path: Path) -> list[Path]:
    """Each file is by itself."""
    return []


@dataclass(frozen=True)
class Dialect:
    """``name`` is what a reader is told that a file was taken for: ``Spring Boot application``."""

    name: str
    fits: Fits
    read: Read
    beside: Beside = nothing_beside
