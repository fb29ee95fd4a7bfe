"""A system that refuses memory ends a command with status 5 and one line, never with status 1 ("violated")."""

from __future__ import annotations

import errno
import resource
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from proofka.checker.cli.memory_errors import one_line_without_memory
from proofka.checker.refused_memory import is_refusal

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kilobytes", [300_000, 700_000])
def test_a_check_under_a_limit_of_the_shell(kilobytes: int) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (kilobytes << 10, kilobytes << 10))

    command = [sys.executable, "-m", "proofka", "check", "examples/orders.yaml", "--more", "0", "--quiet"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, preexec_fn=limited)
    assert ran.returncode == 5, ran.stderr
    assert ran.stderr.startswith("the system refused memory or a thread") and ran.stderr.count("\n") == 1
    assert ran.stdout == ""


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (RuntimeError("can't start new thread"), True),
        (SystemError("error return without exception set"), True),
        (OSError(errno.ENOSPC, "No space left on device"), False),
        (RuntimeError("a dictionary changed its size"), False),
    ],
)
def test_refusals_are_told_from_other_errors(error: Exception, refused: bool) -> None:
    assert is_refusal(error) is refused
    outer = ValueError("compiling failed")
    outer.__cause__ = error
    assert is_refusal(outer) is refused


def test_other_errors_are_raised_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError), one_line_without_memory():
        raise KeyError("x")
    with pytest.raises(typer.Exit) as ended, one_line_without_memory():
        raise MemoryError
    assert ended.value.exit_code == 5
    assert "ulimit -v" in capsys.readouterr().err


ESCAPING = """
import sys

kind, moment = sys.argv.pop(1), sys.argv.pop(1)

class Failing:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            raise getattr(__builtins__, kind)("error return without exception set")

sys.meta_path.insert(0, Failing())
from proofka.__main__ import main
main()
"""


@pytest.mark.parametrize("moment", ["proofka.checker.cli", "proofka.checker.cli.check", "proofka.checker.check"])
@pytest.mark.parametrize(
    ("kind", "status", "last"),
    [
        ("MemoryError", 5, "the system refused memory or a thread"),
        ("SystemError", 5, "the system refused memory or a thread"),
        ("KeyError", 70, "proofka: internal error: nothing more is decided; please report"),
    ],
)
def test_no_error_ends_the_program_with_the_status_of_an_answer(kind: str, status: int, last: str, moment: str) -> None:
    """Neither while the program loads, nor in the middle of a check."""
    run = [sys.executable, "-c", ESCAPING, kind, moment, "check", "examples/orders.yaml", "--more", "0", "--quiet"]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False, timeout=60)
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert lines[-1].startswith(last)
    assert ("Traceback (most recent call last):" in lines) is (status == 70)
    assert status == 70 or len(lines) == 1
