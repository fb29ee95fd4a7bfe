"""A full disk ends a command that prints with one line, and with no status that is a verdict."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


@pytest.mark.parametrize(
    "words",
    ["help", "help kill", "--version", "properties", "cache", "show examples/orders.yaml", "--help"],
)
def test_a_full_disk_is_one_line(words: str) -> None:
    command = [sys.executable, "-m", "proofka", *words.split()]
    with FULL.open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "no space left on device\n")
