"""Threads that search a level together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def crew_of(threads: int) -> Iterator[ThreadPoolExecutor]:
    """So many threads, all of which have started: inside the compiled loops they wait for each other.

    Raises :class:`RuntimeError` where the system does not allow so many.
    """
    everybody = threading.Barrier(threads + 1)
    with ThreadPoolExecutor(threads) as pool:
        try:
            for _ in range(threads):
                pool.submit(everybody.wait)
            everybody.wait()
        except BaseException:
            everybody.abort()
            raise
        yield pool
