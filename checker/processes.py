"""Independent work in processes of their own, as much of it at a time as there are cores."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from typing import TypeVar

from checker.budget import processors
from checker.interruption import never_interrupted

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

LOOKS_EVERY = 0.1
"""Seconds between two looks at whether to stop."""


def in_processes(
    work: Callable[[Item], Outcome], items: Sequence[Item], stop: threading.Event | None = None
) -> Iterator[Outcome]:
    """What comes of each item, in their order.

    Once ``stop`` is set, nothing that has not begun is done, and outcomes end with the first that is not there yet.
    """
    if not items:
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processors(), len(items)), context) as pool:
        with never_interrupted():
            outcomes = [pool.submit(work, item) for item in items]
        for outcome in outcomes:
            while not outcome.done():
                if stop is not None and stop.is_set():
                    pool.shutdown(wait=False, cancel_futures=True)
                    return
                wait([outcome], timeout=LOOKS_EVERY)
            yield outcome.result()
