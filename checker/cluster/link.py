"""A link: one port of the proxy, and the connections through the port to one node."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from itertools import count

from proofka.checker.cluster.connection import Connection
from proofka.checker.cluster.event_loop import EventLoopThread
from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.lane import Desk

LOOPBACK = "127.0.0.1"
"""Address of everything that the proxy listens on and connects to."""


class Link:
    """One port of the proxy. Only the thread of the proxy uses the class.

    ``is_refused`` refuses new connections, ``is_kept_open`` keeps clients' connections whose broker has gone.
    ``carrier``: makes a connection, which knows the protocol.
    """

    def __init__(
        self,
        name: str,
        target_port: int,
        *,
        desk: Desk,
        thread: EventLoopThread,
        numbers: count[int],
        carrier: Callable[..., Connection] = Connection,
    ) -> None:
        self.name = name
        self.is_refused = False
        self.is_kept_open = False
        self._target_port = target_port
        self._desk = desk
        self._thread = thread
        self._numbers = numbers
        self._carrier = carrier
        self._connections: list[Connection] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.base_events.Server

    async def listen(self) -> int:
        """Begin to accept connections, and return the port."""
        self._server = await asyncio.start_server(self._accept, LOOPBACK, 0)
        return int(self._server.sockets[0].getsockname()[1])

    def connections(self, client: str = "") -> Iterator[Connection]:
        """Yield the connections that still have a client whose id has a match of the regular expression."""
        for connection in tuple(self._connections):
            if not connection.is_abandoned and re.search(client, connection.client_id):
                yield connection

    def waiting(self, side: str) -> tuple[Frame, ...]:
        """Return the frames of a side that are not forwarded yet, also those without a client any more."""
        return tuple(frame for connection in self._connections for frame in connection.waiting(side))

    def outstanding(self, api: str, client: str) -> int:
        """Return the number of requests of this name that the node has and has not answered."""
        return sum(
            1
            for connection in self._connections
            for frame in connection.forwarded.values()
            if frame.api == api and re.search(client, frame.client)
        )

    async def close(self) -> None:
        """Stop to accept connections, and end all that there are."""
        self._server.close()
        for connection in tuple(self._connections):
            connection.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The event loop itself keeps only weak references to tasks.
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._thread.fail(error)

    async def _serve(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        if self.is_refused:
            to_client.transport.abort()
            return
        try:
            from_broker, to_broker = await asyncio.open_connection(LOOPBACK, self._target_port)
        except OSError:
            to_client.transport.abort()  # The client sees what a node that is down shows: no connection.
            return
        if self.is_refused:
            to_client.transport.abort()
            to_broker.transport.abort()
            return
        connection = self._carrier(
            self._desk,
            self.name,
            number=next(self._numbers),
            to_client=to_client,
            to_broker=to_broker,
            stays_open=lambda: self.is_kept_open,
        )
        self._connections.append(connection)
        try:
            await connection.serve(from_client, from_broker)
        finally:
            self._connections.remove(connection)
