"""A cache that cannot be written: one line on standard error for each command."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from proofka.checker.cli.errors import complain
from proofka.checker.user_cache import VARIABLE

CACHE_LOG = "proofka.cache"
"""Name of the logger of the cache, which warns of an entry that could not be written."""


@contextmanager
def one_line_without_cache() -> Iterator[None]:
    """Print the first warning of the cache after the block: the answer is the same, but takes longer."""
    first = _First()
    log = logging.getLogger(CACHE_LOG)
    log.addHandler(first)
    try:
        yield
    finally:
        log.removeHandler(first)
        if first.said is not None:
            complain(f"no cache: {first.said} ({VARIABLE})")


class _First(logging.Handler):
    """The text of the first warning."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.said = self.said or record.getMessage()
