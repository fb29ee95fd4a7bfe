"""Sessions complete the partitions of Fetch requests."""

from __future__ import annotations

import struct

import pytest

from proofka.checker.cluster.bodies import PartitionFetch
from proofka.checker.cluster.fetch_sessions import FetchSessions, UnknownSession
from proofka.checker.cluster.frames import Frame

VERSION = 7
SESSION = 40
"""A session id."""


def frame(side: str, body: bytes, *, link: str = "replica->1", request: Frame | None = None) -> Frame:
    """Return a Fetch frame of version 7."""
    return Frame(
        link=link,
        side=side,
        api="Fetch",
        version=VERSION,
        correlation=1,
        client="broker-2-fetcher-0",
        body=body,
        at=0.0,
        request=request,
    )


def topics(partitions: bytes, count: int) -> bytes:
    """Return an array with the topic "t", or with no topic."""
    return struct.pack(">ih", 1, 1) + b"t" + struct.pack(">i", count) + partitions if count else struct.pack(">i", 0)


def fetch(session: int, epoch: int, *, offsets: dict[int, int], forgotten: tuple[int, ...] = ()) -> Frame:
    """Return a Fetch request of a follower; ``offsets`` by partition."""
    named = b"".join(struct.pack(">iqqi", number, offset, 0, 1) for number, offset in offsets.items())
    gone = b"".join(struct.pack(">i", number) for number in forgotten)
    start = struct.pack(">iiiibii", 2, 500, 1, 1000, 0, session, epoch)
    return frame("request", start + topics(named, len(offsets)) + topics(gone, len(forgotten)))


def answer(request: Frame, session: int) -> Frame:
    """Return an empty response that begins or continues a session."""
    return frame("response", struct.pack(">ihii", 0, 0, session, 0), request=request)


def offsets(partitions: tuple[PartitionFetch, ...]) -> dict[int, int]:
    """Return the offset by partition."""
    return {each.place.partition: each.fetch_offset for each in partitions}


def begun(sessions: FetchSessions) -> None:
    """Begin a session with two partitions."""
    first = fetch(0, 0, offsets={0: 5, 1: 7})
    assert offsets(sessions.observe(first)) == {0: 5, 1: 7}
    assert sessions.observe(answer(first, SESSION)) == ()


def test_a_session_completes_partitions_that_a_request_leaves_out() -> None:
    sessions = FetchSessions()
    begun(sessions)
    assert offsets(sessions.observe(fetch(SESSION, 1, offsets={}))) == {0: 5, 1: 7}
    assert offsets(sessions.observe(fetch(SESSION, 2, offsets={1: 8}))) == {0: 5, 1: 8}
    assert offsets(sessions.observe(fetch(SESSION, 3, offsets={2: 0}, forgotten=(0,)))) == {1: 8, 2: 0}
    assert offsets(sessions.observe(fetch(SESSION, 4, offsets={}))) == {1: 8, 2: 0}


def test_a_full_request_ends_its_session() -> None:
    sessions = FetchSessions()
    begun(sessions)
    assert offsets(sessions.observe(fetch(SESSION, -1, offsets={0: 9}))) == {0: 9}
    with pytest.raises(UnknownSession, match=str(SESSION)):
        sessions.observe(fetch(SESSION, 2, offsets={}))


def test_a_response_without_a_session_begins_none() -> None:
    sessions = FetchSessions()
    first = fetch(0, 0, offsets={0: 5})
    sessions.observe(first)
    sessions.observe(answer(first, 0))
    with pytest.raises(UnknownSession):
        sessions.observe(fetch(SESSION, 1, offsets={}))


def test_a_session_of_another_link_is_another_session() -> None:
    sessions = FetchSessions()
    begun(sessions)
    elsewhere = frame("request", fetch(SESSION, 1, offsets={}).body, link="replica->2")
    with pytest.raises(UnknownSession):
        sessions.observe(elsewhere)
