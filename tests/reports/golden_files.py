"""Golden files: reports as a person has reviewed them."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def matches(name: str, text: str) -> None:
    """Compare a text with a golden file; ``PROOFKA_GOLDEN=write`` writes the file instead."""
    path = GOLDEN / name
    if os.environ.get("PROOFKA_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
