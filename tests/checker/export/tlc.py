"""Runs TLC on a TLA+ module and reads what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

needs_tlc = pytest.mark.skipif(
    not os.environ.get("TLA2TOOLS_JAR") or shutil.which("java") is None,
    reason="TLC is not run: TLA2TOOLS_JAR names no tla2tools.jar, or there is no java",
)

COUNTING = "SPECIFICATION Spec\nINVARIANT {}\nCHECK_DEADLOCK FALSE\n"


@dataclass(frozen=True)
class TlcRun:
    """What TLC found: distinct states, whether it stopped at a violation, and everything it said."""

    states: int
    violated: str | None
    said: str


def run_tlc(module: Path, *, invariant: str | None = None, workers: int = 1) -> TlcRun:
    """Run TLC on a module: with its own configuration, or with one invariant only, so that nothing else stops it."""
    jar = Path(os.environ["TLA2TOOLS_JAR"]).resolve()
    if invariant is not None:
        module.with_suffix(".cfg").write_text(COUNTING.format(invariant), encoding="utf-8")
    command = ["java", "-XX:+UseParallelGC", "-cp", str(jar), "tlc2.TLC", "-workers", str(workers), module.stem]
    done = subprocess.run(command, cwd=module.parent, capture_output=True, text=True, check=False)
    found = re.findall(r"(\d+) distinct states found", done.stdout.replace(",", ""))
    assert found, done.stdout + done.stderr
    violated = re.search(r"Invariant (\w+) is violated", done.stdout)
    return TlcRun(int(found[-1]), violated[1] if violated else None, done.stdout)
