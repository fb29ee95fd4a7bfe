"""Paths as Spark takes them."""

from __future__ import annotations

import re
from pathlib import Path


def literal(path: Path | str) -> str:
    """A path in which Spark reads no character as a pattern."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", str(path))
