"""Frames of the Kafka protocol: the header of a request or response, and the bytes of its body."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from proofka.checker.cluster.apis import APIS, Api, api_named
from proofka.checker.cluster.batches import unsigned_varint
from proofka.checker.cluster.errors import ClusterError

REQUEST = "request"
"""Side of a frame from a client to a broker."""
RESPONSE = "response"
"""Side of a frame from a broker to a client."""
LARGEST_BODY_BYTES = 1 << 20
"""Size of the largest frame with a body that is kept, in bytes. The proxy forwards larger frames too."""
LARGEST_FRAME_BYTES = 1 << 28
"""Size of the largest frame that is read at all, in bytes."""

_REQUEST_START = struct.Struct(">hhih")
_CORRELATION = struct.Struct(">i")
_API_VERSIONS_KEY = 18


class MalformedFrame(ClusterError):
    """Bytes that are no frame of the Kafka protocol."""

    code = "K32"


@dataclass(frozen=True, eq=False)
class Frame:
    """A request or a response at the proxy; two frames are equal only if they are the same frame.

    ``api`` is a name such as "Produce", ``client`` the client id of the request, ``body`` the bytes after the header,
    ``at`` the time of arrival in seconds since the epoch, ``size`` the bytes without the length field, ``connection``
    a number that no other connection of the proxy has. ``request`` is the request that a response answers.
    ``unread`` is the reason for an empty body that the proxy did not keep, and empty otherwise.
    """

    link: str
    side: str
    api: str
    version: int
    correlation: int
    client: str
    body: bytes
    at: float
    size: int = 0
    connection: int = 0
    request: Frame | None = None
    unread: str = ""

    def __str__(self) -> str:
        return f"{self.api} {self.side} v{self.version} number {self.correlation} of {self.client!r} at {self.link}"


@dataclass(frozen=True)
class RequestHeader:
    """The header of a request. ``api`` is None where the key is unknown."""

    key: int
    version: int
    correlation: int
    client: str
    api: Api | None
    length: int | None
    """Bytes of the header; None where the key is unknown, and with the key the presence of tagged fields."""


def skip_tags(data: bytes, at: int) -> int:
    """Return the position behind a section of tagged fields. Raises IndexError at the end of data."""
    count, at = unsigned_varint(data, at)
    for _ in range(count):
        _, at = unsigned_varint(data, at)
        size, at = unsigned_varint(data, at)
        at += size
    if at > len(data):
        raise IndexError
    return at


def request_header(data: bytes) -> RequestHeader:
    """Return the header of a request, from its frame without the length field. Raises MalformedFrame."""
    try:
        key, version, correlation, length = _REQUEST_START.unpack_from(data)
        end = _REQUEST_START.size + max(length, 0)
        if length < -1 or end > len(data):
            raise IndexError
        client = data[_REQUEST_START.size : end].decode("utf-8")
        api = APIS.get(key)
        after = None if api is None else skip_tags(data, end) if api.is_flexible(version) else end
    except (struct.error, IndexError, UnicodeDecodeError):
        raise MalformedFrame(
            f"{len(data)} bytes begin with {data[:16].hex()}, which is no header of a request; connect only Kafka "
            "clients without TLS and SASL to the proxy"
        ) from None
    return RequestHeader(key=key, version=version, correlation=correlation, client=client, api=api, length=after)


def response_correlation(data: bytes) -> int:
    """Return the correlation id of a response, from its frame without the length field. Raises MalformedFrame."""
    if len(data) < _CORRELATION.size:
        raise MalformedFrame(f"A response has only {len(data)} bytes; connect the proxy only to Kafka brokers")
    return int(_CORRELATION.unpack_from(data)[0])


def _response_body_start(data: bytes, request: Frame) -> int:
    api = api_named(request.api)
    # A broker answers ApiVersions before the client knows what the broker understands: never with tagged fields.
    if api.key == _API_VERSIONS_KEY or not api.is_flexible(request.version):
        return _CORRELATION.size
    try:
        return skip_tags(data, _CORRELATION.size)
    except IndexError:
        raise MalformedFrame(f"The response to {request} has no complete header") from None


def request_frame(data: bytes, *, link: str, connection: int, at: float) -> Frame:
    """Return a request, from its frame without the length field. Raises MalformedFrame."""
    header = request_header(data)
    unread = _reason_to_skip(len(data), key=header.key)
    return Frame(
        link=link,
        side=REQUEST,
        api=header.api.name if header.api else f"Unknown{header.key}",
        version=header.version,
        correlation=header.correlation,
        client=header.client,
        body=b"" if unread else data[header.length :],
        at=at,
        size=len(data),
        connection=connection,
        unread=unread,
    )


def response_frame(data: bytes, request: Frame, *, at: float) -> Frame:
    """Return the response to a request, from its frame without the length field. Raises MalformedFrame."""
    unread = request.unread if request.api.startswith("Unknown") else _reason_to_skip(len(data), key=None)
    return Frame(
        link=request.link,
        side=RESPONSE,
        api=request.api,
        version=request.version,
        correlation=request.correlation,
        client=request.client,
        body=b"" if unread else data[_response_body_start(data, request) :],
        at=at,
        size=len(data),
        connection=request.connection,
        request=request,
        unread=unread,
    )


def _reason_to_skip(size: int, *, key: int | None) -> str:
    if key is not None and key not in APIS:
        return f"API key {key} is unknown"
    return f"the frame has {size} bytes, more than {LARGEST_BODY_BYTES}" if size > LARGEST_BODY_BYTES else ""
