"""The views of brokers, read from answers of a server of the test."""

from __future__ import annotations

import socket
import struct

import pytest

from proofka.checker.cluster.metadata_view import View, error_name, live_brokers, metadata_of
from proofka.checker.cluster.wire import HOST, NoAnswer, array, int8, int16, int32, text
from tests.checker.cluster.answering import broker, framed


def metadata(*topics: bytes) -> bytes:
    """Return an answer to a Metadata request of version 7, with the brokers 2 and 1."""
    brokers = array([int32(number) + text("h") + int32(9) + text(rack) for number, rack in ((2, None), (1, "r"))])
    return framed(int32(0) + brokers + text("cluster") + int32(100) + array(topics))


def topic(name: str, *partitions: bytes, error: int = 0) -> bytes:
    """Return a topic of such an answer."""
    return int16(error) + text(name) + int8(0) + array(partitions)


def partition(number: int, leader: int, *, error: int = 0) -> bytes:
    """Return a partition of such an answer, in epoch 7, with the replicas 1 and 2 and the ISR 2."""
    sets = array([int32(1), int32(2)]) + array([int32(2)]) + array([int32(1)])
    return int16(error) + int32(number) + int32(leader) + int32(7) + sets


def test_the_view_is_that_of_the_partition() -> None:
    answer = metadata(topic("t", partition(1, 1), partition(0, 2)))
    with broker(answer, answer) as (port, requests):
        assert metadata_of(port, "t") == View(leader=2, epoch=7, isr=(2,), replicas=(1, 2), error="")
        assert metadata_of(port, "t", partition=1).leader == 1
    assert struct.unpack(">ihh", requests[0][:8]) == (len(requests[0]) - 4, 3, 7)
    assert requests[0].endswith(array([text("t")]) + int8(0))


def test_a_partition_without_leader_has_its_error() -> None:
    with broker(metadata(topic("t", partition(0, -1, error=5)))) as (port, _):
        view = metadata_of(port, "t")
    assert (view.leader, view.epoch, view.error) == (-1, 7, "LEADER_NOT_AVAILABLE")


def test_an_unknown_topic_or_partition_has_no_replicas() -> None:
    unknown = View(leader=-1, epoch=-1, isr=(), replicas=(), error="UNKNOWN_TOPIC_OR_PARTITION")
    with broker(metadata(topic("t", error=3)), metadata(topic("t", partition(0, 1)))) as (port, _):
        assert metadata_of(port, "t") == unknown
        assert metadata_of(port, "t", partition=5) == unknown


def test_live_brokers_are_in_the_order_of_their_ids() -> None:
    with broker(metadata()) as (port, _):
        assert live_brokers(port) == (1, 2)


def test_errors_have_the_names_of_kafka() -> None:
    assert [error_name(code) for code in (0, 3, 9999)] == ["", "UNKNOWN_TOPIC_OR_PARTITION", "ERROR_9999"]


def test_a_broker_that_is_down_gives_no_answer() -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(NoAnswer, match=str(port)):
        metadata_of(port, "t")


def test_a_broken_or_absent_answer_is_no_answer() -> None:
    with broker(metadata()[:20]) as (port, _), pytest.raises(NoAnswer, match="ended within"):
        metadata_of(port, "t")
    with socket.create_server((HOST, 0)) as silent, pytest.raises(NoAnswer, match="timed out"):
        metadata_of(silent.getsockname()[1], "t", seconds=0.05)
