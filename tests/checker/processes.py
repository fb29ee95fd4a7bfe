"""The processes of a run, by what the system knows of them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection
from pathlib import Path

PATIENCE = 120
"""Seconds after which what has to happen is taken not to."""


def wait_until(happened: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.005)


def descendants(process: int) -> dict[int, str]:
    """Return the processes that a process started, and those that these started, with their command lines."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return {child: _command(child) for child in found - {process}}


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def workers(process: int) -> list[int]:
    """Return the Python processes that run tasks for a Spark session that ``process`` started, without their
    parents."""
    daemons = {child for child, command in descendants(process).items() if "pyspark.daemon" in command}
    return sorted(child for child in daemons if any(child in descendants(other) for other in daemons - {child}))


def alive(processes: Collection[int]) -> set[int]:
    """Return the processes that have not ended; a zombie has ended."""
    return {process for process in processes if _state(process) not in ("", "Z", "X")}


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def kill(processes: Collection[int]) -> None:
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
