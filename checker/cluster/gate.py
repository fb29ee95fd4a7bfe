"""Gates hold the frames of a proxy that match a filter, until they are told to let a frame go."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from re import Pattern

from proofka.checker.cluster.apis import api_named
from proofka.checker.cluster.errors import ClusterError
from proofka.checker.cluster.event_loop import EventLoopThread
from proofka.checker.cluster.frames import REQUEST, RESPONSE, Frame
from proofka.checker.cluster.parcel import Parcel
from proofka.checker.cluster.waiting import until

Matching = Callable[[Frame], bool]
"""A predicate over frames."""


class NotHeld(ClusterError):
    """A frame that the gate does not hold, or holds no longer because a connection ended."""

    code = "K34"


class WrongSide(ClusterError):
    """A request or a response where only the other one makes sense."""

    code = "K35"


@dataclass(frozen=True)
class Filter:
    """The frames that a gate holds: ``link`` matches the whole name, ``client`` any part of the client id."""

    link: Pattern[str]
    side: str
    apis: frozenset[str] | None
    client: Pattern[str]
    when: Matching | None

    def matches(self, frame: Frame) -> bool:
        """Tell whether a frame is to be held. ``when`` sees only frames that match everything else."""
        return (
            frame.side == self.side
            and (self.apis is None or frame.api in self.apis)
            and self.link.fullmatch(frame.link) is not None
            and self.client.search(frame.client) is not None
            and (self.when is None or self.when(frame))
        )


def filter_of(link: str, side: str, *, apis: Iterable[str] | None, client: str, when: Matching | None) -> Filter:
    """Return a filter from regular expressions and names of requests. Raises UnknownApi, WrongSide."""
    if side not in (REQUEST, RESPONSE):
        raise WrongSide(f"{side!r} is no side of a frame; use {REQUEST!r} or {RESPONSE!r}")
    names = None if apis is None else frozenset(api_named(name).name for name in apis)
    return Filter(link=re.compile(link), side=side, apis=names, client=re.compile(client), when=when)


class Gate:
    """A place where frames wait; closed at first. ``number`` is greater than that of every earlier gate of the proxy.

    A held frame also holds the frames behind it on its connection and side. These come to the gates, one after the
    other, once the frame has gone.
    """

    def __init__(self, thread: EventLoopThread, gates: Gates, *, number: int, filter_: Filter) -> None:
        self.number = number
        self._thread = thread
        self._gates = gates
        self._filter = filter_
        self._is_open = False
        self._parcels: list[Parcel] = []

    @property
    def held(self) -> tuple[Frame, ...]:
        """The frames that wait here, in order of arrival at the gate."""
        self._thread.check()
        return tuple(parcel.frame for parcel in tuple(self._parcels))

    def open(self) -> None:
        """Let go all frames that are held, and all later frames."""
        self._thread.call(self._open)

    def close(self) -> None:
        """Hold later frames that match."""

        def closed() -> None:
            self._is_open = False

        self._thread.call(closed)

    def remove(self) -> None:
        """Let go all frames that are held, and end the gate."""

        def removed() -> None:
            self._gates.remove(self)
            self._open()

        self._thread.call(removed)

    def release(self, frame: Frame) -> None:
        """Forward a held frame; a gate that was made later can hold the frame next. Raises NotHeld."""
        self._thread.call(lambda: self._let_go(self._parcel_of(frame)))

    def drop(self, frame: Frame) -> None:
        """Close both connections of a held frame, which drops all frames that they hold. Raises NotHeld."""
        self._thread.call(lambda: self._parcel_of(frame).connection.close())

    def detach(self, frame: Frame) -> None:
        """Close the connection to the client of a held request, and keep the request with its connection to the broker.

        ``deliver`` or ``release`` forwards the request later, and ``drop`` discards it. A request becomes detached by
        itself where its client closes the connection. Raises NotHeld, WrongSide.
        """

        def detached() -> None:
            self._request(frame).connection.abandon()

        self._thread.call(detached)

    def deliver(self, frame: Frame) -> None:
        """Forward a detached request; its response is discarded. Raises NotHeld, WrongSide."""

        def delivered() -> None:
            parcel = self._request(frame)
            if not parcel.connection.is_abandoned:
                raise NotHeld(f"{frame} is not detached; detach it first, or release it")
            self._let_go(parcel)

        self._thread.call(delivered)

    def wait(self, matching: Matching | None = None, *, what: str, seconds: float) -> Frame:
        """Return the first held frame that matches, once there is one. Raises NotSeen."""

        def first() -> Frame | None:
            self._thread.check()
            return self._first(matching)

        found = until(first, what=what, seconds=seconds)
        assert found is not None
        return found

    def stops(self, frame: Frame) -> bool:
        """Tell whether the gate is closed and its filter matches; only the thread of the proxy calls this."""
        return not self._is_open and self._filter.matches(frame)

    def take(self, parcel: Parcel) -> None:
        """Hold a frame; only the thread of the proxy calls this."""
        self._parcels.append(parcel)

    def forget(self, parcel: Parcel) -> None:
        """Stop to hold a frame whose connection ended; only the thread of the proxy calls this."""
        self._parcels.remove(parcel)

    def _first(self, matching: Matching | None) -> Frame | None:
        frames = (parcel.frame for parcel in tuple(self._parcels))
        return next((frame for frame in frames if matching is None or matching(frame)), None)

    def _parcel_of(self, frame: Frame) -> Parcel:
        for parcel in self._parcels:
            if parcel.frame is frame:
                return parcel
        raise NotHeld(f"The gate does not hold {frame}; a connection has ended, or another call has let it go")

    def _request(self, frame: Frame) -> Parcel:
        if frame.side != REQUEST:
            raise WrongSide(f"{frame} is no request; only requests can be detached")
        return self._parcel_of(frame)

    def _open(self) -> None:
        self._is_open = True
        for parcel in tuple(self._parcels):
            if parcel in self._parcels:  # Letting one frame go can end the connection of another.
                self._let_go(parcel)

    def _let_go(self, parcel: Parcel) -> None:
        self._parcels.remove(parcel)
        parcel.gate = None
        parcel.lane.go_on()


class Gates:
    """The gates of a proxy, in order of their making."""

    def __init__(self, thread: EventLoopThread) -> None:
        self._thread = thread
        self._gates: list[Gate] = []
        self._made = 0

    def make(self, filter_: Filter) -> Gate:
        """Return a new, closed gate behind all others."""

        def made() -> Gate:
            gate = Gate(self._thread, self, number=self._made, filter_=filter_)
            self._made += 1
            self._gates.append(gate)
            return gate

        return self._thread.call(made)

    def remove(self, gate: Gate) -> None:
        """Take a gate away; nothing happens where the gate is gone already."""
        if gate in self._gates:
            self._gates.remove(gate)

    def admit(self, parcel: Parcel) -> bool:
        """Tell whether no gate stops a frame. The first gate that stops the frame holds it."""
        for gate in self._gates:
            if gate.number > parcel.seen_by:
                stops = gate.stops(parcel.frame)
                parcel.seen_by = gate.number
                if stops:
                    parcel.gate = gate
                    gate.take(parcel)
                    return False
        return True
