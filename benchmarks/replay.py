"""Memory and duration of replays: `python benchmarks/replay.py RESULT.json N [RESULT.json N ...]`.

Each replay is a command of its own. Ten times a second, RSS (resident pages) and PSS (a page that n processes share
counts as 1/n) are added up over the command and all processes that it starts. The largest sums are printed, and those
of the nodes alone.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

EVERY = 0.1
"""Seconds between two measurements."""
_SIZE = re.compile(r"^(Rss|Pss): +(\d+) kB$", re.MULTILINE)


def family(process: int) -> dict[int, str]:
    """Return a process and all that it started, with their command lines."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found, new = {process}, [process]
    while new:
        new = [child for parent in new for child in children.get(parent, [])]
        found.update(new)
    return {one: command for one in found if (command := _command(one))}


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def sizes(processes: Iterable[int]) -> tuple[int, int]:
    """Return the sums of RSS and PSS in MiB."""
    total = {"Rss": 0, "Pss": 0}
    for process in processes:
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        for name, size in _SIZE.findall(text):
            total[name] += int(size)
    return total["Rss"] // 1024, total["Pss"] // 1024


def measure(result: str, number: str) -> str:
    """Replay a trace, and return its row."""
    began = time.monotonic()
    command = [sys.executable, "-m", "proofka", "reproduce", result, number]
    largest, nodes, most = (0, 0), (0, 0), 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
        while run.poll() is None:
            processes = family(run.pid)
            largest = max(largest, sizes(processes))
            nodes = max(nodes, sizes(one for one, command in processes.items() if "kafka.Kafka" in command))
            most = max(most, len(processes))
            time.sleep(EVERY)
        assert run.stdout is not None
        outcome = next((line for line in run.stdout if line.startswith(("✓", "✗", "?"))), "no outcome")
    seconds = time.monotonic() - began
    sums = " | ".join(map(str, (*largest, *nodes)))
    return f"| {Path(result).stem} {number} | {seconds:.1f} | {sums} | {most} | {outcome.strip()} |"


def main(arguments: list[str]) -> None:
    """Print a table with a row for each replay."""
    print("| trace | wall s | RSS MiB | PSS MiB | nodes' RSS MiB | nodes' PSS MiB | processes | outcome |")
    print("|---|---|---|---|---|---|---|---|")
    for result, number in zip(arguments[::2], arguments[1::2], strict=True):
        print(measure(result, number), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
