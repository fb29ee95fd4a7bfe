"""Measure the seconds to the first verdict, to the answer and to the end of a check.

    python benchmarks/answers.py [NAME ...] [--cap SECONDS] [--more SECONDS] [--warm]

The command itself checks each deployment on a terminal of its own with ``--details``: every example, and ten plain
deployments (``benchmarks/deployments``). The time of a verdict is the time at which its row appears. A first check is
cold: no machine code is on disk. With ``--warm`` a second check uses the machine code of the first. The script prints a
table in Markdown.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLAIN = ROOT / "benchmarks" / "deployments"
RELEASE = "3.9"
"""Release of the brokers of a plain deployment whose name has no release."""

VERDICT = re.compile(rb"[\xe2][\x9c][\x97\x93] [a-z]")
"""The mark of a verdict and the beginning of a property's name."""

ANSWER = re.compile(rb"smallest fault sets")
"""The heading of the table, which is printed once every property has its verdict."""

STATES = re.compile(rb"embedded: ([0-9,]+) states")


@dataclass(frozen=True)
class Measured:
    """Seconds since the start (None: not before the cap), explored states, and memory of the largest process in MB."""

    first: float | None
    answer: float | None
    end: float | None
    states: str
    megabytes: int


def deployments() -> Iterator[tuple[str, list[str]]]:
    """Return each name with the arguments of its check."""
    for file in sorted((ROOT / "examples").glob("*.yaml")) + sorted((ROOT / "examples" / "time").glob("*.yaml")):
        yield str(file.relative_to(ROOT / "examples").with_suffix("")), [str(file.relative_to(ROOT))]
    for place in sorted(PLAIN.iterdir()):
        name = f"plain/{place.stem if place.suffix == '.yaml' else place.name}"
        yield name, [str(place.relative_to(ROOT))] if place.is_file() else _files_of(place)


def _files_of(folder: Path) -> list[str]:
    release = folder.name.removeprefix("java-defaults-") if folder.name.startswith("java-defaults-") else RELEASE
    words = ["--kafka", release]
    for name in ("topic", "producer", "consumer"):
        file = folder / f"{name}.properties"
        words += [f"--{name}", str(file.relative_to(ROOT))] if file.exists() else []
    return words


def measured(arguments: Sequence[str], cap: float, environment: Mapping[str, str], more: str) -> Measured:
    """Run a check on a terminal, and measure the times at which verdicts and the answer appear."""
    ours, theirs = pty.openpty()
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "proofka", "check", *arguments, "--details", "--more", more],
        cwd=ROOT,
        env={**os.environ, **environment, "COLUMNS": "120", "LINES": "50", "TERM": "xterm-256color"},
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen, first, answer = b"", None, None
    while time.monotonic() - began < cap:
        if not select.select([ours], [], [], 0.05)[0]:
            continue
        try:
            more = os.read(ours, 1 << 16)
        except OSError:
            break
        if not more:
            break
        seen += more
        now = time.monotonic() - began
        first = now if first is None and VERDICT.search(seen) else first
        answer = now if answer is None and ANSWER.search(seen) else answer
    ended = time.monotonic() - began if time.monotonic() - began < cap else None
    if ended is None:
        os.killpg(process.pid, signal.SIGKILL)
    _, _, usage = os.wait4(process.pid, 0)
    os.close(ours)
    states = STATES.search(seen)
    return Measured(first, answer, ended, states[1].decode() if states else "", _megabytes(usage))


def _megabytes(usage: resource.struct_rusage) -> int:
    return int(usage.ru_maxrss) // 1024


def row(name: str, found: Measured) -> str:
    """Return a line of the table."""

    def seconds(value: float | None) -> str:
        return "-" if value is None else f"{value:.1f}"

    cells = [name, seconds(found.first), seconds(found.answer), seconds(found.end), found.states, str(found.megabytes)]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure the named deployments, or all deployments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="an example, such as orders, or plain/careful")
    parser.add_argument("--cap", type=float, default=120.0, help="seconds after which a check is stopped")
    parser.add_argument("--more", default="10", help="seconds for the search after the answer")
    parser.add_argument("--warm", action="store_true", help="check each a second time, with machine code on disk")
    asked = parser.parse_args()
    print("| deployment | first verdict s | answer s | end s | states | largest process MB |")
    print("|---|---|---|---|---|---|")
    for name, arguments in deployments():
        if asked.names and name not in asked.names:
            continue
        with tempfile.TemporaryDirectory() as cache:
            environment = {"PROOFKA_CACHE": cache}
            print(row(name, measured(arguments, asked.cap, environment, asked.more)), flush=True)
            if asked.warm:
                print(row(f"{name}, warm", measured(arguments, asked.cap, environment, asked.more)), flush=True)


if __name__ == "__main__":
    main()
