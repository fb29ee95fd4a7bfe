"""A cache that cannot be written: one line on standard error for each command."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from proofka.checker.cli.errors import complain
from proofka.checker.user_cache import LOG, VARIABLE


@contextmanager
def one_line_without_cache() -> Iterator[None]:
    """Print the first warning of the cache after the block: the answer is the same, but takes longer."""
    first = _First()
    LOG.addHandler(first)
    try:
        yield
    finally:
        LOG.removeHandler(first)
        if first.said is not None:
            complain(f"no cache: {first.said}")


class _First(logging.Handler):
    """The text of the first warning, with the variable that moves the folder."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.said = self.said or f"{record.getMessage()} ({getattr(record, 'variable', VARIABLE)})"
