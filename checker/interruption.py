"""Ctrl-C as a request to stop, not an exception in the middle of whatever runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def held_back() -> Iterator[None]:
    """Within the block an interrupt waits for its end, so that what several threads do together is not torn apart."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    previous = signal.signal(signal.SIGINT, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if waiting:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def interrupts(stop: threading.Event) -> Iterator[None]:
    """Within the block an interrupt sets ``stop``; a second one ends the process as usual.

    An exception could surface anywhere, also where the solver's bindings drop it.
    """

    def request(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, previous)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, request)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
