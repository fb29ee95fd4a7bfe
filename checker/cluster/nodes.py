"""The nodes of a plan, with their ports, their links of the proxy, their settings and their formatted data folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from checker.cluster.configuration import Changed, node_properties, properties_text
from checker.cluster.node import Node, NodePorts
from checker.cluster.plan import CONTROLLER, ClusterPlan
from checker.cluster.ports import Ports
from checker.cluster.prepared import Prepared, copy_formatted, node_command
from checker.cluster.proxy import Proxy
from checker.cluster.supervisor import Supervisor
from checker.cluster.wire import HOST

_PROTOCOLS = "CONTROLLER:PLAINTEXT,CLIENT:PLAINTEXT,REPLICA:PLAINTEXT,HARNESS:PLAINTEXT"


class Nodes:
    """Makes the nodes of a plan; ``clients`` has the port of the proxy where clients reach each broker."""

    def __init__(self, plan: ClusterPlan, *, ports: Ports, supervisor: Supervisor, proxy: Proxy) -> None:
        self._plan = plan
        self._supervisor = supervisor
        self._own = {node: _own_ports(plan, node, ports) for node in plan.nodes}
        self.clients: dict[int, int] = {}
        self._replicas: dict[int, int] = {}
        self._controllers = {CONTROLLER: _port(self._own[CONTROLLER].controller)}
        for broker in plan.all_brokers:
            self.clients[broker] = proxy.listen(f"client->{broker}", _port(self._own[broker].client))
            self._replicas[broker] = proxy.listen(f"replica->{broker}", _port(self._own[broker].replica))
        for broker in plan.brokers:
            self._controllers[broker] = proxy.listen(f"{broker}->controller", self._controllers[CONTROLLER])

    def properties(self, number: int) -> tuple[dict[str, str], tuple[Changed, ...]]:
        """Return the settings of a node, and what is not as the deployment gives it."""
        given = self._plan.given(number)
        return node_properties(given, self._facts(number), is_broker=number in self._plan.all_brokers)

    def make(self, number: int, classpath: Sequence[Path], prepared: Prepared) -> Node:
        """Return a node that is formatted and was never started."""
        folder = self._folder(number)
        folder.mkdir()
        settings = folder / "server.properties"
        settings.write_text(properties_text(self.properties(number)[0]), encoding="ascii")
        command = node_command(classpath, settings, options=(f"-XX:SharedArchiveFile={prepared.archive}",))
        node = Node(number, folder=folder, ports=self._own[number], command=command, supervisor=self._supervisor)
        copy_formatted(prepared, node.data, node=number, is_controller=number == CONTROLLER)
        return node

    def _folder(self, number: int) -> Path:
        return self._supervisor.folder / f"node-{number}"

    def _facts(self, number: int) -> Mapping[str, str]:
        plan, own = self._plan, self._own[number]
        listeners = {
            "CONTROLLER": own.controller,
            "CLIENT": own.client,
            "REPLICA": own.replica,
            "HARNESS": own.harness,
        }
        advertised = {"CLIENT": self.clients.get(number), "REPLICA": self._replicas.get(number), "HARNESS": own.harness}
        roles = ["broker"] * (number in plan.all_brokers) + ["controller"] * (number == CONTROLLER)
        return {
            "roles": ",".join(roles),
            "node": str(number),
            "data": str(self._folder(number) / "data"),
            "listeners": _urls(listeners),
            "advertised": _urls(advertised),
            "protocols": _PROTOCOLS,
            "voters": f"{CONTROLLER}@{HOST}:{self._controllers[number]}",
            "session": str(plan.session_ms),
            "heartbeat": str(plan.heartbeat_ms),
            "internal": str(plan.internal_replicas),
        }


def _own_ports(plan: ClusterPlan, node: int, ports: Ports) -> NodePorts:
    def taken(is_needed: bool) -> int | None:
        return ports.take() if is_needed else None

    is_broker = node in plan.all_brokers
    return NodePorts(
        client=taken(is_broker),
        replica=taken(is_broker),
        harness=taken(is_broker),
        controller=taken(node == CONTROLLER),
    )


def _port(port: int | None) -> int:
    assert port is not None, "the node has no such listener"
    return port


def _urls(listeners: Mapping[str, int | None]) -> str:
    return ",".join(f"{name}://{HOST}:{port}" for name, port in listeners.items() if port is not None)
