"""Paths in the form that Spark expects."""

from __future__ import annotations

import re
from pathlib import Path


def literal(path: Path | str) -> str:
    """Return a path in which Spark reads no character as a pattern."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", str(path))
