"""The processes of a cluster and their folder, and the end of their owner."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.cluster import watcher
from proofka.checker.cluster.errors import CannotStart, NotRemoved, NotSeen
from proofka.checker.cluster.supervisor import Child, Supervisor
from proofka.checker.cluster.waiting import until
from tests.checker.processes import PATIENCE, alive, descendants, kill

ROOT = Path(__file__).parents[3]

FAMILY = "sleep 600 & while :; do mkdir -p a/b; echo $! > a/b/own; mv a/b/own own; done"
"""A program that writes into its folder all the time, with a child whose number stands in the file ``own``."""

OWNER = f"""
import json, os, signal, sys, threading
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.waiting import until

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a test run under nohup ignores this signal
with Supervisor() as supervisor:
    child = supervisor.start("family", ["sh", "-c", {FAMILY!r}], log=supervisor.folder / "family.log")
    own = supervisor.folder / "own"
    until(lambda: own.exists() and own.read_text(), what="a child of the child", seconds={PATIENCE})
    BEFORE
    print(json.dumps([str(supervisor.folder), child.pid, int(own.read_text())]), flush=True)
    threading.Event().wait()
"""
FORKS = "if os.fork() == 0: os.close(1); threading.Event().wait()"


@contextmanager
def owner(program: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in a session of its own, and end what is left of it."""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as run:
        try:
            yield run
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)


def started(run: subprocess.Popen[bytes]) -> tuple[Path, set[int]]:
    """Return the folder and all processes of an owner, once they run."""
    assert run.stdout is not None
    folder, *processes = json.loads(run.stdout.readline())
    return Path(folder), {*processes, *descendants(run.pid)}


def until_ended(processes: set[int]) -> None:
    until(lambda: not alive(processes), what=f"the end of {processes}", seconds=PATIENCE)


def until_gone(folder: Path) -> None:
    until(lambda: not folder.exists(), what=f"the removal of {folder}", seconds=PATIENCE)


def run_family(supervisor: Supervisor) -> tuple[Child, int]:
    """Return a child and the number of a process that the child started."""
    own = supervisor.folder / "own"
    child = supervisor.start("family", ["sh", "-c", FAMILY], log=supervisor.folder / "family.log")
    return child, int(until(lambda: own.exists() and own.read_text(), what="a child's child", seconds=PATIENCE))


def sleeper(supervisor: Supervisor) -> Child:
    return supervisor.start("sleeper", ["sleep", "600"], log=supervisor.folder / "sleeper.log")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_nothing_is_left_of_an_owner_that_a_signal_ended(number: signal.Signals) -> None:
    with owner(OWNER.replace("BEFORE", "")) as run:
        folder, processes = started(run)
        assert len(alive(processes)) >= 3
        os.killpg(run.pid, number)
        run.wait(PATIENCE)
        until_ended(processes)
        until_gone(folder)


def test_nothing_is_left_although_another_process_inherited_the_owners_pipes() -> None:
    with owner(OWNER.replace("BEFORE", FORKS)) as run:
        folder, processes = started(run)
        fork = {one for one, command in descendants(run.pid).items() if "fork()" in command}
        assert len(fork) == 1
        run.kill()
        try:
            until_ended(processes - fork)
            until_gone(folder)
            assert alive(fork) == fork
        finally:
            kill(fork)


@pytest.mark.parametrize("told", ["", "tell(self, line); "])
def test_no_child_runs_whose_owner_is_killed_while_it_starts(told: str, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = f"""
import os, signal
from proofka.checker.cluster.supervisor import Supervisor

tell = Supervisor._tell
def tell_and_die(self, line):
    {told}print(self.folder, line.split()[1], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

Supervisor._tell = tell_and_die
with Supervisor() as supervisor:
    supervisor.start("toucher", ["touch", {str(ran)!r}], log=supervisor.folder / "toucher.log")
"""
    with owner(program) as run:
        assert run.stdout is not None
        folder, child = run.stdout.readline().split()
        assert run.wait(PATIENCE) == -signal.SIGKILL
        until_ended({int(child)})
        until_gone(Path(os.fsdecode(folder)))
    assert not ran.exists()


def test_an_owner_in_trouble_leaves_nothing_and_shows_its_error() -> None:
    with pytest.raises(ZeroDivisionError), Supervisor() as supervisor:
        child, own = run_family(supervisor)
        raise ZeroDivisionError
    assert not supervisor.folder.exists()
    assert child.exit_status == -signal.SIGKILL
    until_ended({own})


def test_two_supervisors_do_not_meet() -> None:
    with Supervisor() as first:
        child = sleeper(first)
        with Supervisor() as second:
            assert first.folder != second.folder
            other, own = run_family(second)
        assert not other.is_alive and not second.folder.exists()
        until_ended({own})
        assert child.is_alive and first.folder.exists()
    assert not child.is_alive and not first.folder.exists()


def test_a_process_that_has_the_number_of_an_ended_child_is_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    sent, send = [], os.killpg
    monkeypatch.setattr(os, "killpg", lambda *given: (sent.append(given), send(*given)))
    with Supervisor() as supervisor:
        child = sleeper(supervisor)
        began = watcher.start_time(child.pid)
        assert began is not None
        watcher.end_group(child.pid, f"{began}0")
        assert not sent
        watcher.end_group(child.pid, began)
        assert sent == [(child.pid, signal.SIGKILL)]
        assert child.wait(PATIENCE) == -signal.SIGKILL
        assert watcher.start_time(child.pid) is None


def test_a_child_that_has_ended_is_told_to_the_watcher_and_no_signal_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    told, sent = [], []
    tell, send = Supervisor._tell, os.killpg
    monkeypatch.setattr(Supervisor, "_tell", lambda self, line: (told.append(line), tell(self, line)))
    with Supervisor() as supervisor:
        child = supervisor.start("true", ["true"], log=supervisor.folder / "true.log")
        assert child.wait(PATIENCE) == 0
        monkeypatch.setattr(os, "killpg", lambda *given: (sent.append(given), send(*given)))
        child.kill()
        child.terminate()
        child.pause()
    assert [line.split()[:2] for line in told] == [["start", str(child.pid)], ["gone", str(child.pid)]]
    assert not sent


def test_processes_of_a_killed_child_end_with_the_child() -> None:
    with Supervisor() as supervisor:
        child, own = run_family(supervisor)
        child.kill()
        assert child.exit_status == -signal.SIGKILL
        until_ended({own})


def test_processes_of_a_child_that_ends_by_itself_end_with_the_child() -> None:
    with Supervisor() as supervisor:
        child = supervisor.start(
            "parent", ["sh", "-c", "sleep 600 >&- & echo $!; exit 3"], log=supervisor.folder / "parent.log", stdout=True
        )
        own = int(child.stdout.readline())
        assert child.wait(PATIENCE) == 3
        until_ended({own})


def state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


def test_a_paused_child_stands_still_until_it_is_resumed() -> None:
    with Supervisor() as supervisor:
        child = sleeper(supervisor)
        child.pause()
        until(lambda: state(child.pid) == "T", what="the pause", seconds=PATIENCE)
        assert child.is_alive
        child.resume()
        until(lambda: state(child.pid) == "S", what="the end of the pause", seconds=PATIENCE)
        child.pause()
    assert child.exit_status == -signal.SIGKILL


def test_a_child_can_be_asked_to_end() -> None:
    with Supervisor() as supervisor:
        child = sleeper(supervisor)
        with pytest.raises(NotSeen, match="the end of sleeper"):
            child.wait(0)
        child.terminate()
        assert child.wait(PATIENCE) == -signal.SIGTERM


def test_pipes_and_the_log_are_separate() -> None:
    with Supervisor() as supervisor:
        log = supervisor.folder / "echo.log"
        child = supervisor.start(
            "echo", ["sh", "-c", "read line; echo got $line; echo $line >&2"], log=log, stdin=True, stdout=True
        )
        child.stdin.write(b"record-1\n")
        assert child.stdout.readline() == b"got record-1\n"
        assert child.wait(PATIENCE) == 0
        assert log.read_bytes() == b"record-1\n"


def test_output_goes_to_the_end_of_the_log_where_no_pipe_is_wanted() -> None:
    with Supervisor() as supervisor:
        log = supervisor.folder / "echo.log"
        for number in range(2):
            child = supervisor.start("echo", ["sh", "-c", f"cat; echo {number}; pwd >&2"], log=log)
            child.wait(PATIENCE)
        assert log.read_text(encoding="utf-8") == f"0\n{supervisor.folder}\n1\n{supervisor.folder}\n"


def _signals(status: Path) -> tuple[int, int]:
    """Return the signals that a process ignores and blocks, as masks."""
    lines = status.read_text(encoding="utf-8").splitlines()
    fields: dict[str, Any] = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    return int(fields["SigIgn"], 16), int(fields["SigBlk"], 16)


def test_a_child_begins_with_the_usual_treatment_of_signals_and_no_pipe_of_another() -> None:
    with Supervisor() as supervisor:
        sleeper(supervisor)
        log = supervisor.folder / "status.log"
        supervisor.start("status", ["cat", "/proc/self/status"], log=log).wait(PATIENCE)
        child, here = _signals(log), _signals(Path("/proc/self/status"))
        of_python = sum(1 << number - 1 for number in (signal.SIGPIPE, signal.SIGXFSZ))
        assert child == (here[0] & ~of_python, here[1])
        log = supervisor.folder / "pipes.log"
        supervisor.start("pipes", ["ls", "-1", "/proc/self/fd"], log=log).wait(PATIENCE)
        assert log.read_text(encoding="utf-8").split() == ["0", "1", "2", "3"]  # 3 is the folder that ls reads


def test_a_kept_folder_stays_and_its_processes_end() -> None:
    with Supervisor(kept=True) as supervisor:
        child, own = run_family(supervisor)
    try:
        assert not child.is_alive and (supervisor.folder / "own").exists()
        until_ended({own})
    finally:
        until(lambda: _removed(supervisor.folder), what="the removal", seconds=PATIENCE)


def _removed(folder: Path) -> bool:
    return watcher._remove(folder)


def test_a_folder_that_is_written_to_while_it_is_removed_is_removed_in_the_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    remove, tries = shutil.rmtree, []

    def disturbed(folder: Path) -> None:
        remove(folder)
        if not tries:
            (folder / "late").mkdir(parents=True)
            tries.append(folder)
            raise OSError("directory not empty")

    monkeypatch.setattr(shutil, "rmtree", disturbed)
    (tmp_path / "folder").mkdir()
    assert watcher._remove(tmp_path / "folder")
    assert tries and not (tmp_path / "folder").exists()


def test_a_program_that_does_not_exist_is_named() -> None:
    with (
        Supervisor() as supervisor,
        pytest.raises(CannotStart, match=r"broker 1 does not start.*no-such-program.*T03"),
    ):
        supervisor.start("broker 1", ["no-such-program"], log=supervisor.folder / "log")


def test_an_owner_without_watcher_starts_nothing_and_names_the_folder() -> None:
    with pytest.raises(NotRemoved) as raised, Supervisor() as supervisor:
        child, own = run_family(supervisor)
        kill({supervisor._watcher.pid})
        supervisor._watcher.wait(PATIENCE)
        with pytest.raises(CannotStart, match="watcher"):
            sleeper(supervisor)
    assert str(supervisor.folder) in str(raised.value)
    assert child.exit_status == -signal.SIGKILL
    until_ended({own})
    assert _removed(supervisor.folder)


def test_a_closed_supervisor_starts_nothing() -> None:
    with Supervisor() as supervisor:
        pass
    supervisor.close()
    supervisor.folder.mkdir()
    try:
        with pytest.raises(CannotStart):
            sleeper(supervisor)
    finally:
        assert _removed(supervisor.folder)
