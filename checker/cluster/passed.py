"""The record of a proxy: every frame with its fate, in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.waiting import until

PASSED = "passed"
"""Fate of a frame that no gate held."""
HELD = "held"
"""Fate of a frame that a gate holds; a later entry says the end of the frame."""
RELEASED = "released"
"""Fate of a frame that was held and then forwarded."""
DROPPED = "dropped"
"""Fate of a frame that was never forwarded, because a connection ended."""
DETACHED = "detached"
"""Fate of a held request whose client's connection was closed; a later entry says the end of the request."""


@dataclass(frozen=True)
class Passed:
    """An entry of the record: ``at`` in seconds since the epoch, and the position ``index`` in the record."""

    at: float
    frame: Frame
    fate: str
    index: int


class Record:
    """Every frame with its fate, in order of the decisions. A held frame has several entries."""

    def __init__(self, check: Callable[[], None]) -> None:
        self._entries: list[Passed] = []
        self._check = check

    @property
    def entries(self) -> Sequence[Passed]:
        """The entries so far. The sequence grows, and must not be changed."""
        return self._entries

    def add(self, frame: Frame, fate: str) -> None:
        """Append an entry; only the thread of the proxy calls this."""
        self._entries.append(Passed(at=time.time(), frame=frame, fate=fate, index=len(self._entries)))

    def wait(self, matching: Callable[[Passed], bool], *, after: int, what: str, seconds: float) -> Passed:
        """Return the first entry with an index above ``after`` that matches. Raises NotSeen."""
        looked_at = after + 1

        def first() -> Passed | None:
            nonlocal looked_at
            self._check()
            for position in range(looked_at, len(self._entries)):
                looked_at = position + 1
                if matching(self._entries[position]):
                    return self._entries[position]
            return None

        found = until(first, what=what, seconds=seconds)
        assert found is not None
        return found
