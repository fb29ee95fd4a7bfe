"""Requests to one broker in Kafka's protocol, and the fields of the answers.

The messages that the cluster itself sends have one version each, which every release from 2.4 on understands. So a
broker is asked in milliseconds, without a client library that looks for another broker by itself.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterable
from typing import TypeVar

from proofka.checker.cluster.batches import unsigned_varint
from proofka.checker.cluster.errors import ClusterError

T = TypeVar("T")

HOST = "127.0.0.1"
CLIENT = "proofka-harness"
"""The client id of these requests."""


class NoAnswer(ClusterError):
    """A node that does not answer: it is down, paused or cut off, or the answer takes too long."""

    code = "K44"


def ask(port: int, api: int, version: int, body: bytes, *, flexible: bool = False, seconds: float = 5) -> Answer:
    """Return the answer to a request at a port of 127.0.0.1. ``flexible``: the version has tagged fields.

    Raise :class:`NoAnswer` when the answer is not there within the seconds.
    """
    header = struct.pack(">hhi", api, version, 1) + text(CLIENT) + (b"\0" if flexible else b"")
    try:
        with socket.create_connection((HOST, port), timeout=seconds) as connection:
            connection.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
            (length,) = struct.unpack(">i", _exactly(connection, 4))
            answer = Answer(_exactly(connection, length))
    except OSError as reason:
        raise NoAnswer(f"the node at port {port} does not answer: {reason}; start or resume the node first") from reason
    answer.int32()  # correlation id
    if flexible:
        answer.tags()
    return answer


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise ConnectionError("the connection ended within the answer")
        data += more
    return data


def int8(value: int) -> bytes:
    """Return the field of a number of one byte; a truth value is such a number."""
    return struct.pack(">b", value)


def int16(value: int) -> bytes:
    """Return the field of a number of two bytes."""
    return struct.pack(">h", value)


def int32(value: int) -> bytes:
    """Return the field of a number of four bytes."""
    return struct.pack(">i", value)


def int64(value: int) -> bytes:
    """Return the field of a number of eight bytes."""
    return struct.pack(">q", value)


def text(value: str | None) -> bytes:
    """Return the field of a text, or of no text."""
    if value is None:
        return int16(-1)
    data = value.encode()
    return int16(len(data)) + data


def array(items: Iterable[bytes]) -> bytes:
    """Return the field of a list of encoded items."""
    encoded = list(items)
    return int32(len(encoded)) + b"".join(encoded)


def unsigned(value: int) -> bytes:
    """Return a number of variable length."""
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def compact_text(value: str) -> bytes:
    """Return the field of a text in a flexible version."""
    data = value.encode()
    return unsigned(len(data) + 1) + data


def compact_array(items: Iterable[bytes]) -> bytes:
    """Return the field of a list in a flexible version."""
    encoded = list(items)
    return unsigned(len(encoded) + 1) + b"".join(encoded)


NO_TAGS = b"\0"
"""The end of a structure without tagged fields, in a flexible version."""


class Answer:
    """The fields of an answer or of a record, read in order. The methods that begin with "compact" read flexible
    versions.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def _number(self, kind: str) -> int:
        value: int
        (value,) = struct.unpack_from(kind, self._data, self._position)
        self._position += struct.calcsize(kind)
        return value

    def int8(self) -> int:
        """Read a number of one byte."""
        return self._number(">b")

    def int16(self) -> int:
        """Read a number of two bytes."""
        return self._number(">h")

    def int32(self) -> int:
        """Read a number of four bytes."""
        return self._number(">i")

    def int64(self) -> int:
        """Read a number of eight bytes."""
        return self._number(">q")

    def raw(self, count: int) -> bytes:
        """Read bytes."""
        self._position += count
        return self._data[self._position - count : self._position]

    def unsigned(self) -> int:
        """Read a number of variable length."""
        value, self._position = unsigned_varint(self._data, self._position)
        return value

    def text(self) -> str | None:
        """Read a text, or no text."""
        length = self.int16()
        return None if length < 0 else self.raw(length).decode()

    def compact_text(self) -> str | None:
        """Read a text, or no text."""
        length = self.unsigned()
        return None if length == 0 else self.raw(length - 1).decode()

    def array(self, item: Callable[[], T]) -> tuple[T, ...]:
        """Read a list, whose items a function reads; an absent list is empty."""
        return tuple(item() for _ in range(self.int32()))

    def compact_array(self, item: Callable[[], T]) -> tuple[T, ...]:
        """Read a list, whose items a function reads; an absent list is empty."""
        return tuple(item() for _ in range(self.unsigned() - 1))

    def tags(self) -> dict[int, bytes]:
        """Read the tagged fields at the end of a structure, by number."""
        return {self.unsigned(): self.raw(self.unsigned()) for _ in range(self.unsigned())}
