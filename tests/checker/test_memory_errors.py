"""A system that refuses memory ends a command with status 5 and one line, never with status 1 ("violated")."""

from __future__ import annotations

import errno
import resource
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from checker.cli.memory_errors import is_refusal, one_line_without_memory

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kilobytes", [300_000, 700_000])
def test_a_check_under_a_limit_of_the_shell(kilobytes: int) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (kilobytes << 10, kilobytes << 10))

    command = [sys.executable, "-m", "checker", "check", "examples/orders.yaml", "--more", "0", "--quiet"]
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
        (OSError(errno.ENOSPC, "No space left on device"), False),
        (RuntimeError("a dictionary changed its size"), False),
    ],
)
def test_refusals_are_told_from_other_errors(error: Exception, refused: bool) -> None:
    assert is_refusal(error) is refused
    outer = ValueError("compiling failed")
    outer.__cause__ = error
    assert is_refusal(outer) is refused


def test_other_errors_stay_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError), one_line_without_memory():
        raise KeyError("x")
    with pytest.raises(typer.Exit) as ended, one_line_without_memory():
        raise MemoryError
    assert ended.value.exit_code == 5
    assert "ulimit -v" in capsys.readouterr().err
