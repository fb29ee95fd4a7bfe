"""Certificates of small checks, and the answer of the checker in plain Python."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from checker.certificates.checkers import PLAIN
from checker.certificates.writing import Written, write_certificate
from checker.check import Run


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
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, changes.get(name, lambda content: content)(old.read(name)))
    return other
