"""Waiting for an observation, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from proofka.checker.cluster.errors import NotSeen

T = TypeVar("T")

INTERVAL = 0.01
"""Seconds between two looks."""


def until(seen: Callable[[], T | None], *, what: str, seconds: float) -> T:
    """Return the first true result of ``seen``. ``what``: the awaited observation, in words.

    Raises ``NotSeen`` when a look after ``seconds`` still finds nothing.
    """
    deadline = time.monotonic() + seconds
    while not (result := seen()):
        if time.monotonic() >= deadline:
            raise NotSeen(what, seconds)
        time.sleep(INTERVAL)
    return result
