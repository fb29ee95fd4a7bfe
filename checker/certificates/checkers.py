"""The programs that check certificates: where each is looked for, its version, its hash, and its answer."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Protocol

from proofka.checker.certificates.archive import FORMAT
from proofka.properties.certified import CheckedBy

PROGRAM = "certcheck"
"""Name of the fast checker on the search path."""

_SOURCE = Path(__file__).parents[3] / "certcheck"
_SHARED = Path(sys.prefix) / "share" / "proofka"

FAST = (
    Path(sys.prefix) / "bin" / "certcheck",
    _SHARED / "certcheck",
    _SOURCE / "target" / "release" / "certcheck",
)
"""Places of the fast checker besides the search path: where Proofka is installed, and what cargo built in the
repository."""

PLAIN = (_SOURCE / "plain" / "certcheck.py", _SHARED / "certcheck.py")
"""Places of the checker in Python: in the repository, and where Proofka is installed."""

MOST_PLAIN_STATES = 200_000
"""Largest number of states for the checker in Python, which needs about a minute for so many."""

HOW_TO_INSTALL = "cargo install --path certcheck, in Proofka's repository"

ACCEPTED, REFUSED, NO_CERTIFICATE = 0, 1, 2
"""Exit statuses of a checker."""

_VERSION = re.compile(r"(certcheck(?:\.py)? [0-9][0-9A-Za-z.+-]{0,40}) \(certificates of version ([0-9]{1,6})\)\s*")
_SECONDS_FOR_A_VERSION = 30


class NoChecker(Exception):
    """No program that can check the certificate was found; the message says how to get a program."""


@dataclass(frozen=True)
class Checker:
    """A checker: the words of its command, its file, its name with its version, and the SHA-256 of its file."""

    command: tuple[str, ...]
    file: Path
    program: str
    sha256: str

    def __str__(self) -> str:
        """Return the checker in words."""
        return f"{self.program}, {self.file} (SHA-256 {self.sha256})"


@dataclass(frozen=True)
class Answer:
    """The answer of a checker: its exit status, the printed lines, and the seconds that it took."""

    status: int
    lines: tuple[str, ...]
    seconds: float


class Asking(Protocol):
    """A function that lets a checker check a file."""

    def __call__(self, checker: Checker, file: Path, *, systems: Path, memory: int) -> Answer:
        """Return the answer. Raise :class:`NoChecker` if there is none."""


def checker_for(states: int) -> Checker:
    """Return the checker for a certificate with a number of states: the fast one, else the one in Python if the
    certificate is small enough.

    Raise :class:`NoChecker`.
    """
    fast = next(_fast(), None)
    if fast is not None:
        return _named((str(fast),), fast)
    plain = next((path for path in PLAIN if path.is_file()), None)
    if plain is None:
        raise NoChecker(f"no checker was found: {HOW_TO_INSTALL}")
    if states > MOST_PLAIN_STATES:
        raise NoChecker(
            f"{states:,} states are too many for the checker in Python (at most {MOST_PLAIN_STATES:,}), and {PROGRAM} "
            f"was not found: {HOW_TO_INSTALL}"
        )
    return _named((sys.executable, str(plain)), plain)


def _fast() -> Iterator[Path]:
    on_path = shutil.which(PROGRAM)
    if on_path is not None:
        yield Path(on_path)
    yield from (path for path in FAST if path.is_file())


def _named(command: tuple[str, ...], file: Path) -> Checker:
    """Return a checker with its version and hash. Raise :class:`NoChecker` if the program is no checker."""
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, check=False, timeout=_SECONDS_FOR_A_VERSION
        )
        told = _VERSION.fullmatch(done.stdout)
        content = file.read_bytes()
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        raise NoChecker(f"{file}: cannot be run: {error}") from None
    if told is None:
        raise NoChecker(f"{file}: is no {PROGRAM}, by the answer to --version; remove the file from the search path")
    if int(told[2]) != FORMAT:
        raise NoChecker(
            f"{file}: reads certificates of version {told[2]}; version {FORMAT} is needed: {HOW_TO_INSTALL}"
        )
    return Checker(command, file, told[1], hashlib.sha256(content).hexdigest())


def asked(checker: Checker, file: Path, *, systems: Path, memory: int, more: Sequence[str] = ()) -> Answer:
    """Run a checker. ``systems``: the folder with the texts of the systems. ``memory``: limit in bytes.

    ``more``: further arguments.
    """
    command = [*checker.command, str(file.absolute()), "--systems", str(systems), "--memory", str(memory), *more]
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return Answer(done.returncode, tuple(_lines(done.stdout, done.stderr)), time.monotonic() - begun)


def _lines(*outputs: str) -> Iterable[str]:
    for output in outputs:
        yield from output.splitlines()


def checked_by(checker: Checker, answer: Answer) -> CheckedBy:
    """Return the check of an answer that accepts. The day is today."""
    assert answer.status == ACCEPTED, "a check that did not accept"
    return CheckedBy(checker.program, checker.sha256, answer.seconds, date.today().isoformat())
