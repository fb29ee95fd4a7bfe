"""Threads that search a level together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def search_threads(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of ``threads`` threads that have all started, because compiled loops make them wait for each other.

    Raise :class:`RuntimeError` if the system does not allow this number of threads.
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
