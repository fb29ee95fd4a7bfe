"""An interrupt at any moment of a search in several threads: it ends, and says how far it got."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading

import pytest

from proofka.checker.interruption import held_back, interrupts
from tests.checker.test_cli import ROOT, proofka


def test_delayed_interrupt_comes_afterwards() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), held_back():
        signal.raise_signal(signal.SIGINT)
        done.append(1)
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_is_held_back_in_other_threads() -> None:
    found = []

    def work() -> None:
        with held_back():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


INTERRUPTED = """
import signal, sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from proofka.checker import cli

moment, numbers, submit = int(sys.argv.pop(1)), count(1), ThreadPoolExecutor.submit

def submit_and_signal(self, *arguments):
    future = submit(self, *arguments)
    if next(numbers) == moment:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    return future

ThreadPoolExecutor.submit = submit_and_signal
cli.main()
"""
SEARCH = ("published", "kip-320", "--epochs", "2", "--threads", "3", "--json")


@pytest.mark.parametrize("moment", [2, 4, 5, 6, 7, 8, 20])
def test_an_interrupt_while_a_level_is_shared_out(moment: int) -> None:
    """Twice at once, the second of which nobody catches before it tears something apart.

    Threads that waited for one that never started would do so without end.
    """
    run = [sys.executable, "-c", INTERRUPTED, str(moment), *SEARCH]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False, timeout=60)
    if moment <= 3:  # while the threads are started, the second one ends the process as usual
        assert done.returncode == 130
        return
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    assert found["stopped"] == "interrupted"
    assert found["distinct"] == sum(found["levels"]) < 737_794


LOADED = """
import signal, sys

how, moment, number = sys.argv.pop(1), sys.argv.pop(1), signal.Signals[sys.argv.pop(1)]

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            signal.raise_signal(number)

sys.meta_path.insert(0, Interrupting())
if how == "ignoring":
    signal.signal(number, signal.SIG_IGN)
from proofka.__main__ import main
main()
"""


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(
    "moment", ["proofka.checker.cli", "typer", "proofka.checker.cli.check", "proofka.model.deployment.question"]
)
def test_a_request_to_stop_while_the_program_is_loaded_is_one_line(moment: str, number: str) -> None:
    """An interrupt while the command still loads its packages gives one line, too."""
    run = [sys.executable, "-c", LOADED, "hearing", moment, number, "check", "examples/orders.yaml"]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_request_that_is_ignored_stays_ignored(number: str) -> None:
    """A shell that starts the program in the background ignores interrupts."""
    run = [sys.executable, "-c", LOADED, "ignoring", "proofka.checker.cli.check", number, "--version"]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_time_limit_before_the_exploration_ends_with_status_3(form: tuple[str, ...]) -> None:
    done = proofka("published", "kip-320", "--time", "1e-9", *form)
    assert done.exit_code == 3
    assert "before the first level was complete" in done.stdout or '"distinct": 0' in done.stdout


def test_the_request_to_end_stops_as_an_interrupt_does() -> None:
    """SIGTERM, from ``timeout`` or the end of a container, prints the results up to then."""
    stop = threading.Event()
    with interrupts(stop):
        signal.raise_signal(signal.SIGTERM)
        assert stop.is_set()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
