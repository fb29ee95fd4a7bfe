"""Two ends of a connection for tests of the proxy: a client, and a broker that answers when the test says so."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from proofka.checker.cluster.waiting import until

SECONDS = 10.0
"""Deadline of each observation, in seconds."""


def request(key: int, version: int, correlation: int, *, client: str = "c", body: bytes = b"") -> bytes:
    """Return a request with an inflexible header, without the length field."""
    name = client.encode()
    return struct.pack(">hhih", key, version, correlation, len(name)) + name + body


def response(correlation: int, body: bytes = b"") -> bytes:
    """Return a response with an inflexible header, without the length field."""
    return struct.pack(">i", correlation) + body


def send(end: socket.socket, data: bytes) -> None:
    """Send a frame."""
    end.sendall(struct.pack(">i", len(data)) + data)


def _read(end: socket.socket, count: int) -> bytes:
    """Return bytes from a connection, fewer than ``count`` only at its end."""
    data = bytearray()
    while len(data) < count and (part := end.recv(count - len(data))):
        data += part
    return bytes(data)


def receive(end: socket.socket) -> bytes | None:
    """Return the next frame without its length field, or None at the end of the connection."""
    with contextlib.suppress(ConnectionError):
        start = _read(end, 4)
        if len(start) == 4:
            (length,) = struct.unpack(">i", start)
            data = _read(end, length)
            return data if len(data) == length else None
    return None


def hang_up(end: socket.socket) -> None:
    """End a connection, also for a thread that reads from it."""
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


class Client:
    """A client that sends what a test says."""

    def __init__(self, port: int, *, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def send(self, key: int, version: int, correlation: int, *, client: str = "c", body: bytes = b"") -> None:
        """Send a request."""
        send(self.socket, request(key, version, correlation, client=client, body=body))

    def receive(self) -> bytes | None:
        """Return the next response, or None at the end of the connection."""
        return receive(self.socket)

    def is_silent(self) -> bool:
        """Tell whether the connection is open and has nothing to read."""
        self.socket.setblocking(False)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        finally:
            self.socket.settimeout(self._seconds)
        return False


@dataclass
class Accepted:
    """A connection that the broker accepted, with the requests that came so far. ``on_request`` is given each one."""

    socket: socket.socket
    on_request: Callable[[Accepted, bytes], None] = lambda connection, frame: None
    frames: list[bytes] = field(default_factory=list)
    has_ended: bool = False

    def correlations(self) -> list[int]:
        """Return the correlation ids of the requests that came so far."""
        return [struct.unpack_from(">i", frame, 4)[0] for frame in self.frames]

    def answer(self, correlation: int, body: bytes = b"") -> None:
        """Send a response."""
        send(self.socket, response(correlation, body))

    def wait_requests(self, count: int) -> list[int]:
        """Return the correlation ids of the requests, once there are as many as said."""
        until(lambda: len(self.frames) >= count, what=f"{count} requests at the broker", seconds=SECONDS)
        return self.correlations()

    def wait_end(self) -> None:
        """Wait until the other side has closed the connection."""
        until(lambda: self.has_ended, what="the end of a connection at the broker", seconds=SECONDS)

    def read_all(self) -> None:
        """Read requests until the connection ends."""
        while (frame := receive(self.socket)) is not None:
            self.frames.append(frame)
            self.on_request(self, frame)
        self.has_ended = True


class Broker:
    """A broker that accepts connections and answers only when the test says so.

    ``on_request`` is given each request with its connection, in a thread of the connection.
    """

    def __init__(
        self, on_request: Callable[[Accepted, bytes], None] = lambda connection, frame: None, *, port: int = 0
    ) -> None:
        self.accepted: list[Accepted] = []
        self._on_request = on_request
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._threads: list[threading.Thread] = []
        # A connection can be accepted while the broker stops: the end of this thread is awaited before the others'.
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End every connection and the port, as the end of a process does."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()
        for connection in self.accepted:
            with contextlib.suppress(OSError):
                connection.socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for connection in self.accepted:
            connection.socket.close()

    def connection(self, number: int = 0) -> Accepted:
        """Return a connection by the order of acceptance, once there is one."""
        until(lambda: len(self.accepted) > number, what=f"connection {number} at the broker", seconds=SECONDS)
        return self.accepted[number]

    def _accept(self) -> None:
        while True:
            try:
                end, _ = self._listener.accept()
            except OSError:
                return
            connection = Accepted(end, self._on_request)
            thread = threading.Thread(target=connection.read_all)
            self._threads.append(thread)
            self.accepted.append(connection)
            thread.start()
