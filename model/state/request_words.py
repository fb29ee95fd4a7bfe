"""Words of a trace for the place of a produce request, which displays write and drawings of messages read again."""

from __future__ import annotations

import re

ON_ITS_WAY = "on its way to"
"""The words before the broker that a request in flight was sent to and that has not read it yet."""

ABANDONED = "an abandoned request is at"
"""The words before the broker that can still execute a request which its client gave up on."""

_TO, _AT = (re.compile(rf"\b{words} (broker \d+)") for words in (ON_ITS_WAY, ABANDONED))


def goes_to(words: str) -> str | None:
    """Return the broker that a record's request is on its way to, from the words of a trace for that record."""
    return _broker(_TO, words)


def abandoned_at(words: str) -> str | None:
    """Return the broker where an abandoned request of a record still is, from the words of a trace for that record."""
    return _broker(_AT, words)


def _broker(pattern: re.Pattern[str], words: str) -> str | None:
    found = pattern.search(words)
    return found[1] if found else None
