"""A proxy between clients and brokers that can hold, drop and delay each frame of the Kafka protocol."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from types import TracebackType

from proofka.checker.cluster.apis import api_named
from proofka.checker.cluster.connection import Connection
from proofka.checker.cluster.errors import ClusterError
from proofka.checker.cluster.event_loop import EventLoopThread
from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.gate import Gate, Gates, Matching, filter_of
from proofka.checker.cluster.lane import Desk
from proofka.checker.cluster.link import Link
from proofka.checker.cluster.passed import Passed, Record


class UnknownLink(ClusterError):
    """A name that no link of the proxy has, or a second link with the name of another."""

    code = "K36"


class Proxy:
    """A proxy with a port for each link. Its methods are called from any thread except the proxy's own.

    A method returns after its effect: a frame that ``Gate.release`` lets go is written when the call returns. Each
    parameter ``link`` of a method other than ``listen`` is a regular expression for the whole name of a link; each
    ``client`` is a regular expression for a part of a client id.
    """

    def __init__(self) -> None:
        self._thread = EventLoopThread("proxy")
        self._record = Record(self._thread.check)
        self._gates = Gates(self._thread)
        self._desk = Desk(gates=self._gates, record=self._record)
        self._links: dict[str, Link] = {}
        self._numbers = count(1)

    def __enter__(self) -> Proxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections and ports, and end the thread."""

        async def closed() -> None:
            for link in self._links.values():
                await link.close()

        self._thread.run(closed())
        self._thread.close()

    def listen(self, link: str, target_port: int, *, carrier: Callable[..., Connection] = Connection) -> int:
        """Return a new port whose connections lead to another port, as the link of this name.

        ``carrier``: makes a connection, for another protocol than Kafka's. Raises UnknownLink.
        """
        if link in self._links:
            raise UnknownLink(f"The proxy has a link {link!r} already; choose another name")
        made = Link(link, target_port, desk=self._desk, thread=self._thread, numbers=self._numbers, carrier=carrier)
        port = self._thread.run(made.listen())
        self._links[link] = made
        return port

    def gate(
        self,
        link: str,
        side: str = "request",
        *,
        apis: Iterable[str] | None = None,
        client: str = "",
        when: Matching | None = None,
    ) -> Gate:
        """Return a new gate, which is closed, for frames of one side ("request" or "response").

        ``apis`` are names such as "Produce"; None holds all. ``when`` runs in the thread of the proxy, so it may only
        look at its frame; an error in it closes the connection and is raised by the next call. Raises UnknownApi,
        WrongSide.
        """
        return self._gates.make(filter_of(link, side, apis=apis, client=client, when=when))

    @property
    def seen(self) -> Sequence[Passed]:
        """Every frame with its fate, in order. The sequence grows, and must not be changed."""
        self._thread.check()
        return self._record.entries

    def wait_seen(self, matching: Callable[[Passed], bool], *, after: int = -1, what: str, seconds: float) -> Passed:
        """Return the first entry of ``seen`` with an index above ``after`` that matches. Raises NotSeen."""
        return self._record.wait(matching, after=after, what=what, seconds=seconds)

    def cut(self, link: str, client: str = "") -> None:
        """Close connections with the frames they hold. Requests without a client any more (detached) stay.

        Raises UnknownLink.
        """
        links = self._matching(link)

        def closed() -> None:
            for each in links:
                for connection in each.connections(client):
                    connection.close()

        self._thread.call(closed)

    def outstanding(self, link: str, api: str, client: str = "") -> int:
        """Return the number of requests that a broker has and has not answered. Raises UnknownLink, UnknownApi."""
        links, name = self._matching(link), api_named(api).name
        return self._thread.call(lambda: sum(each.outstanding(name, client) for each in links))

    def waiting(self, link: str, side: str) -> tuple[Frame, ...]:
        """Return the frames of a side that a gate holds, or that wait behind such a frame, in order of arrival.

        Raises UnknownLink.
        """
        links = self._matching(link)
        frames = self._thread.call(lambda: [frame for each in links for frame in each.waiting(side)])
        return tuple(sorted(frames, key=lambda frame: frame.at))

    def has_client(self, connection: int) -> bool:
        """Tell whether the client of a connection, by the connection's number, has not closed its end."""
        links = list(self._links.values())
        return self._thread.call(
            lambda: any(each.number == connection for link in links for each in link.connections())
        )

    def refuse(self, link: str) -> None:
        """Close the connections of links as ``cut`` does, and refuse new ones. Raises UnknownLink."""
        self._set(link, lambda each: setattr(each, "is_refused", True))
        self.cut(link)

    def accept(self, link: str) -> None:
        """Allow new connections again. Raises UnknownLink."""
        self._set(link, lambda each: setattr(each, "is_refused", False))

    def keep_open(self, link: str, kept: bool) -> None:
        """Choose whether a client's connection stays open and silent once its broker's connection has ended.

        Such a connection ends by ``cut``, by ``refuse`` or by its client. Raises UnknownLink.
        """
        self._set(link, lambda each: setattr(each, "is_kept_open", kept))

    def _set(self, link: str, change: Callable[[Link], None]) -> None:
        links = self._matching(link)

        def changed() -> None:
            for each in links:
                change(each)

        self._thread.call(changed)

    def _matching(self, link: str) -> list[Link]:
        found = [each for name, each in self._links.items() if re.fullmatch(link, name)]
        if not found:
            raise UnknownLink(f"No link matches {link!r}; the proxy has {', '.join(self._links) or 'no link'}")
        return found
