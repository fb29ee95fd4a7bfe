"""Ctrl-C as a request to stop, not an exception in the middle of whatever runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Handler = Callable[[int, FrameType | None], object] | int | None


@contextmanager
def handling(handler: Handler, number: signal.Signals = signal.SIGINT) -> Iterator[None]:
    """Within the block interrupts go to ``handler``, whatever is put in its place meanwhile; afterwards to whom before.

    Only the main thread of a process hears of interrupts; in others nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, previous)


@contextmanager
def held_back() -> Iterator[None]:
    """Within the block an interrupt waits for its end, so that what several threads do together is not torn apart."""
    waiting: list[int] = []
    try:
        with handling(lambda number, _: waiting.append(number)):
            yield
    finally:
        if waiting:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def never_interrupted() -> Iterator[None]:
    """Processes that are started within the block never see an interrupt, not even while they begin.

    Ctrl-C reaches every process of a terminal; only the first one decides what to do about it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupts(stop: threading.Event, acknowledge: Callable[[], None] | None = None) -> Iterator[None]:
    """Within the block an interrupt sets ``stop``, and so does the request to end; a second one ends it as usual.

    An exception could surface anywhere, also where the solver's bindings drop it. ``acknowledge`` is called at once.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def request(number: int, frame: FrameType | None) -> None:
        stop.set()
        if acknowledge is not None:
            acknowledge()
        signal.signal(number, before[signal.Signals(number)])

    with handling(request), handling(request, signal.SIGTERM):
        yield
