"""Ctrl-C as a request to stop, instead of an exception at an arbitrary place."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Handler = Callable[[int, FrameType | None], object] | int | None


@contextmanager
def handling(handler: Handler, number: signal.Signals = signal.SIGINT) -> Iterator[None]:
    """Send interrupts to ``handler`` within the block, and to the previous handler afterwards.

    Only the main thread of a process receives interrupts; in other threads nothing changes.
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
    """Delay an interrupt to the end of the block, so that the common work of several threads is not torn apart."""
    waiting: list[int] = []
    try:
        with handling(lambda number, _: waiting.append(number)):
            yield
    finally:
        if waiting:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def never_interrupted() -> Iterator[None]:
    """Start processes, within the block, that never receive an interrupt, not even while they begin.

    Ctrl-C reaches every process of a terminal, but only the first process must react.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupts(stop: threading.Event, acknowledge: Callable[[], None] | None = None) -> Iterator[None]:
    """Let an interrupt, or a request to end, set ``stop`` within the block; a second one ends the program as usual.

    An exception could surface anywhere, also in the solver's bindings, which drop exceptions. ``acknowledge`` is called
    at once.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def request(number: int, frame: FrameType | None) -> None:
        stop.set()
        if acknowledge is not None:
            acknowledge()
        signal.signal(number, before[signal.Signals(number)])

    with handling(request), handling(request, signal.SIGTERM):
        yield
