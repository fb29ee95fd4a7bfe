"""A result that contradicts the model, and the message for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class TamperedDocument(Exception):
    """A result contradicts the model. The message names the verdict, and the step or the member."""


def compare(facts: Mapping[str, tuple[Any, Any]], what: str, gives: str) -> None:
    """Raise TamperedDocument for the first fact ``(said, found)`` whose parts differ; ``gives`` names the source of
    ``found``.
    """
    for name, (said, found) in facts.items():
        if said != found:
            raise TamperedDocument(f"{what}: {name}: the result says {_short(said)}, but {gives} gives {_short(found)}")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
