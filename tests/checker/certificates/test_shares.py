"""Checks in shares: a certificate is accepted if every share accepts, and about the same claims."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from proofka.checker.certificates.checkers import ACCEPTED, PLAIN, REFUSED, Answer, Checker, NoChecker
from proofka.checker.certificates.shares import Share, Shared, check_share

CLAIM = '"no-loss" holds'
SCRIPT = f"""#!{sys.executable}
import sys
number, of = sys.argv[sys.argv.index("--share") + 1].split("/")
refusing, other, memory = {{refusing!r}}, {{other!r}}, sys.argv[sys.argv.index("--memory") + 1]
if number == refusing:
    print("refused: step: the action leads out")
    sys.exit(1)
print("limits: kill", memory)
print("no objection:", "another claim" if number == other else {CLAIM!r})
print(f"share {{{{number}}}} of {{{{of}}}}: 8 states")
"""


def program(folder: Path, *, refusing: str = "", other: str = "") -> Checker:
    """Return a checker that refuses in one share, or speaks of another claim there."""
    file = folder / "certcheck"
    file.write_text(SCRIPT.format(refusing=refusing, other=other), encoding="utf-8")
    file.chmod(0o755)
    return named(file, str(file))


def named(file: Path, *command: str) -> Checker:
    return Checker(command, file, file.name, hashlib.sha256(file.read_bytes()).hexdigest())


def answer(folder: Path, checker: Checker, shares: int = 3) -> Answer:
    systems = folder / "systems"
    systems.mkdir()
    (systems / "system.smt2").write_text("(set-logic QF_LIA)", encoding="utf-8")
    file = folder / "a.cert"
    file.touch()
    shared = Shared(lambda asked: [check_share(share) for share in asked], shares, beside=shares)
    return shared(checker, file, systems=systems, memory=3000)


def test_a_file_is_accepted_if_every_share_accepts(tmp_path: Path) -> None:
    found = answer(tmp_path, program(tmp_path))
    assert found.status == ACCEPTED
    assert found.lines[:2] == ("limits: kill 1000", f"proved: {CLAIM}")
    assert found.lines[-1].startswith("accepted: all 3 shares, ")


@pytest.mark.parametrize("number", ["1", "2", "3"])
def test_a_file_is_refused_if_one_share_refuses(tmp_path: Path, number: str) -> None:
    found = answer(tmp_path, program(tmp_path, refusing=number))
    assert (found.status, found.lines) == (REFUSED, ("refused: step: the action leads out",))


def test_shares_about_other_claims_are_no_answer(tmp_path: Path) -> None:
    with pytest.raises(NoChecker, match="the same claims"):
        answer(tmp_path, program(tmp_path, other="2"))


def test_a_checker_without_shares_is_no_checker_here(tmp_path: Path) -> None:
    with pytest.raises(NoChecker, match=r"certcheck\.py checks no shares"):
        answer(tmp_path, named(PLAIN[0], sys.executable, str(PLAIN[0])))


def test_another_program_at_the_same_path_is_refused(tmp_path: Path) -> None:
    checker = program(tmp_path)
    program(tmp_path, other="2")
    with pytest.raises(NoChecker, match="another program"):
        answer(tmp_path, checker)


@pytest.mark.parametrize("moment", ["before", "meanwhile"])
def test_another_file_at_the_same_path_is_refused(tmp_path: Path, moment: str) -> None:
    checker = program(tmp_path)
    if moment == "meanwhile":
        text = checker.file.read_text(encoding="utf-8") + "open(sys.argv[1], 'a').write('more')\n"
        checker.file.write_text(text, encoding="utf-8")
        checker = named(checker.file, str(checker.file))

    def ask(shares: Sequence[Share]) -> list[Answer | str]:
        if moment == "before":
            shares[0].file.write_text("another content", encoding="utf-8")
        return [check_share(share) for share in shares]

    systems, file = tmp_path / "systems", tmp_path / "a.cert"
    systems.mkdir()
    file.touch()
    with pytest.raises(NoChecker, match="another file"):
        Shared(ask, 2, beside=2)(checker, file, systems=systems, memory=3000)
