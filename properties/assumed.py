"""Order of the modelling assumptions in notes: first those near this deployment's values, then general ones."""

from __future__ import annotations

IN_GENERAL = "assumes in general that "
"""Beginning of the notes on assumptions that do not depend on the values of a deployment, only on what it uses."""


def is_general(note: str) -> bool:
    """Tell whether a note is a modelling assumption that does not depend on the values of the deployment."""
    return note.startswith(IN_GENERAL)
