"""The proxy carries frames both ways, and ends connections as a network does."""

from __future__ import annotations

import socket
import struct

import pytest

from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.event_loop import ProxyFailed
from proofka.checker.cluster.frames import LARGEST_BODY_BYTES, Frame
from proofka.checker.cluster.proxy import UnknownLink
from proofka.checker.cluster.waiting import until
from tests.checker.cluster.network import LINK, Network
from tests.checker.cluster.wire import SECONDS

FETCH, METADATA, PRODUCE = 1, 3, 0


def test_frames_go_both_ways_and_stand_in_the_record(network: Network) -> None:
    client = network.client()
    client.send(METADATA, 7, 5, client="p", body=b"ask")
    broker = network.broker.connection()
    assert broker.wait_requests(1) == [5]
    broker.answer(5, b"say")
    assert client.receive() == struct.pack(">i", 5) + b"say"
    asked, said = (entry.frame for entry in network.proxy.seen)
    assert (asked.link, asked.side, asked.api, asked.version) == (LINK, "request", "Metadata", 7)
    assert (asked.correlation, asked.client, asked.body) == (5, "p", b"ask")
    assert (said.side, said.api, said.version, said.client, said.body) == ("response", "Metadata", 7, "p", b"say")
    assert said.request is asked
    assert [entry.index for entry in network.proxy.seen] == [0, 1]
    assert asked.at <= network.proxy.seen[0].at <= said.at


def test_a_large_frame_is_forwarded_without_a_body_in_the_record(network: Network) -> None:
    client = network.client()
    large = bytes(range(256)) * (LARGEST_BODY_BYTES // 256 + 1)
    client.send(METADATA, 7, 1, body=large)
    broker = network.broker.connection()
    broker.wait_requests(1)
    assert broker.frames[0].endswith(large)
    broker.answer(1, large)
    assert client.receive() == struct.pack(">i", 1) + large
    assert [(entry.frame.body, "more than" in entry.frame.unread) for entry in network.proxy.seen] == [(b"", True)] * 2


def test_a_connection_that_a_client_ends_also_ends_at_the_broker(network: Network) -> None:
    client = network.client()
    broker = network.broker.connection()
    client.socket.close()
    broker.wait_end()


def test_a_connection_that_a_broker_ends_also_ends_at_the_client(network: Network) -> None:
    client = network.client()
    network.broker.connection().socket.shutdown(socket.SHUT_RDWR)
    assert client.receive() is None


def test_a_client_of_a_broker_that_is_down_loses_its_connection(network: Network) -> None:
    network.broker.stop()
    assert network.client().receive() is None


def test_a_kept_connection_stays_silent_after_its_broker_and_ends_by_a_cut(network: Network) -> None:
    network.proxy.keep_open(LINK, True)
    client = network.client()
    client.send(METADATA, 7, 1)
    network.broker.connection().wait_requests(1)
    network.broker.stop()
    until(lambda: not network.proxy.outstanding(LINK, "Metadata"), what="end of the broker", seconds=SECONDS)
    client.send(METADATA, 7, 2)
    network.wait_fate("request", 2, "dropped")
    assert client.is_silent()
    network.proxy.cut(LINK)
    assert client.receive() is None


def test_a_cut_ends_only_connections_of_matching_clients(network: Network) -> None:
    kept, cut = network.client(), network.client()
    kept.send(METADATA, 7, 1, client="consumer")
    cut.send(METADATA, 7, 2, client="producer")
    until(lambda: len(network.proxy.seen) == 2, what="both requests", seconds=SECONDS)
    network.proxy.cut(LINK, client="^prod")
    assert cut.receive() is None
    assert kept.is_silent()


def test_a_refused_link_ends_connections_until_it_accepts_again(network: Network) -> None:
    before = network.client()
    network.broker.connection(0)
    network.proxy.refuse("client->.*")
    assert before.receive() is None
    assert network.client().receive() is None
    network.proxy.accept(LINK)
    after = network.client()
    after.send(METADATA, 7, 1)
    assert network.broker.connection(1).wait_requests(1) == [1]


def test_outstanding_counts_requests_that_a_broker_has_not_answered(network: Network) -> None:
    client = network.client()
    client.send(METADATA, 7, 1, client="a")
    client.send(METADATA, 7, 2, client="b")
    client.send(FETCH, 4, 3, client="a")
    broker = network.broker.connection()
    broker.wait_requests(3)
    assert network.proxy.outstanding(LINK, "Metadata") == 2
    assert network.proxy.outstanding(LINK, "Metadata", "b") == 1
    broker.answer(1)
    client.receive()
    assert network.proxy.outstanding(LINK, "Metadata") == 1
    assert network.proxy.outstanding("client->.", "Fetch") == 1


@pytest.mark.parametrize("version, start", [(7, b"\xff\xff"), (9, b"\x00\x00"), (7, b"\x00\x01t"), (9, b"\x00\x02t")])
@pytest.mark.parametrize("acks, count", [(0, 0), (1, 1), (-1, 1)])
def test_a_produce_request_is_outstanding_unless_its_acks_are_0(
    network: Network, version: int, start: bytes, acks: int, count: int
) -> None:
    client = network.client()
    client.send(PRODUCE, version, 1, body=start + struct.pack(">h", acks))
    network.broker.connection().wait_requests(1)
    assert network.proxy.outstanding(LINK, "Produce") == count


def test_wait_seen_looks_only_behind_an_index(network: Network) -> None:
    client = network.client()
    client.send(METADATA, 7, 1)
    first = network.proxy.wait_seen(lambda entry: True, what="a frame", seconds=SECONDS)
    with pytest.raises(NotSeen):
        network.proxy.wait_seen(lambda entry: True, after=first.index, what="another frame", seconds=0)
    client.send(METADATA, 7, 2)
    second = network.proxy.wait_seen(lambda entry: True, after=first.index, what="another frame", seconds=SECONDS)
    assert second.frame.correlation == 2


def test_an_unknown_link_is_an_error(network: Network) -> None:
    with pytest.raises(UnknownLink, match="client->1"):
        network.proxy.cut("client->2")
    with pytest.raises(UnknownLink):
        network.proxy.listen(LINK, network.broker.port)


def test_bytes_that_are_no_frame_end_the_connection_and_the_next_call_raises(network: Network) -> None:
    client = network.client()
    client.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert client.receive() is None
    with pytest.raises(ProxyFailed, match="TLS"):
        until(lambda: network.proxy.seen and None, what="an error", seconds=SECONDS)


def test_a_response_without_a_request_is_an_error(network: Network) -> None:
    client = network.client()
    network.broker.connection().answer(9)
    assert client.receive() is None
    with pytest.raises(ProxyFailed, match="9"):
        until(lambda: network.proxy.seen and None, what="an error", seconds=SECONDS)


def test_an_error_in_a_predicate_is_raised_by_the_next_call(network: Network) -> None:
    def broken(frame: Frame) -> bool:
        raise ValueError("broken")

    gate = network.proxy.gate(LINK, when=broken)
    client = network.client()
    client.send(METADATA, 7, 1)
    assert client.receive() is None
    with pytest.raises(ProxyFailed, match="broken"):
        gate.wait(what="an error", seconds=SECONDS)


def test_a_predicate_that_calls_the_proxy_is_an_error(network: Network) -> None:
    gate = network.proxy.gate(LINK, when=lambda frame: network.proxy.outstanding(LINK, "Fetch") > 0)
    network.client().send(METADATA, 7, 1)
    with pytest.raises(ProxyFailed, match="predicate"):
        gate.wait(what="an error", seconds=SECONDS)
