"""The seal of a result document: a checksum over the rest of the document, which reveals an edited file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

SEAL = "checksum"
"""The key of the seal in the document."""


def seal(document: Mapping[str, Any]) -> str:
    """Return the checksum of a document without its seal; the order of keys does not matter."""
    content = {key: value for key, value in document.items() if key != SEAL}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
