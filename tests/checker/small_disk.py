"""A file system with little room, and processes that may die without the tests."""

from __future__ import annotations

import os
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """Mount a file system of so much room, in memory, at ``place``; skip the test where mounting is not allowed."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        _unmount(place)


def _unmount(place: Path) -> None:
    """Unmount the file system, again and again: killed processes can take a moment to release it."""
    for _ in range(100):
        if subprocess.run(["umount", place], capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.1)
    subprocess.run(["umount", "--lazy", place], check=True)


def enlarge(place: Path, size: str) -> None:
    """Make room."""
    subprocess.run(["mount", "-o", f"remount,size={size}", place], check=True)


def in_a_child(do: Callable[[], int]) -> int:
    """Run a copy of this process and return its exit status, or the negative number of the signal that ended the
    copy."""
    child = os.fork()
    if not child:
        status = 99
        try:
            status = do()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
