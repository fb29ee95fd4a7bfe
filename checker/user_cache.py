"""Where what can be made again is kept from one run to the next."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "PROOFKA_CACHE"
"""The environment variable that moves what is kept of systems to another folder."""
OFF = "off"
"""The value with which nothing is kept of systems."""


def user_cache() -> Path:
    """This program's folder in the user's cache; it may not be there yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "proofka"


def default_systems_folder() -> Path:
    """This program's own folder for machine code and proofs of systems."""
    return user_cache() / "systems"


def systems_folder() -> Path | None:
    """The folder for machine code and proofs of systems, not there at first; None where nothing is to be kept."""
    chosen = os.environ.get(VARIABLE)
    if chosen == OFF:
        return None
    return Path(chosen) if chosen else default_systems_folder()
