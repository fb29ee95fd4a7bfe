"""A program that ends the processes of a cluster and removes its folder when the process that owns them ends.

``supervisor.py`` starts this file as a process of its own, in its own session, with the owner's process id as argument.
The program creates the folder and writes its path, as one line, to standard output. Then it reads lines from standard
input until the owner closes the pipe or ends, for any reason: ``start GROUP TIME``, ``gone GROUP``, ``keep``.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PATIENCE = 15.0
"""Seconds that the last processes have to end, and that their folder has to be removed."""
LOOKS_EVERY = 0.1
"""Seconds between two checks of the owner, which also catch an owner whose pipe another process has inherited."""


def start_time(process: int) -> str | None:
    """Return the time at which a process started, in the system's own unit; None if the process has ended.

    A number of a process is used again, but never with the same start time.
    """
    if not Path("/proc/self/stat").exists():
        listed = subprocess.run(
            ["ps", "-o", "stat=,lstart=", "-p", str(process)], capture_output=True, text=True, check=False
        )
        state, _, started = listed.stdout.strip().partition(" ")
        return "-".join(started.split()) if state and not state.startswith("Z") else None
    try:
        fields = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return fields[19] if fields[0] not in ("Z", "X") else None


def end_group(group: int, started: str) -> None:
    """Kill the processes of a group whose first process began at ``started``; nothing if others use the number now."""
    if start_time(group) not in (None, started):
        return
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def _follow(owner: int) -> list[list[str]]:
    """Return the words of each line of standard input, once the owner has closed it or has ended."""
    told = b""
    while True:
        if select.select([0], [], [], LOOKS_EVERY)[0]:
            part = os.read(0, 65536)
            if not part:
                break
            told += part
        elif os.getppid() != owner:
            break
    return [line.split() for line in told.decode("ascii").splitlines()]


def _end(groups: dict[int, str]) -> bool:
    """Kill the groups; tell whether their first processes have ended in time."""
    for group, started in groups.items():
        end_group(group, started)
    deadline = time.monotonic() + PATIENCE
    while any(start_time(group) == started for group, started in groups.items()):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)
    return True


def _remove(folder: Path) -> bool:
    """Remove a folder into which a killed process can still have written; tell whether it is gone."""
    deadline = time.monotonic() + PATIENCE
    while folder.exists():
        try:
            shutil.rmtree(folder)
        except OSError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.01)
    return True


def main(owner: int) -> int:
    """Watch over the owner, and tidy up after it; return the exit status, 1 if something is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    folder = Path(tempfile.mkdtemp(prefix="proofka-cluster-"))
    with contextlib.suppress(BrokenPipeError):  # an owner that has ended already
        os.write(1, f"{folder}\n".encode())
    groups: dict[int, str] = {}
    keep = False
    for word, *values in _follow(owner):
        if word == "start":
            groups[int(values[0])] = values[1]
        elif word == "gone":
            groups.pop(int(values[0]), None)
        else:
            keep = True
    ended = _end(groups)
    return 0 if ended and (keep or _remove(folder)) else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
