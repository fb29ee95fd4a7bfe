"""The Rust checker on the registry of forgeries, and on random changes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from proofka.checker.certificates.writing import write_certificate
from proofka.model.faults import Fault
from tests.certificates.checkers import ROOT, Checker, answer, expected, plain, program
from tests.certificates.forged_archive import DECLARED_BOMB
from tests.certificates.forged_form import TOO_LARGE
from tests.certificates.forgeries import FORGERIES, HARMLESS
from tests.certificates.forging import Forgery
from tests.certificates.fuzz import tries
from tests.certificates.page import PAGE, text
from tests.checker.asking import example, run

FOLDER = ROOT / "certcheck"
CACHE = ROOT / "build" / "certcheck"
"""The folder of what cargo builds, which stays for the next run."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("cargo") is None, reason="SKIPPED: cargo is missing (https://rustup.rs)"),
    pytest.mark.skipif(not (FOLDER / "Cargo.toml").exists(), reason="SKIPPED: certcheck/Cargo.toml is missing"),
]


@pytest.fixture(scope="module")
def rust() -> Checker:
    """Return the Rust checker, built anew where its source has changed."""
    command = ["cargo", "build", "--release", "--manifest-path", str(FOLDER / "Cargo.toml")]
    done = subprocess.run(
        command, env={**os.environ, "CARGO_TARGET_DIR": str(CACHE)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return program(CACHE / "release" / "certcheck")


@pytest.mark.parametrize("forgery", FORGERIES, ids=str)
def test_the_rust_checker_refuses_a_forgery_by_its_rule(forgery: Forgery, rust: Checker, tmp_path: Path) -> None:
    found = answer(rust, forgery, tmp_path)
    assert expected(forgery, found), found


@pytest.mark.parametrize("forgery", [*TOO_LARGE, DECLARED_BOMB], ids=str)
def test_the_rust_checker_refuses_systems_beyond_its_limits(forgery: Forgery, rust: Checker, tmp_path: Path) -> None:
    found = answer(rust, forgery, tmp_path, memory="1GiB")
    assert expected(forgery, found), found


@pytest.mark.parametrize("forgery", HARMLESS, ids=str)
def test_the_rust_checker_accepts_a_change_without_difference(forgery: Forgery, rust: Checker, tmp_path: Path) -> None:
    found = answer(rust, forgery, tmp_path)
    assert found.status == 0, found


def test_the_page_of_forgeries_has_the_reasons_of_both_checkers(rust: Checker) -> None:
    """Otherwise: python -m tests.certificates.page CERTCHECK"""
    assert PAGE.read_text(encoding="utf-8") == text(rust)


def test_the_rust_checker_accepts_no_random_change_wrongly_and_answers_as_the_plain_one(
    rust: Checker, tmp_path: Path
) -> None:
    wrong = [one for one in tries(1000, 0, rust, tmp_path, plain) if one[1].startswith("WRONG")]
    assert not wrong


def test_the_rust_checker_accepts_a_certificate_of_a_check(rust: Checker, tmp_path: Path) -> None:
    file = tmp_path / "a.cert"
    asked = run(example("acks-all-min-isr-2", (Fault.KILL, Fault.POWER_LOSS, Fault.DELAYED_REQUEST)))
    written = write_certificate(asked, file, tool="a test")
    assert not written.left_out
    found = rust([str(file)])
    assert found.status == 0, found
    assert found.text.count("proved: ") == len(written.certified)
