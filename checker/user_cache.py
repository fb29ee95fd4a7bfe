"""Where what can be made again is kept from one run to the next."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """This program's folder in the user's cache; it may not be there yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "proofka"
