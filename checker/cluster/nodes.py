"""The nodes of a plan, with their ports, their links of the proxy and their settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from proofka.checker.cluster.channels import Channels
from proofka.checker.cluster.configuration import Changed, node_properties, properties_text
from proofka.checker.cluster.node import Node, NodePorts
from proofka.checker.cluster.plan import ClusterPlan
from proofka.checker.cluster.ports import Ports
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.wire import HOST


class Nodes(ABC):
    """Makes the nodes of a plan; ``clients`` has the port of the proxy where clients reach each broker.

    A mode is a subclass. ``channels``: the ways between brokers and the controller.
    """

    channels: Channels

    def __init__(self, plan: ClusterPlan, *, ports: Ports, supervisor: Supervisor, proxy: Proxy) -> None:
        self._plan = plan
        self._supervisor = supervisor
        self._own = {node: _own_ports(plan, node, self.have_controller_listener, ports) for node in plan.nodes}
        self.clients: dict[int, int] = {}
        self._replicas: dict[int, int] = {}
        for broker in plan.all_brokers:
            self.clients[broker] = proxy.listen(f"client->{broker}", given(self._own[broker].client))
            self._replicas[broker] = proxy.listen(f"replica->{broker}", given(self._own[broker].replica))

    # What a mode answers

    @property
    @abstractmethod
    def have_controller_listener(self) -> tuple[int, ...]:
        """The nodes that listen for the controller, or as the controller."""

    @property
    @abstractmethod
    def archive(self) -> Path:
        """The archive of loaded classes, once :meth:`prepare` has returned."""

    @abstractmethod
    def prepare(self, classpath: Sequence[Path], cache: Path) -> None:
        """Make what is made once for these jars, and kept in the cache. Raises ``CannotStart``."""

    @abstractmethod
    def start(self, nodes: Mapping[int, Node], *, seconds: float) -> None:
        """Start all nodes in the order that the mode needs, and wait until each has started.

        Raises ``CannotStart``, ``NotSeen``.
        """

    @abstractmethod
    def close(self) -> None:
        """End what runs beside the nodes."""

    @abstractmethod
    def erase(self, node: Node) -> None:
        """Give a node that is down an empty disk with the same id."""

    @abstractmethod
    def wait_startable(self, number: int, live: Callable[[], Iterable[int]], *, seconds: float) -> None:
        """Wait until a broker that has ended can start again. ``live``: the brokers that the controller believes to
        live. Raises ``NotSeen``.
        """

    @abstractmethod
    def _make(self, number: int, folder: Path, settings: Path) -> Node:
        """Return a node that was never started. ``settings``: the file with its settings."""

    @abstractmethod
    def _facts_of_mode(self, number: int) -> Mapping[str, str]:
        """Return the values of the mode's table of settings, with "advertised" and "listeners" in Kafka's form."""

    # What all modes share

    def properties(self, number: int) -> tuple[dict[str, str], tuple[Changed, ...]]:
        """Return the settings of a node, and what is not as the deployment gives it."""
        is_broker = number in self._plan.all_brokers
        facts = {
            "node": str(number),
            "data": str(self._folder(number) / "data"),
            "session": str(self._plan.session_ms),
            "heartbeat": str(self._plan.heartbeat_ms),
            "internal": str(self._plan.internal_replicas),
            **self._facts_of_mode(number),
        }
        return node_properties(self._plan.given(number), facts, mode=self._plan.mode, is_broker=is_broker)

    def make(self, number: int) -> Node:
        """Return a node that was never started."""
        folder = self._folder(number)
        folder.mkdir()
        settings = folder / "server.properties"
        settings.write_text(properties_text(self.properties(number)[0]), encoding="ascii")
        return self._make(number, folder, settings)

    def _folder(self, number: int) -> Path:
        return self._supervisor.folder / f"node-{number}"

    def _listeners(self, number: int) -> dict[str, int | None]:
        own = self._own[number]
        return {"CONTROLLER": own.controller, "CLIENT": own.client, "REPLICA": own.replica, "HARNESS": own.harness}

    def _advertised(self, number: int) -> dict[str, int | None]:
        """Return the ports at which others reach a broker, those for the controller left out."""
        return {
            "CLIENT": self.clients.get(number),
            "REPLICA": self._replicas.get(number),
            "HARNESS": self._own[number].harness,
        }


def _own_ports(plan: ClusterPlan, node: int, have_controller_listener: Iterable[int], ports: Ports) -> NodePorts:
    def taken(is_needed: bool) -> int | None:
        return ports.take() if is_needed else None

    is_broker = node in plan.all_brokers
    return NodePorts(
        client=taken(is_broker),
        replica=taken(is_broker),
        harness=taken(is_broker),
        controller=taken(node in have_controller_listener),
    )


def given(port: int | None) -> int:
    """Return the port of a listener that the node has."""
    assert port is not None, "the node has no such listener"
    return port


def urls(listeners: Mapping[str, int | None]) -> str:
    """Return listeners as Kafka takes them, without those that have no port."""
    return ",".join(f"{name}://{HOST}:{port}" for name, port in listeners.items() if port is not None)


def protocols(listeners: Iterable[str]) -> str:
    """Return the protocol of each listener as Kafka takes it."""
    return ",".join(f"{name}:PLAINTEXT" for name in listeners)
