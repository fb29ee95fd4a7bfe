"""The seal of a result document: a checksum over everything else in it, so that an edited file is noticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

SEAL = "checksum"
"""The member of the document that holds the seal."""


def seal(document: Mapping[str, Any]) -> str:
    """The checksum of a document without its own seal, whatever the order of its members."""
    content = {key: value for key, value in document.items() if key != SEAL}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
