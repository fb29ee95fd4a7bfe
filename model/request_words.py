"""How a trace says where a produce request is: displays write it, and whoever draws messages reads it again."""

from __future__ import annotations

import re

ON_ITS_WAY = "on its way to"
"""Before the name of the broker that a request in flight was sent to, which has not read it yet."""

ABANDONED = "an abandoned request is at"
"""Before the name of the broker that may still execute a request on which its client has given up."""

_TO, _AT = (re.compile(rf"\b{words} (broker \d+)") for words in (ON_ITS_WAY, ABANDONED))


def goes_to(words: str) -> str | None:
    """The broker that the request of a record is on its way to, from what a trace says of that record."""
    return _broker(_TO, words)


def abandoned_at(words: str) -> str | None:
    """The broker at which an abandoned request of a record still is, from what a trace says of that record."""
    return _broker(_AT, words)


def _broker(pattern: re.Pattern[str], words: str) -> str | None:
    found = pattern.search(words)
    return found[1] if found else None
