"""A server that answers as a broker, one answer for each connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from proofka.checker.cluster.wire import HOST, int32


@contextmanager
def broker(*answers: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Serve one answer for each connection; give the port and the requests that came."""
    requests: list[bytes] = []
    with socket.create_server((HOST, 0)) as server:

        def serve() -> None:
            for answer in answers:
                connection, _ = server.accept()
                with connection:
                    requests.append(connection.recv(4096))
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], requests
        thread.join(10)


def framed(body: bytes) -> bytes:
    """Return an answer with its length and a correlation id."""
    return int32(len(body) + 4) + int32(1) + body
