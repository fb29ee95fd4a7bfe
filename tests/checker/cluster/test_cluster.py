"""A real cluster: what is done to its nodes, and what their disks and their views show then."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import groupby

import pytest

from proofka.checker.cluster.admin import Refused
from proofka.checker.cluster.batches import Batch
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.disk import DurableRecords, log_end
from proofka.checker.cluster.errors import JarsUnavailable, MissingProgram
from proofka.checker.cluster.jars import newest_patch
from proofka.checker.cluster.metadata_log import BrokerState, PartitionState, read_states
from proofka.checker.cluster.metadata_view import error_name
from proofka.checker.cluster.plan import CONTROLLER, ClusterPlan
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.waiting import until
from proofka.checker.cluster.wire import Answer, array, ask, int16, int32, text
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


def produce(cluster: Cluster, leader: int, topic: str, value: bytes) -> int:
    """Write a record at the leader, and return its offset. A broker knows its leadership some time after its view."""
    found = until(lambda: produced(cluster, leader, topic, value), what=f"{leader} leads {topic}", seconds=SECONDS)
    return found[0]


def produced(cluster: Cluster, leader: int, topic: str, value: bytes) -> tuple[int] | None:
    """Return the offset of a new record, or None where the broker is not the leader yet."""
    data = batch(0, [value], epoch=-1, time=round(time.time() * 1000))
    records = array([text(topic) + array([int32(0) + int32(len(data)) + data])])
    port = cluster.harness_port(leader)
    answer: Answer = ask(port, 0, 7, text(None) + int16(-1) + int32(10_000) + records, seconds=SECONDS)
    answer.int32(), answer.text(), answer.int32(), answer.int32()
    error = error_name(answer.int16())
    assert error in {"", "NOT_LEADER_OR_FOLLOWER"}
    return None if error else (answer.int64(),)


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


def test_a_topic_has_its_own_settings_and_those_of_its_brokers(cluster: Cluster) -> None:
    cluster.create_topic("settings", [(1, 2, 3)], {"retention.ms": "-1"})
    assert cluster.admin.settings_of_topic("settings")["retention.ms"] == "-1"
    assert cluster.admin.settings_of_topic("settings")["min.insync.replicas"] == "2"


def test_the_start_of_a_log_changes(cluster: Cluster) -> None:
    cluster.create_topic("deleted", [(1, 2, 3)])
    produce(cluster, 1, "deleted", b"a")
    produce(cluster, 1, "deleted", b"b")
    cluster.admin.begin_to_delete_records("deleted", 1, leader=1)
    assert cluster.range_of(1, "deleted").start == 1


def test_eligible_leaders_are_those_that_left_below_the_minimum(cluster: Cluster) -> None:
    if cluster.release.numbers < (4, 1):
        pytest.skip("releases before 4.1 have no eligible leader replicas unless the plan asks for them")
    cluster.create_topic("eligible", [(1, 2, 3)])
    cluster.kill(3)
    wait_isr(cluster, "eligible", {1, 2})
    assert cluster.eligible_leaders(CONTROLLER, "eligible") == ()
    cluster.kill(2)
    wait_isr(cluster, "eligible", {1})
    assert cluster.eligible_leaders(CONTROLLER, "eligible") == (2,)
    for broker in (2, 3):
        cluster.restart(broker)
    for broker in (2, 3):
        cluster.wait_up(broker)
    wait_isr(cluster, "eligible", {1, 2, 3})


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


def test_the_log_of_metadata_shows_leaders_and_brokers_in_order(cluster: Cluster) -> None:
    cluster.create_topic("told", [(1, 2, 3)])
    cluster.move_leader("told", 2)
    cluster.kill(3)
    wait_isr(cluster, "told", {1, 2})
    cluster.restart(3)
    cluster.wait_up(3)
    wait_isr(cluster, "told", {1, 2, 3})
    view = cluster.view(1, "told")
    for number in cluster.plan.nodes:
        states = until(lambda number=number: _told(cluster, number), what="the last ISR on disk", seconds=SECONDS)  # type: ignore[misc]
        told = [state for state in states if isinstance(state, PartitionState) and state.topic == "told"]
        isrs = [(state.leader, set(state.isr)) for state in told[-3:]]
        assert isrs == [(2, {1, 2, 3}), (2, {1, 2}), (2, {1, 2, 3})]
        assert [state.partition_epoch for state in told] == list(range(len(told)))
        assert (told[-1].isr, told[-1].replicas, told[-1].leader_epoch) == (view.isr, view.replicas, view.epoch)
        fences = [state.is_fenced for state in states if isinstance(state, BrokerState) and state.broker == 3]
        assert [is_fenced for is_fenced, _ in groupby(fences)][-3:] == [False, True, False]


def _told(cluster: Cluster, node: int) -> tuple[PartitionState | BrokerState, ...]:
    """Return the states on a node's disk once the last one of the topic has three replicas in sync again."""
    states = read_states(cluster.node(node).data)
    told = [state for state in states if isinstance(state, PartitionState) and state.topic == "told"]
    shrunk = any(len(state.isr) == 2 for state in told)
    return states if shrunk and len(told[-1].isr) == 3 else ()


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
