"""A connection of a client through the proxy to a broker."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Callable

from proofka.checker.cluster.frames import (
    LARGEST_FRAME_BYTES,
    REQUEST,
    Frame,
    MalformedFrame,
    request_frame,
    response_correlation,
    response_frame,
)
from proofka.checker.cluster.lane import Desk, Lane
from proofka.checker.cluster.one_way import is_answered
from proofka.checker.cluster.parcel import Parcel
from proofka.checker.cluster.passed import DROPPED

_LENGTH = struct.Struct(">i")


async def _read_frame(reader: asyncio.StreamReader) -> bytes | None:
    """Return a frame without its length field, or None at the end of the connection. Raises MalformedFrame."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        if not 0 <= length <= LARGEST_FRAME_BYTES:
            raise MalformedFrame(f"A frame says {length} bytes; connect only Kafka without TLS and SASL to the proxy")
        return await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError, OSError):
        return None


class Connection:
    """A client's connection to the proxy, and the proxy's connection to the broker for this client.

    Only the thread of the proxy uses the class. ``client_id`` is that of the latest request, empty at first.
    ``forwarded`` are the requests that the broker has not answered yet, by correlation id.
    """

    def __init__(
        self,
        desk: Desk,
        link: str,
        *,
        number: int,
        to_client: asyncio.StreamWriter,
        to_broker: asyncio.StreamWriter,
        stays_open: Callable[[], bool],
    ) -> None:
        self.client_id = ""
        self.forwarded: dict[int, Frame] = {}
        self.is_abandoned = False
        self._has_broker = True
        self._is_closed = False
        self._desk = desk
        self._link = link
        self._number = number
        self._to_client = to_client
        self._to_broker = to_broker
        self._stays_open = stays_open
        self._requests = Lane(desk, self._forward_request)
        self._responses = Lane(desk, self._forward_response)

    @property
    def number(self) -> int:
        """The number of the connection, as frames have it."""
        return self._number

    def waiting(self, side: str) -> tuple[Frame, ...]:
        """Return the frames of a side that are not forwarded yet, in order."""
        return (self._requests if side == REQUEST else self._responses).frames

    async def serve(self, from_client: asyncio.StreamReader, from_broker: asyncio.StreamReader) -> None:
        """Carry frames both ways until both connections have ended. Raises the error of a malformed frame."""
        results = await asyncio.gather(
            self._carry(from_client, self._take_request, end=self.abandon),
            self._carry(from_broker, self._take_response, end=self._lose_broker),
            return_exceptions=True,
        )
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _carry(
        self, reader: asyncio.StreamReader, take: Callable[[bytes], None], *, end: Callable[[], None]
    ) -> None:
        try:
            while True:
                data = await _read_frame(reader)
                if self._is_closed:
                    return
                if data is None:
                    end()
                    return
                take(data)
        except BaseException:
            self.close()
            raise

    def _take_request(self, data: bytes) -> None:
        frame = request_frame(data, link=self._link, connection=self._number, at=time.time())
        self.client_id = frame.client
        if self._has_broker:
            self._requests.put(self._parcel(frame, data, lane=self._requests, answered=is_answered(data)))
        else:
            self._desk.record.add(frame, DROPPED)

    def _take_response(self, data: bytes) -> None:
        correlation = response_correlation(data)
        request = self.forwarded.pop(correlation, None)
        if request is None:
            raise MalformedFrame(f"The broker of {self._link} answers number {correlation}, which no client has asked")
        frame = response_frame(data, request, at=time.time())
        if self.is_abandoned:
            self._desk.record.add(frame, DROPPED)
            self._end_if_idle()
        else:
            self._responses.put(self._parcel(frame, data, lane=self._responses, answered=False))

    def _parcel(self, frame: Frame, data: bytes, *, lane: Lane, answered: bool) -> Parcel:
        return Parcel(frame=frame, raw=self._raw(data), lane=lane, connection=self, is_answered=answered)

    def _raw(self, data: bytes) -> bytes:
        return _LENGTH.pack(len(data)) + data

    def _forward_request(self, parcel: Parcel) -> None:
        if parcel.is_answered:
            self.forwarded[parcel.frame.correlation] = parcel.frame
        # Nothing waits for buffers to empty: a node that is stopped by a signal must not stop the proxy.
        self._to_broker.write(parcel.raw)
        self._end_if_idle()

    def _forward_response(self, parcel: Parcel) -> None:
        self._to_client.write(parcel.raw)

    def abandon(self) -> None:
        """Close the client's connection. Requests that wait stay, and the broker's connection with them."""
        if self.is_abandoned or self._is_closed:
            return
        self.is_abandoned = True
        self._to_client.close()
        self._responses.drop_all()
        self._requests.note_detached()
        self._end_if_idle()

    def _lose_broker(self) -> None:
        self._has_broker = False
        self._to_broker.close()
        self._drop_all()
        if not self._stays_open():
            self.close()

    def _end_if_idle(self) -> None:
        if self.is_abandoned and self._requests.is_empty and not self.forwarded:
            self.close()

    def close(self) -> None:
        """Close both connections, and drop all frames that wait."""
        self._is_closed = True
        self._to_client.close()
        self._to_broker.close()
        self._drop_all()

    def _drop_all(self) -> None:
        self._responses.drop_all()
        self._requests.drop_all()
        self.forwarded.clear()
