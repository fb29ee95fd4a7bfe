"""The proxy carries ZooKeeper's frames: a gate holds a write of an ISR, and pings pass the gate."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import pytest

from proofka.checker.cluster.frames import REQUEST, RESPONSE, Frame
from proofka.checker.cluster.gate import Gate
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.waiting import until
from proofka.checker.cluster.zookeeper_channels import WritingChannels
from proofka.checker.cluster.zookeeper_connection import ZooKeeperConnection
from proofka.checker.cluster.zookeeper_frames import PING, isr_of_write, zookeeper_frame
from tests.checker.cluster.wire import SECONDS, Broker, Client, receive, send

STATE = "/brokers/topics/proofka-1/partitions/0/state"
GET_DATA, SET_DATA, PING_KIND = 4, 5, 11
PING_FRAME = struct.pack(">ii", PING, PING_KIND)


def text(value: str) -> bytes:
    """Return a field with its length."""
    return struct.pack(">i", len(value)) + value.encode()


def write(number: int, isr: list[int], path: str = STATE) -> bytes:
    """Return a write of the state of a partition, as a leader writes it."""
    state = json.dumps({"controller_epoch": 1, "leader": 1, "version": 1, "leader_epoch": 0, "isr": isr})
    return struct.pack(">ii", number, SET_DATA) + text(path) + text(state) + struct.pack(">i", 3)


def frame(data: bytes, side: str = REQUEST) -> Frame:
    """Return a frame of broker 1."""
    return zookeeper_frame(data, link="1->zookeeper", side=side, connection=1, at=0.0)


def test_the_isr_of_a_write_is_read_and_no_other_frame_has_one() -> None:
    assert isr_of_write(frame(write(7, [3, 1]))) == (1, 3)
    assert isr_of_write(frame(write(7, [3, 1], "/brokers/topics/proofka-1"))) is None
    assert isr_of_write(frame(write(7, [3, 1]), RESPONSE)) is None
    assert isr_of_write(frame(struct.pack(">ii", 1, GET_DATA) + text(STATE))) is None
    assert isr_of_write(frame(b"")) is None


@dataclass
class Session:
    """A session of broker 1 through the proxy. ``gate`` holds writes of an ISR."""

    channels: WritingChannels
    proxy: Proxy
    server: Broker
    client: Client
    gate: Gate

    def has(self, count: int) -> list[bytes]:
        """Return the frames that came to the server, once there are as many as said."""
        frames = self.server.connection().frames
        until(lambda: len(frames) >= count, what=f"{count} frames at the server", seconds=SECONDS)
        return frames


@pytest.fixture
def session() -> Iterator[Session]:
    """Give a session."""
    with ExitStack() as stack:
        proxy = stack.enter_context(Proxy())
        server = stack.enter_context(Broker())
        channels = WritingChannels()
        carrier = partial(ZooKeeperConnection, writes=channels.writes)
        port = proxy.listen("1->zookeeper", server.port, carrier=carrier)
        writes = channels.proposals(r"\d+")
        gate = proxy.gate(writes.link, writes.side, apis=writes.apis, when=writes.when)
        client = stack.enter_context(Client(port))
        yield Session(channels, proxy, server, client, gate)


def test_a_held_write_holds_later_requests_and_no_pings(session: Session) -> None:
    first, held, later = struct.pack(">ii", 1, GET_DATA) + text(STATE), write(2, [1, 2]), write(3, [1])
    for data in (first, held, later, PING_FRAME):
        send(session.client.socket, data)
    assert session.has(2) == [first, PING_FRAME]
    (waiting,) = session.gate.held
    assert session.channels.proposed_isr(waiting) == (1, 2)
    session.gate.release(waiting)
    assert session.has(3)[2] == held
    session.gate.open()
    assert session.has(4)[3] == later


def test_answers_and_watches_come_back_in_order(session: Session) -> None:
    send(session.client.socket, b"connect")
    session.has(1)
    server = session.server.connection().socket
    answers = [b"connected", struct.pack(">iqi", -1, 5, 0) + b"watch", struct.pack(">iqi", 1, 5, 0), PING_FRAME]
    for data in answers:
        send(server, data)
    assert [receive(session.client.socket) for _ in answers] == answers


def test_a_refused_link_ends_the_session(session: Session) -> None:
    send(session.client.socket, write(1, [1]))
    until(lambda: session.gate.held, what="the held write", seconds=SECONDS)
    session.proxy.refuse(session.channels.to_controller("1") + "|1->zookeeper")
    assert receive(session.client.socket) is None
    assert session.gate.held == ()
    session.server.connection().wait_end()


def test_the_wanted_isr_is_written_and_other_writes_fail_at_the_server(session: Session) -> None:
    session.channels.withhold((1, 2))
    for number, isr in enumerate(([1, 2, 3], [2, 1]), 1):
        send(session.client.socket, write(number, isr))
    until(lambda: session.gate.held, what="the wanted write", seconds=SECONDS)
    (failing,) = session.has(1)
    assert failing[:-4] == write(1, [1, 2, 3])[:-4]
    assert struct.unpack(">i", failing[-4:]) == (2**31 - 1,)
    session.gate.open()
    assert session.has(2)[1] == write(2, [2, 1])
    session.channels.withhold()
    send(session.client.socket, write(3, [1, 2]))
    assert session.has(3)[2][-4:] == failing[-4:]
    session.channels.admit()
    send(session.client.socket, write(4, [1]))
    assert session.has(4)[3] == write(4, [1])
