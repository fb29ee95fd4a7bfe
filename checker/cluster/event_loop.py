"""A thread with an event loop, and calls into this thread from others."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from proofka.checker.cluster.errors import ClusterError

T = TypeVar("T")

DEADLINE_SECONDS = 30.0
"""Time after which a call into the thread counts as stuck, in seconds. A call never waits for the network."""


class ProxyFailed(ClusterError):
    """An error within the thread of a proxy, which the next call reports. ``__cause__`` is the first error."""

    code = "K33"


class EventLoopThread:
    """A thread that runs one event loop. The first error that ``fail`` notes is raised by every later call."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self.loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def fail(self, error: BaseException) -> None:
        """Note an error; the first one is kept."""
        self._failure = self._failure or error

    def check(self) -> None:
        """Raise ProxyFailed where an error was noted."""
        if self._failure is not None:
            raise ProxyFailed(
                f"The proxy met an error, so its observations are incomplete; run again: {self._failure}"
            ) from self._failure

    def call(self, function: Callable[[], T]) -> T:
        """Return the result of a function that runs in the thread; its errors are raised here."""
        self.check()

        async def called() -> T:
            return function()

        return self.run(called())

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine that runs in the thread; its errors are raised here."""
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise ProxyFailed("A predicate of a gate calls the proxy; a predicate may only look at its frame")
        running: concurrent.futures.Future[T] = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        try:
            return running.result(DEADLINE_SECONDS)
        except concurrent.futures.TimeoutError:
            raise ProxyFailed(
                f"The proxy does not answer within {DEADLINE_SECONDS:g} s; look for a predicate that does not end"
            ) from None

    def close(self) -> None:
        """End the thread. Tasks of the loop must have ended before."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
