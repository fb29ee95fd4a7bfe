"""The list of slow tests names tests that there are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SLOW

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_each_of_them_is_there() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "-p", "no:cacheprovider", "tests"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    listed = SLOW.read_text(encoding="utf-8").splitlines()
    assert listed == sorted(set(listed))
    assert not set(listed) - set(found.stdout.splitlines())
