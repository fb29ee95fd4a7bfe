"""Certificates of small checks, and the answer of the checker in plain Python."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from proofka.checker.certificates.checkers import PLAIN
from proofka.checker.certificates.writing import Written, write_certificate
from proofka.checker.check import Run
from tests.certificates.reading import members_of
from tests.certificates.writing import archive


def certified(run: Run, file: Path) -> Written:
    """Write the certificate of a run, and demand that the plain checker accepts it."""
    written = write_certificate(run, file, tool="a test")
    status, text = answer(file)
    assert status == 0, text
    return written


def answer(file: Path) -> tuple[int, str]:
    """Return the exit status of the plain checker, and what it prints."""
    done = subprocess.run([sys.executable, str(PLAIN[0]), str(file)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def changed(file: Path, changes: Mapping[str, Callable[[bytes], bytes]]) -> Path:
    """Write the same certificate with some members changed, and return the new file."""
    other = file.with_suffix(".changed.cert")
    members = members_of(file.read_bytes())
    other.write_bytes(archive({**members, **{name: change(members[name]) for name, change in changes.items()}}))
    return other
