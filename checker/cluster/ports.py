"""Free ports of 127.0.0.1 that stay free until a server takes them, also between a kill and a restart."""

from __future__ import annotations

import socket
import sys

from proofka.checker.cluster.wire import HOST


class Ports:
    """Ports for servers that start later.

    Linux lets a server listen at a port to which another socket is bound without listening. So the port stays bound
    here, and no outgoing connection takes the port while its server is down. Other systems do not let the server
    listen, so there the port is only free when it is chosen.
    """

    def __init__(self) -> None:
        self._held: list[socket.socket] = []

    def take(self) -> int:
        """Return a free port."""
        held = socket.socket()
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((HOST, 0))
        self._held.append(held)
        port: int = held.getsockname()[1]
        if not sys.platform.startswith("linux"):
            held.close()
        return port

    def close(self) -> None:
        """Give the ports back."""
        for held in self._held:
            held.close()
