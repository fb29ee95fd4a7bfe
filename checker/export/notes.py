"""Texts about a system: the meaning of its variables, and comments in lines."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from proofka.model.language import TransitionSystem


def displayed_in(system: TransitionSystem) -> Mapping[str, str]:
    """Return, for each variable that belongs to one thing only, this thing in a reader's words."""
    found: dict[str, list[str]] = {}
    for display in system.displays:
        for variable in display.variables:
            found.setdefault(variable.name, []).append(display.what)
    return {name: whats[0] for name, whats in found.items() if len(whats) == 1}


def filled(text: str, width: int = 110) -> list[str]:
    """Return the text in lines of at most ``width`` characters."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
