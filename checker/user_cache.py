"""Folders for data that is kept between runs and can be computed again."""

from __future__ import annotations

import logging
import os
from pathlib import Path

VARIABLE = "PROOFKA_CACHE"
"""Environment variable that names another folder for machine code and proofs of systems."""
OFF = "off"
"""Value of the variable that disables the cache of systems."""
HOME = "XDG_CACHE_HOME"
"""Environment variable that names another folder for all data of this user that can be computed again."""
LOG = logging.getLogger("proofka.cache")
"""The log that warns of data that cannot be kept. The attribute ``variable`` of a record names the environment variable
that moves the folder, unless :data:`VARIABLE` does."""
LOG.addHandler(logging.NullHandler())


def user_cache() -> Path:
    """Return Proofka's folder in the user's cache; the folder does not always exist."""
    return Path(os.environ.get(HOME) or Path.home() / ".cache").absolute() / "proofka"


def default_systems_folder() -> Path:
    """Return Proofka's own folder for machine code and proofs of systems."""
    return user_cache() / "systems"


def systems_folder() -> Path | None:
    """Return the folder for machine code and proofs of systems, which does not exist at first; None if the cache is
    off.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen == OFF:
        return None
    return Path(chosen) if chosen else default_systems_folder()
