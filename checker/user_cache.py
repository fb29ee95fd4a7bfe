"""Where what can be made again is kept from one run to the next."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "PROOFKA_CACHE"
"""The environment variable that moves the machine code of systems to another folder."""
OFF = "off"
"""The value with which no machine code of systems is kept."""


def user_cache() -> Path:
    """This program's folder in the user's cache; it may not be there yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "proofka"


def code_folder() -> Path | None:
    """The folder for the machine code of systems, which may not be there yet; None where none is to be kept."""
    chosen = os.environ.get(VARIABLE)
    if chosen == OFF:
        return None
    return Path(chosen) if chosen else user_cache() / "systems"
