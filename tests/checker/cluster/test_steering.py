"""The proxy steers a real cluster: late requests, followers that do not fetch, an ISR that does not grow."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from proofka.checker.cluster import bodies
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.errors import JarsUnavailable, MissingProgram
from proofka.checker.cluster.jars import newest_patch
from proofka.checker.cluster.messages import fields_of, read_body
from proofka.checker.cluster.plan import ClusterPlan
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.waiting import until
from proofka.checker.cluster.wire import array, int16, int32, text
from tests.checker.cluster.segments import batch
from tests.checker.cluster.wire import Client

pytestmark = pytest.mark.cluster

LINES = ("3.3", "3.9", "4.1", "4.4")
SECONDS = 60
PRODUCE, VERSION = 0, 7


@pytest.fixture(scope="module", params=LINES)
def steered(request: pytest.FixtureRequest) -> Iterator[tuple[Cluster, Proxy]]:
    """Start a cluster of each line of releases, for all tests of this file."""
    try:
        with (
            Supervisor() as supervisor,
            Proxy() as proxy,
            Cluster(ClusterPlan(newest_patch(request.param)), supervisor, proxy) as cluster,
        ):
            cluster.start()
            yield cluster, proxy
    except (MissingProgram, JarsUnavailable) as missing:
        pytest.skip(str(missing))


def client_of(cluster: Cluster, broker: int) -> Client:
    """Return a client that is connected to a broker through the proxy."""
    address = cluster.bootstrap.split(",")[cluster.plan.brokers.index(broker)]
    return Client(int(address.rpartition(":")[2]), seconds=SECONDS)


def produce(client: Client, topic: str, value: bytes, *, correlation: int = 1) -> None:
    """Send a record with acks=1."""
    data = batch(0, [value], epoch=-1, time=round(time.time() * 1000))
    records = array([text(topic) + array([int32(0) + int32(len(data)) + data])])
    body = text(None) + int16(1) + int32(10_000) + records
    client.send(PRODUCE, VERSION, correlation, client="producer", body=body)


def values(cluster: Cluster, broker: int, topic: str) -> list[bytes | None]:
    """Return the values in the log of a broker, in order."""
    return [record.value for each in cluster.batches(broker, topic) for record in each.records]


def wait_values(cluster: Cluster, broker: int, topic: str, expected: list[bytes]) -> None:
    """Wait until the log of a broker holds these values."""
    until(
        lambda: values(cluster, broker, topic) == expected,
        what=f"{expected} on disk of broker {broker}",
        seconds=SECONDS,
    )


def test_a_detached_request_is_appended_after_a_later_one(steered: tuple[Cluster, Proxy]) -> None:
    cluster, proxy = steered
    cluster.create_topic("late", [(1, 2, 3)])
    gate = proxy.gate(
        "client->1",
        apis={"Produce"},
        when=lambda frame: bodies.produce_request(frame).partitions[0].values == (b"early",),
    )
    with client_of(cluster, 1) as abandoned, client_of(cluster, 1) as other:
        produce(abandoned, "late", b"early")
        held = gate.wait(what="the first record", seconds=SECONDS)
        gate.detach(held)
        assert abandoned.receive() is None
        produce(other, "late", b"second")
        assert other.receive() is not None
    wait_values(cluster, 1, "late", [b"second"])
    mark = len(proxy.seen) - 1
    gate.deliver(held)
    wait_values(cluster, 1, "late", [b"second", b"early"])
    answer = proxy.wait_seen(
        lambda entry: entry.frame.request is held, after=mark, what="the answer to the late request", seconds=SECONDS
    )
    assert answer.fate == "dropped"
    (partition,) = bodies.produce_response(answer.frame).partitions
    assert (partition.error_code, partition.base_offset) == (0, 1)
    gate.remove()


def test_a_follower_whose_fetches_are_held_has_no_new_record(steered: tuple[Cluster, Proxy]) -> None:
    cluster, proxy = steered
    cluster.create_topic("held", [(1, 2, 3)])
    cluster.wait_view(lambda view: set(view.isr) == {1, 2, 3}, "held", what="the whole ISR", seconds=SECONDS)
    gate = proxy.gate("replica->1", apis={"Fetch"}, client="^broker-2-fetcher")
    gate.wait(what="a fetch of broker 2", seconds=SECONDS)
    assert proxy.outstanding("replica->1", "Fetch", "^broker-2-fetcher") == 0
    with client_of(cluster, 1) as client:
        produce(client, "held", b"a")
        assert client.receive() is not None
    wait_values(cluster, 3, "held", [b"a"])
    assert values(cluster, 2, "held") == []
    (held,) = gate.held
    assert bodies.fetch_request(held).replica_id == 2
    gate.remove()
    wait_values(cluster, 2, "held", [b"a"])


def test_an_isr_does_not_grow_while_its_request_is_held(steered: tuple[Cluster, Proxy]) -> None:
    cluster, proxy = steered
    cluster.create_topic("grown", [(1, 2, 3)])
    cluster.kill(3)
    cluster.wait_view(lambda view: set(view.isr) == {1, 2}, "grown", what="the smaller ISR", seconds=SECONDS)
    gate = proxy.gate("1->controller", apis={"AlterPartition"})
    cluster.restart(3)
    cluster.wait_up(3)
    held = gate.wait(what="a request for a larger ISR", seconds=SECONDS)
    assert any(set(each.new_isr) == {1, 2, 3} for each in bodies.alter_partition_request(held).partitions)
    assert set(cluster.view(1, "grown").isr) == {1, 2}
    gate.remove()
    cluster.wait_view(lambda view: set(view.isr) == {1, 2, 3}, "grown", what="the larger ISR", seconds=SECONDS)


def test_every_body_of_a_known_request_is_read(steered: tuple[Cluster, Proxy]) -> None:
    _, proxy = steered
    known = [entry.frame for entry in proxy.seen if fields_of(entry.frame.api + "Request", entry.frame.version)]
    for frame in known:
        assert read_body(frame)
    assert {"Produce", "Fetch", "AlterPartition", "BrokerHeartbeat", "BrokerRegistration"} <= {
        frame.api for frame in known
    }
