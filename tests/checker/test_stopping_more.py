"""The work after the answer can be stopped at any time: the answer stands, and no process is left."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofka.checker.processes import as_completed
from tests.checker.processes import alive, descendants, wait_until

ROOT = Path(__file__).parents[2]
WORKER = "spawn_main"


@pytest.fixture
def looking() -> Iterator[subprocess.Popen[str]]:
    """Run a check that holds, and that searches for more in processes of its own."""
    command = [sys.executable, "-m", "proofka", "check", "examples/time/quick-workers.yaml", "--more", "100"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as check:
        wait_until(lambda: any(WORKER in one for one in descendants(check.pid).values()), "no worker began")
        yield check
        check.kill()


@pytest.mark.parametrize("request_to_stop", [signal.SIGINT, signal.SIGTERM])
def test_the_answer_stands(looking: subprocess.Popen[str], request_to_stop: signal.Signals) -> None:
    started = descendants(looking.pid)
    looking.send_signal(request_to_stop)
    printed, complained = looking.communicate(timeout=60)
    assert looking.returncode == 0
    assert "stopping; the answer stands" in complained
    assert "more: interrupted" in complained
    assert "again: proofka check" in printed
    wait_until(lambda: not alive(started), "a worker survived")


def test_a_killed_check_leaves_no_worker(looking: subprocess.Popen[str]) -> None:
    started = descendants(looking.pid)
    looking.kill()
    looking.wait()
    wait_until(lambda: not alive(started), "a worker survived")


def _same(number: int) -> int:
    return number


def test_every_outcome_comes_with_its_item() -> None:
    assert sorted(as_completed(_same, [3, 1, 2])) == [(1, 1), (2, 2), (3, 3)]
    assert list(as_completed(_same, [3, 1, 2], in_order=True)) == [(3, 3), (1, 1), (2, 2)]


def test_error_of_a_wrong_time_names_the_allowed_values() -> None:
    """Unlike ``--time`` it may be 0."""
    for text in ("-1", "x"):
        command = [sys.executable, "-m", "proofka", "check", "examples/acks-1.yaml", "--more", text]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (ran.returncode, f"'{text}' is neither a number of seconds nor 0" in ran.stderr) == (2, True)
