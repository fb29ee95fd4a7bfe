"""Independent work in separate processes, as many at a time as there are cores."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import TypeVar

from proofka.checker.budget import processors
from proofka.checker.interruption import handling, never_interrupted

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

LOOKS_EVERY = 0.1
"""Seconds between two checks of the request to stop."""


def in_processes(
    work: Callable[[Item], Outcome], items: Sequence[Item], stop: threading.Event | None = None
) -> Iterator[Outcome]:
    """Yield the outcome of each item, in order.

    Once ``stop`` is set, processes end at once, and outcomes end before the first missing outcome.
    """
    for _, outcome in as_completed(work, items, stop, in_order=True):
        yield outcome


def as_completed(
    work: Callable[[Item], Outcome],
    items: Sequence[Item],
    stop: threading.Event | None = None,
    *,
    in_order: bool = False,
) -> Iterator[tuple[Item, Outcome]]:
    """Yield each item with its outcome, as soon as the outcome is ready, or in order.

    Once ``stop`` is set, processes end at once, and missing outcomes are left out.
    """
    if not items:
        return
    others, waiting = set(multiprocessing.active_children()), dict[Future[Outcome], Item]()
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(processors(), len(items)), context, initializer=end_with_parent)
    try:
        with never_interrupted():
            waiting = {pool.submit(work, item): item for item in items}
        while waiting:
            if stop is not None and stop.is_set():
                return
            wanted = list(waiting)[:1] if in_order else list(waiting)
            done, _ = wait(wanted, timeout=LOOKS_EVERY, return_when=FIRST_COMPLETED)
            for outcome in done:
                yield waiting.pop(outcome), outcome.result()
    finally:
        # The pool can write to a process that was ended; the resulting signal must not end this process.
        with handling(signal.SIG_IGN, signal.SIGPIPE):
            if waiting:
                for process in set(multiprocessing.active_children()) - others:
                    process.kill()
            pool.shutdown(cancel_futures=True)


def end_with_parent() -> None:
    """End this process when its parent ends, however the parent ends, because its work is no longer needed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
