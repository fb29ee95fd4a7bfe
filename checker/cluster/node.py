"""A node of the cluster: a process of Kafka with a data folder and a log of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.cluster.errors import CannotStart, ClusterError
from proofka.checker.cluster.supervisor import Child, Supervisor
from proofka.checker.cluster.waiting import until

STARTED = "Kafka Server started"
"""The line of a node's log after its start in KRaft mode."""
_LAST_LINES = 15
"""Number of lines of a log that an error shows."""


class IsDown(ClusterError):
    """A signal for a node whose process has ended."""

    code = "K46"


class IsUp(ClusterError):
    """A start, or a change of the data folder, of a node that runs."""

    code = "K47"


@dataclass(frozen=True)
class NodePorts:
    """The ports at which a node listens itself: for clients, followers, the harness and brokers; None without listener.

    The harness uses a listener of its own, which the proxy does not see.
    """

    client: int | None
    replica: int | None
    harness: int | None
    controller: int | None


class Node:
    """A node, which is up or down.

    ``folder``: holds its settings, its data folder and its log. ``started``: the line of the log after a start.
    """

    def __init__(
        self,
        number: int,
        *,
        folder: Path,
        ports: NodePorts,
        command: Sequence[str],
        supervisor: Supervisor,
        started: str = STARTED,
    ) -> None:
        self.number = number
        self.folder = folder
        self.data = folder / "data"
        self.log = folder / "server.log"
        self.ports = ports
        self._command = command
        self._supervisor = supervisor
        self._started = started
        self._child: Child | None = None
        self._started_at = 0
        self.is_paused = False

    @property
    def is_up(self) -> bool:
        """Tell whether the process has not ended; a paused process has not."""
        return self._child is not None and self._child.is_alive

    @property
    def pid(self) -> int:
        """The id of the process. Raises ``IsDown``."""
        return self._process.pid

    @property
    def _process(self) -> Child:
        if self._child is None or not self._child.is_alive:
            raise IsDown(f"node {self.number} is down; start the node first")
        return self._child

    def start(self) -> None:
        """Start the process, without a wait. Raises ``IsUp``."""
        self.check_is_down()
        self._started_at = self.mark()
        self.is_paused = False
        self._child = self._supervisor.start(f"node {self.number}", self._command, log=self.log)

    def check_is_down(self) -> None:
        """Raise ``IsUp`` while the process runs."""
        if self.is_up:
            raise IsUp(f"node {self.number} is up; kill the node first")

    def kill(self) -> None:
        """Kill the process (SIGKILL), and wait for its end. Raises ``IsDown``."""
        self._process.kill()

    def stop(self, *, seconds: float = 60) -> None:
        """Ask the process to shut down (SIGTERM), and wait for its end. Raises ``IsDown``, ``NotSeen``."""
        self._process.terminate()
        self._process.wait(seconds)

    def pause(self) -> None:
        """Stop the process where it is (SIGSTOP). Raises ``IsDown``."""
        self._process.pause()
        self.is_paused = True

    def resume(self) -> None:
        """Let a paused process go on (SIGCONT). Raises ``IsDown``."""
        self._process.resume()
        self.is_paused = False

    def mark(self) -> int:
        """Return the present length of the log in bytes, for ``log_text`` and ``wait_log``."""
        return self.log.stat().st_size if self.log.exists() else 0

    def log_text(self, since: int = 0) -> str:
        """Return the log from a mark on."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as file:
            file.seek(since)
            return file.read().decode(errors="replace")

    def wait_log(self, pattern: str, *, what: str, seconds: float, since: int = 0) -> re.Match[str]:
        """Return the first match of a pattern in the log from a mark on.

        Raises ``NotSeen``, and ``CannotStart`` with the last lines of the log when the process ends before.
        """
        looked_at = -1

        def seen() -> re.Match[str] | None:
            nonlocal looked_at
            was_up, length = self.is_up, self.mark()
            if was_up and length == looked_at:
                return None
            looked_at = length
            return self._match(pattern, since, was_up=was_up)

        return until(seen, what=what, seconds=seconds)

    def wait_started(self, *, seconds: float) -> None:
        """Wait until the newest start is complete. Raises as ``wait_log``."""
        what = f"the start of node {self.number}"
        self.wait_log(re.escape(self._started), what=what, seconds=seconds, since=self._started_at)

    def _match(self, pattern: str, since: int, *, was_up: bool) -> re.Match[str] | None:
        text = self.log_text(since)
        match = re.search(pattern, text)
        if match is None and not was_up:
            last = "\n".join(text.splitlines()[-_LAST_LINES:])
            raise CannotStart(f"node {self.number} has ended; the end of its log says why:\n{last}")
        return match
