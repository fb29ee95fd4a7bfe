"""A result that does not say what the model says, and how that is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class TamperedDocument(Exception):
    """A result does not say what the model says; the message names the verdict, and the step or the member."""


def compare(facts: Mapping[str, tuple[Any, Any]], what: str, gives: str) -> None:
    """Raise TamperedDocument for the first fact that is ``(said, found)`` and differs; ``gives`` says what found it."""
    for name, (said, found) in facts.items():
        if said != found:
            raise TamperedDocument(f"{what}: {name}: said is {_short(said)}, and {gives} gives {_short(found)}")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
