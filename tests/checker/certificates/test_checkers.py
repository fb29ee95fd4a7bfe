"""The checkers: the order of their places, their versions, and answers that are none."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from proofka.checker.certificates import checkers
from proofka.checker.certificates.checkers import MOST_PLAIN_STATES, PLAIN, NoChecker, checker_for

VERSION = "certcheck 7.8.9 (certificates of version 4)"


def program(file: Path, *, version: str = VERSION, status: int = 0, says: str = "") -> Path:
    """Write a program that answers to ``--version``, and otherwise ends with a status."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f"#!{sys.executable}\nimport sys\nif '--version' in sys.argv:\n    print({version!r})\n    sys.exit()\n"
        f"print({says!r})\nsys.exit({status})\n",
        encoding="utf-8",
    )
    file.chmod(0o755)
    return file


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no program of this machine be found."""
    monkeypatch.setenv("PATH", str(tmp_path / "on_path"))
    monkeypatch.setattr(checkers, "FAST", (tmp_path / "shared" / "certcheck", tmp_path / "built" / "certcheck"))


def test_the_search_path_comes_before_other_places(tmp_path: Path) -> None:
    built = program(tmp_path / "built" / "certcheck")
    assert checker_for(1).file == built
    shared = program(tmp_path / "shared" / "certcheck")
    assert checker_for(1).file == shared
    on_path = program(tmp_path / "on_path" / "certcheck")
    found = checker_for(10**9)
    assert found.file == on_path
    assert found.program == "certcheck 7.8.9"
    assert found.sha256 == hashlib.sha256(on_path.read_bytes()).hexdigest()
    assert found.sha256 in str(found)


def test_the_checker_in_python_is_for_small_certificates() -> None:
    found = checker_for(MOST_PLAIN_STATES)
    assert found.file == PLAIN[0]
    assert found.program.startswith("certcheck.py ")
    with pytest.raises(NoChecker, match=r"200,001 states .*cargo install"):
        checker_for(MOST_PLAIN_STATES + 1)


def test_no_checker_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkers, "PLAIN", ())
    with pytest.raises(NoChecker, match="cargo install"):
        checker_for(1)


@pytest.mark.parametrize(
    ("version", "named"),
    [
        ("something else", "is no certcheck"),
        ("", "is no certcheck"),
        ("certcheck 2.0.0 (certificates of version 1)", "version 1; version 4 is needed"),
    ],
)
def test_another_program_of_this_name_is_refused_and_no_other_is_taken(
    version: str, named: str, tmp_path: Path
) -> None:
    program(tmp_path / "on_path" / "certcheck", version=version)
    program(tmp_path / "built" / "certcheck")
    with pytest.raises(NoChecker, match=named):
        checker_for(1)


def test_a_program_that_cannot_run_is_named(tmp_path: Path) -> None:
    file = program(tmp_path / "on_path" / "certcheck")
    file.write_bytes(b"\x7fELF" + os.urandom(64))
    with pytest.raises(NoChecker, match="cannot be run"):
        checker_for(1)
