"""The processes of a cluster and their folder, which end with the process that owns them, however that one ends."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from proofka.checker.cluster import watcher
from proofka.checker.cluster.errors import CannotStart, NotRemoved
from proofka.checker.cluster.waiting import until

KILLED_WITHIN = 30.0
"""Seconds within which a killed process must have ended."""
ENDED_WITHIN = 2 * watcher.PATIENCE + 10.0
"""Seconds within which the watcher must have ended, after it has seen the end of its owner."""

# A child begins as this program, which waits until the watcher knows of it. An owner that is killed before leaves a
# pipe without a writer, and the program ends. Python ignores two signals, which the child must not.
_GATE = """
import os, signal, sys
if not os.read(int(sys.argv[1]), 1):
    sys.exit(1)
os.close(int(sys.argv[1]))
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[2], sys.argv[2:])
"""


class Child:
    """A process with a session and a group of its own. Processes that it starts belong to the group, and end with it.

    ``log``: the file with its standard error, and with its standard output unless that is a pipe.
    """

    def __init__(self, name: str, process: subprocess.Popen[bytes], *, log: Path, gone: Callable[[int], None]) -> None:
        self.name = name
        self.pid = process.pid
        self.log = log
        self._process = process
        self._gone = gone
        self._status: int | None = None
        self._lock = threading.Lock()

    @property
    def stdin(self) -> IO[bytes]:
        """The pipe to the process, without a buffer."""
        assert self._process.stdin is not None, f"{self.name} was started without stdin"
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """The pipe from the process."""
        assert self._process.stdout is not None, f"{self.name} was started without stdout"
        return self._process.stdout

    @property
    def exit_status(self) -> int | None:
        """The exit status, negative for a signal; None while the process runs or is paused."""
        with self._lock:
            if self._status is None and _has_ended(self._process):
                # The number of a process that ended stays its own until the process is reaped. So the signal to the
                # rest of the group, and the word to the watcher, meet no other process.
                self._send(signal.SIGKILL)
                self._gone(self.pid)
                self._status = self._process.wait()
            return self._status

    @property
    def is_alive(self) -> bool:
        """Tell whether the process has not ended."""
        return self.exit_status is None

    def wait(self, seconds: float) -> int:
        """Return the exit status, negative for a signal, once the process has ended.

        Raises ``NotSeen`` after ``seconds``.
        """
        until(lambda: not self.is_alive, what=f"the end of {self.name}", seconds=seconds)
        status = self.exit_status
        assert status is not None
        return status

    def kill(self) -> None:
        """Kill the process and its group, and wait for its end; nothing if it has ended."""
        self._signal(signal.SIGKILL)
        self.wait(KILLED_WITHIN)

    def terminate(self) -> None:
        """Ask the process and its group to end, by SIGTERM; nothing if it has ended."""
        self._signal(signal.SIGTERM)

    def pause(self) -> None:
        """Stop the process and its group where they are, by SIGSTOP."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused process and its group go on, by SIGCONT."""
        self._signal(signal.SIGCONT)

    def close_pipes(self) -> None:
        """Close this process's ends of the pipes."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _signal(self, number: signal.Signals) -> None:
        with self._lock:
            if self._status is None:
                self._send(number)

    def _send(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            # Some systems refuse a signal to a group in which all have ended; elsewhere the refusal is an error.
            if not _has_ended(self._process):
                raise


class Supervisor:
    """The owner's side: starts children in a temporary ``folder``, and ends them all in ``close``.

    A watcher process does the same when this process ends without ``close``, also by SIGKILL. ``kept``: the folder
    stays; the children end all the same.
    """

    def __init__(self, *, kept: bool = False) -> None:
        self._children: list[Child] = []
        self._closed = False
        self._watcher = subprocess.Popen(
            [sys.executable, "-I", "-S", watcher.__file__, str(os.getpid())],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._watcher.stdin is not None and self._watcher.stdout is not None
        self._to_watcher = self._watcher.stdin
        with self._watcher.stdout as answer:
            line = answer.readline()
        if not line:
            raise CannotStart("the watcher of the cluster's processes ended at once; its error stands above")
        self.folder = Path(os.fsdecode(line[:-1]))
        if kept:
            self.keep()

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def keep(self) -> None:
        """Let the folder stay after the end."""
        self._tell("keep")

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        log: Path,
        stdin: bool = False,
        stdout: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        """Start a command in the folder, in a session of its own.

        ``log``: a file to which its output is appended. ``stdin``, ``stdout``: a pipe instead of nothing, or instead of
        the log. ``environment``: its whole environment; by default that of this process.
        Raises ``CannotStart`` where the program does not exist, or where the watcher has ended.
        """
        program = shutil.which(command[0])
        if program is None:
            raise CannotStart(f"{name} does not start, because {command[0]} is no program: install it")
        waiting, gate = os.pipe()
        try:
            gated = [sys.executable, "-I", "-S", "-c", _GATE, str(waiting)]
            with log.open("ab") as output:
                process = subprocess.Popen(
                    [*gated, os.path.abspath(program), *command[1:]],  # noqa: PTH100 (a link must stay a link)
                    bufsize=0,
                    stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                    stdout=subprocess.PIPE if stdout else output,
                    stderr=output,
                    cwd=self.folder,
                    env=environment,
                    pass_fds=(waiting,),
                    start_new_session=True,
                )
            child = Child(name, process, log=log, gone=self._tell_of_the_end)
            self._tell(f"start {child.pid} {watcher.start_time(child.pid)}")
            self._children.append(child)
            os.write(gate, b"1")
        finally:
            os.close(waiting)
            os.close(gate)
        return child

    def close(self) -> None:
        """End all children, and remove the folder unless it is kept; nothing the second time.

        Raises ``NotRemoved`` where something is left.
        """
        if self._closed:
            return
        self._closed = True
        try:
            for child in self._children:
                child.kill()
                child.close_pipes()
        finally:
            self._to_watcher.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._watcher.wait(ENDED_WITHIN)
        if self._watcher.returncode != 0:
            raise NotRemoved(f"{self.folder}, or a process that writes there, is still there: remove the folder")

    def _tell(self, line: str) -> None:
        try:
            self._to_watcher.write(f"{line}\n".encode("ascii"))
        except (BrokenPipeError, ValueError) as error:
            raise CannotStart("the watcher of the cluster's processes has ended: start again") from error

    def _tell_of_the_end(self, group: int) -> None:
        if self._watcher.poll() is None:
            self._tell(f"gone {group}")


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether a process has ended; it is not reaped, unless the system has no other way to ask."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True
