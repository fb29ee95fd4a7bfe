"""A real cluster: what is done to its nodes, and what their disks and their views show then."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from checker.cluster.admin import Refused
from checker.cluster.batches import Batch
from checker.cluster.cluster import Cluster
from checker.cluster.disk import DurableRecords, log_end
from checker.cluster.errors import JarsUnavailable, MissingProgram
from checker.cluster.jars import newest_patch
from checker.cluster.plan import CONTROLLER, ClusterPlan
from checker.cluster.proxy import Proxy
from checker.cluster.supervisor import Supervisor
from checker.cluster.waiting import until
from checker.cluster.wire import Answer, array, ask, int16, int32, text
from tests.checker.cluster.segments import batch

pytestmark = pytest.mark.cluster

LINES = ("3.3", "3.9", "4.1", "4.4")
SECONDS = 60


@pytest.fixture(scope="module", params=LINES)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Start a cluster of each line of releases, for all tests of this file."""
    plan = ClusterPlan(newest_patch(request.param), broker_settings={"min.insync.replicas": "2"})
    try:
        with Supervisor() as supervisor, Proxy() as proxy, Cluster(plan, supervisor, proxy) as made:
            made.start()
            yield made
    except (MissingProgram, JarsUnavailable) as missing:
        pytest.skip(str(missing))


def produce(cluster: Cluster, leader: int, topic: str, value: bytes, *, acks: int = -1) -> int:
    """Write a record at the leader, and return its offset."""
    data = batch(0, [value], epoch=-1, time=round(time.time() * 1000))
    records = array([text(topic) + array([int32(0) + int32(len(data)) + data])])
    port = cluster.harness_port(leader)
    answer: Answer = ask(port, 0, 7, text(None) + int16(acks) + int32(10_000) + records, seconds=SECONDS)
    answer.int32(), answer.text(), answer.int32(), answer.int32()
    assert answer.int16() == 0
    return answer.int64()


def values(batches: tuple[Batch, ...]) -> list[bytes | None]:
    """Return the values of a log in order."""
    return [record.value for each in batches for record in each.records]


def wait_isr(cluster: Cluster, topic: str, isr: set[int]) -> None:
    """Wait until every broker believes in this ISR."""
    cluster.wait_view(lambda view: set(view.isr) == isr, topic, what=f"the ISR {isr}", seconds=SECONDS)


def wait_logs(cluster: Cluster, topic: str, expected: list[bytes], *, brokers: tuple[int, ...] = (1, 2, 3)) -> None:
    """Wait until the logs of brokers hold these values."""
    for broker in brokers:
        until(
            lambda broker=broker: values(cluster.batches(broker, topic)) == expected,  # type: ignore[misc]
            what=f"{expected} on disk of broker {broker}",
            seconds=SECONDS,
        )


def test_internal_topics_stand_on_the_node_of_the_controller_alone(cluster: Cluster) -> None:
    for topic in ("__consumer_offsets", "__transaction_state"):
        for broker in cluster.plan.all_brokers:
            view = cluster.view(broker, topic)
            assert (view.leader, view.replicas, view.isr) == (CONTROLLER, (CONTROLLER,), (CONTROLLER,))
    assert cluster.admin.coordinator_of("group") == CONTROLLER
    assert cluster.admin.committed_offset("group", "t") is None


def test_a_refused_request_has_the_error_of_kafka(cluster: Cluster) -> None:
    with pytest.raises(Refused) as refused:
        cluster.create_topic("unplaced", [(7,)])
    assert refused.value.error == "INVALID_REPLICA_ASSIGNMENT"


def test_each_disk_shows_the_records_while_its_broker_runs(cluster: Cluster) -> None:
    cluster.create_topic("shown", [(2, 1, 3)])
    assert [produce(cluster, 2, "shown", value) for value in (b"a", b"b")] == [0, 1]
    wait_logs(cluster, "shown", [b"a", b"b"])
    assert {each.leader_epoch for each in cluster.batches(1, "shown")} == {cluster.view(1, "shown").epoch}
    assert cluster.range_of(2, "shown").start == 0
    assert cluster.range_of(1, "shown").error == "NOT_LEADER_OR_FOLLOWER"


def test_settings_and_the_start_of_a_log_change(cluster: Cluster) -> None:
    cluster.create_topic("settings", [(1, 2, 3)], {"retention.ms": "-1"})
    assert cluster.admin.settings_of_topic("settings")["retention.ms"] == "-1"
    assert cluster.admin.settings_of_topic("settings")["min.insync.replicas"] == "2"
    cluster.admin.alter_topic("settings", {"retention.ms": None, "min.insync.replicas": "1"})
    until(
        lambda: cluster.admin.settings_of_topic("settings")["min.insync.replicas"] == "1",
        what="the changed setting",
        seconds=SECONDS,
    )
    produce(cluster, 1, "settings", b"a")
    produce(cluster, 1, "settings", b"b")
    assert cluster.admin.delete_records("settings", 1, leader=1) == 1
    assert cluster.range_of(1, "settings").start == 1


def test_a_leader_moves_on_purpose_without_a_copy_of_data(cluster: Cluster) -> None:
    cluster.create_topic("moved", [(1, 2, 3)])
    for leader in (3, 2, 2):
        view = cluster.move_leader("moved", leader)
        assert (view.leader, view.replicas[0], set(view.replicas)) == (leader, leader, {1, 2, 3})
    assert view.epoch == 2


def test_a_killed_leader_is_followed_by_another_and_comes_back(cluster: Cluster) -> None:
    cluster.create_topic("killed", [(1, 2, 3)])
    produce(cluster, 1, "killed", b"a")
    cluster.kill(1)
    wait_isr(cluster, "killed", {2, 3})
    leader = cluster.view(2, "killed").leader
    produce(cluster, leader, "killed", b"b")
    with pytest.raises(Refused):
        cluster.move_leader("killed", 1)
    cluster.restart(1)
    cluster.wait_up(1)
    wait_isr(cluster, "killed", {1, 2, 3})
    wait_logs(cluster, "killed", [b"a", b"b"])


def test_a_paused_broker_is_fenced_and_returns(cluster: Cluster) -> None:
    cluster.create_topic("paused", [(1, 2, 3)])
    cluster.pause(3)
    assert 3 not in cluster.responsive
    wait_isr(cluster, "paused", {1, 2})
    cluster.resume(3)
    wait_isr(cluster, "paused", {1, 2, 3})


def test_a_power_loss_takes_unflushed_records_of_one_broker(cluster: Cluster) -> None:
    cluster.create_topic("power", [(1, 2, 3)])
    cluster.create_topic("flushed", [(1, 2, 3)], {"flush.messages": "1"})
    for topic in ("power", "flushed"):
        for value in (b"a", b"b", b"c"):
            produce(cluster, 1, topic, value)
        wait_logs(cluster, topic, [b"a", b"b", b"c"])
    with pytest.raises(DurableRecords, match="flushed"):
        cluster.power_loss(2, {("flushed", 0): 1})
    cuts = cluster.power_loss(2, {("power", 0): 1})
    assert (cuts["power", 0].end_before, cuts["power", 0].end_after) == (3, 1)
    assert cuts["flushed", 0].end_after == 3
    assert values(cluster.batches(2, "power")) == [b"a"]
    wait_isr(cluster, "power", {1, 3})
    cluster.restart(2)
    cluster.wait_up(2)
    wait_isr(cluster, "power", {1, 2, 3})
    wait_logs(cluster, "power", [b"a", b"b", b"c"])


def test_a_broker_without_its_disk_begins_with_empty_logs(cluster: Cluster) -> None:
    cluster.create_topic("disk", [(1, 2, 3)])
    produce(cluster, 1, "disk", b"a")
    wait_logs(cluster, "disk", [b"a"])
    cluster.lose_disk(3)
    assert log_end(cluster.node(3).data / "disk-0") == 0
    wait_isr(cluster, "disk", {1, 2})
    cluster.restart(3)
    cluster.wait_up(3)
    wait_isr(cluster, "disk", {1, 2, 3})
    wait_logs(cluster, "disk", [b"a"])


def test_all_brokers_die_and_the_node_of_the_controller_stays(cluster: Cluster) -> None:
    cluster.create_topic("dead", [(1, 2, 3)])
    produce(cluster, 1, "dead", b"a")
    for broker in cluster.plan.brokers:
        cluster.kill(broker)
    cluster.wait_view(lambda view: view.leader == -1, "dead", what="no leader", seconds=SECONDS)
    assert cluster.responsive == (CONTROLLER,)
    assert cluster.admin.coordinator_of("group") == CONTROLLER
    for broker in cluster.plan.brokers:
        cluster.restart(broker)
    for broker in cluster.plan.brokers:
        cluster.wait_up(broker)
    wait_isr(cluster, "dead", {1, 2, 3})
    assert cluster.view(1, "dead").leader in (1, 2, 3)


def test_a_broker_that_is_stopped_hands_its_leadership_over(cluster: Cluster) -> None:
    cluster.create_topic("stopped", [(1, 2, 3)])
    cluster.stop(1)
    assert cluster.wait_view(lambda view: view.leader != 1, "stopped", what="another leader").leader in (2, 3)
    cluster.restart(1)
    cluster.wait_up(1)
    wait_isr(cluster, "stopped", {1, 2, 3})
