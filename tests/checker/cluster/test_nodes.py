"""The settings, ports and links of the nodes of a plan, before any node starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from proofka.checker.cluster.nodes import Nodes
from proofka.checker.cluster.nodes_of_modes import nodes_of
from proofka.checker.cluster.plan import CONTROLLER, ZOOKEEPER, ClusterPlan
from proofka.checker.cluster.ports import Ports
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.zookeeper_channels import WritingChannels, ZooKeeperChannels


@pytest.fixture
def nodes() -> Iterator[Callable[[ClusterPlan], Nodes]]:
    """Give a function that returns the nodes of a plan."""
    with ExitStack() as stack:
        supervisor, proxy = stack.enter_context(Supervisor()), stack.enter_context(Proxy())
        ports = stack.enter_context(closing(Ports()))
        yield lambda plan: nodes_of(plan, ports=ports, supervisor=supervisor, proxy=proxy)


def addresses(text: str) -> dict[str, int]:
    """Return the port of each listener."""
    return {name: int(port) for name, port in re.findall(r"(\w+)://127\.0\.0\.1:(\d+)", text)}


def test_brokers_advertise_ports_of_the_proxy_for_clients_and_followers(
    nodes: Callable[[ClusterPlan], Nodes],
) -> None:
    made = nodes(ClusterPlan("3.9.2"))
    for number in (1, 2, 3, CONTROLLER):
        settings = made.properties(number)[0]
        own, advertised = addresses(settings["listeners"]), addresses(settings["advertised.listeners"])
        assert set(advertised) - {"CONTROLLER"} == {"CLIENT", "REPLICA", "HARNESS"}
        assert own["HARNESS"] == advertised["HARNESS"]
        assert own["CLIENT"] != advertised["CLIENT"] == made.clients[number]
        assert own["REPLICA"] != advertised["REPLICA"]
        assert ("CONTROLLER" in own) == (number == CONTROLLER)


@pytest.mark.parametrize(("release", "tells"), [("3.8.1", False), ("3.9.2", True), ("4.1.2", True)])
def test_a_controller_that_tells_its_address_names_a_port_that_leads_nowhere(
    release: str, tells: bool, nodes: Callable[[ClusterPlan], Nodes]
) -> None:
    settings = nodes(ClusterPlan(release)).properties(CONTROLLER)[0]
    own, advertised = addresses(settings["listeners"]), addresses(settings["advertised.listeners"])
    assert ("CONTROLLER" in advertised) == tells
    assert advertised.get("CONTROLLER") != own["CONTROLLER"]


def test_each_broker_reaches_the_controller_by_a_port_of_its_own(nodes: Callable[[ClusterPlan], Nodes]) -> None:
    made = nodes(ClusterPlan("3.9.2"))
    voters = [made.properties(number)[0]["controller.quorum.voters"] for number in (CONTROLLER, 1, 2, 3)]
    assert len(set(voters)) == 4
    controller = made.properties(CONTROLLER)[0]
    assert voters[0] == f"100@127.0.0.1:{addresses(controller['listeners'])['CONTROLLER']}"


def test_a_controller_that_hosts_no_topics_is_no_broker(nodes: Callable[[ClusterPlan], Nodes]) -> None:
    plan = ClusterPlan("3.9.2", brokers=(1, 2), hosts_internal_topics=False)
    controller = nodes(plan).properties(CONTROLLER)[0]
    assert controller["process.roles"] == "controller"
    assert set(addresses(controller["listeners"])) == {"CONTROLLER"}
    assert controller["offsets.topic.replication.factor"] == "2"


def test_nodes_have_the_settings_of_the_plan(nodes: Callable[[ClusterPlan], Nodes]) -> None:
    plan = ClusterPlan(
        "3.9.2",
        broker_settings={"min.insync.replicas": "2"},
        controller_settings={"x": "controller"},
        own_settings={2: {"broker.rack": "a", "min.insync.replicas": "1"}},
        session_ms=9000,
        heartbeat_ms=2000,
    )
    made = nodes(plan)
    one, two, controller = (made.properties(number)[0] for number in (1, 2, CONTROLLER))
    assert (one["min.insync.replicas"], one.get("broker.rack"), one.get("x")) == ("2", None, None)
    assert (two["min.insync.replicas"], two["broker.rack"]) == ("1", "a")
    assert (controller["min.insync.replicas"], controller["x"]) == ("2", "controller")
    assert (one["broker.session.timeout.ms"], one["broker.heartbeat.interval.ms"]) == ("9000", "2000")
    assert one["offsets.topic.replication.factor"] == "1"


def test_each_broker_reaches_zookeeper_by_a_port_of_its_own(nodes: Callable[[ClusterPlan], Nodes]) -> None:
    made = nodes(ClusterPlan("2.8.2", mode=ZOOKEEPER, session_ms=9000))
    settings = [made.properties(number)[0] for number in (CONTROLLER, 1, 2, 3)]
    assert len({one["zookeeper.connect"] for one in settings}) == 4
    assert [one["broker.id"] for one in settings] == ["100", "1", "2", "3"]
    assert {one["zookeeper.session.timeout.ms"] for one in settings} == {"9000"}
    assert not {"process.roles", "node.id", "controller.quorum.voters"} & set(settings[0])


def test_with_zookeeper_controller_and_brokers_reach_each_other_through_the_proxy(
    nodes: Callable[[ClusterPlan], Nodes],
) -> None:
    made = nodes(ClusterPlan("2.8.2", mode=ZOOKEEPER))
    controller = made.properties(CONTROLLER)[0]
    here, told = addresses(controller["listeners"]), addresses(controller["advertised.listeners"])
    for number in (1, 2, 3):
        settings = made.properties(number)[0]
        own, advertised = addresses(settings["listeners"]), addresses(settings["advertised.listeners"])
        asked_at = settings["control.plane.listener.name"]
        assert asked_at in told and told[asked_at] != here[asked_at]
        assert advertised["CONTROLLER"] != own["CONTROLLER"]
        assert set(advertised) == set(own)
    assert controller["control.plane.listener.name"] == "CONTROLLER"
    assert len({*here.values(), *told.values()}) == len(here) + len(told) - len({"HARNESS", "CONTROLLER"})


@pytest.mark.parametrize(
    ("release", "settings", "asks"),
    [
        ("2.6.3", {}, False),
        ("2.7.2", {}, True),
        ("2.8.2", {"inter.broker.protocol.version": "2.6-IV0"}, False),
        ("2.8.2", {"inter.broker.protocol.version": "2.7"}, True),
    ],
)
def test_a_leader_asks_the_controller_for_an_isr_from_protocol_2_7_on(
    release: str, settings: dict[str, str], asks: bool, nodes: Callable[[ClusterPlan], Nodes]
) -> None:
    channels = nodes(ClusterPlan(release, mode=ZOOKEEPER, broker_settings=settings)).channels
    assert type(channels) is (ZooKeeperChannels if asks else WritingChannels)
