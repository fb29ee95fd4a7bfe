"""A server of ZooKeeper that keeps the metadata of a cluster."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

from proofka.checker.cluster.configuration import properties_text
from proofka.checker.cluster.errors import CannotStart
from proofka.checker.cluster.java import java_command
from proofka.checker.cluster.prepared import logging_properties
from proofka.checker.cluster.supervisor import Child, Supervisor
from proofka.checker.cluster.waiting import until
from proofka.checker.cluster.wire import HOST

TICK_MS = 500
"""Milliseconds of a tick: sessions end at ticks, and no session is shorter than two of them."""
LONGEST_SESSION_MS = 600_000
"""Milliseconds of the longest session that a broker is given."""
HEAP = "64m"
"""The largest heap of the server."""
_MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
_LAST_CHARACTERS = 2000


class ZooKeeper:
    """A server without others, at a port of 127.0.0.1. ``folder``: holds its settings, its data and its log."""

    def __init__(self, folder: Path, port: int, *, classpath: Sequence[Path], supervisor: Supervisor) -> None:
        self.port = port
        self._folder = folder
        self._classpath = classpath
        self._supervisor = supervisor
        self._child: Child | None = None

    def start(self, *, seconds: float) -> None:
        """Start the server, and wait until it takes connections. Raises ``CannotStart``, ``NotSeen``."""
        self._folder.mkdir()
        settings = self._folder / "zookeeper.properties"
        settings.write_text(
            properties_text(
                {
                    "clientPort": str(self.port),
                    "clientPortAddress": HOST,
                    "dataDir": str(self._folder / "data"),
                    "tickTime": str(TICK_MS),
                    "maxSessionTimeout": str(LONGEST_SESSION_MS),
                    "maxClientCnxns": "0",
                    "admin.enableServer": "false",
                }
            ),
            encoding="ascii",
        )
        # No replay takes the power of this server, so a write need not reach the disk.
        properties = {**logging_properties(), "zookeeper.forceSync": "no"}
        command = java_command(self._classpath, _MAIN, str(settings), heap=HEAP, properties=properties)
        child = self._child = self._supervisor.start("ZooKeeper", command, log=self._folder / "server.log")
        until(lambda: self._answers(child), what="the start of ZooKeeper", seconds=seconds)

    def _answers(self, child: Child) -> bool:
        try:
            socket.create_connection((HOST, self.port), timeout=1).close()
        except OSError:
            if child.is_alive:
                return False
            last = child.log.read_text(errors="replace")[-_LAST_CHARACTERS:]
            raise CannotStart(f"ZooKeeper has ended; the end of its log says why:\n{last}") from None
        return True

    def kill(self) -> None:
        """Kill the server; nothing if it has ended, or was never started."""
        if self._child is not None:
            self._child.kill()
