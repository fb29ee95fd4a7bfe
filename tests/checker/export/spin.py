"""Runs SPIN on a Promela model and reads what it says."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

needs_spin = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("gcc") is None,
    reason="SPIN is not installed: apt-get install spin gcc",
)

DEEPEST = 1 << 26


@dataclass(frozen=True)
class SpinRun:
    """The result of a verifier: ``seconds`` and ``compile_seconds`` of wall-clock time."""

    states: int
    transitions: int
    errors: int
    seconds: float
    compile_seconds: float


def run_spin(
    model: Path,
    directory: Path,
    *,
    optimise: Sequence[str] = ("-O1",),
    defines: Sequence[str] = (),
    depth: int = 1_000_000,
    megabytes: int = 4_096,
) -> SpinRun:
    """Make a verifier of a model in a directory, and run it over every state.

    ``optimise`` are options for gcc, ``defines`` what the model is told (``ASSERT_...``). Where the search is cut off
    at its depth it is run again with more.
    """
    started = time.perf_counter()
    _run(["spin", "-o2", "-a", *(f"-D{define}" for define in defines), str(model.resolve())], directory)
    options = ["-DSAFETY", "-DNOREDUCE", f"-DMEMLIM={megabytes}"]
    _run(["gcc", "-w", *optimise, *options, "-o", "pan", "pan.c"], directory)
    compiled = time.perf_counter()
    while True:
        before = time.perf_counter()
        said = _run(["./pan", "-E", f"-m{depth}"], directory)
        seconds = time.perf_counter() - before
        if "max search depth too small" not in said:
            break
        assert depth < DEEPEST, "SPIN needs a deeper search than any test"
        depth *= 8
    assert "out of memory" not in said and "truncated" not in said, said
    return SpinRun(
        _number(r"(\d+) states, stored", said),
        _number(r"(\d+) transitions", said),
        _number(r"errors: (\d+)", said),
        seconds,
        compiled - started,
    )


def _run(command: Sequence[str], directory: Path) -> str:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
    return done.stdout


def _number(pattern: str, said: str) -> int:
    found = re.search(pattern, said)
    assert found is not None, said
    return int(found[1])
