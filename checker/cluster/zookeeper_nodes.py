"""The nodes of a cluster with ZooKeeper: node 100 starts first, so it is elected controller; brokers follow.

The controller reaches each broker at the listener CONTROLLER of the broker. A broker reaches the controller at the
address that the controller's node advertises for the listener that the *broker* uses for the controller. So each broker
uses a listener with a name of its own, and node 100 advertises a port of the proxy for each of these names.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from proofka.checker.cluster.jars import Release
from proofka.checker.cluster.node import Node
from proofka.checker.cluster.nodes import Nodes, given, protocols, urls
from proofka.checker.cluster.plan import CONTROLLER, ClusterPlan
from proofka.checker.cluster.ports import Ports
from proofka.checker.cluster.prepared import archive_of_practice, cache_of, node_command
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.waiting import until
from proofka.checker.cluster.wire import HOST
from proofka.checker.cluster.zookeeper import ZooKeeper
from proofka.checker.cluster.zookeeper_channels import ASKS_FOR_ISR, WritingChannels, ZooKeeperChannels
from proofka.checker.cluster.zookeeper_connection import ZooKeeperConnection

PROTOCOL = "inter.broker.protocol.version"
"""The setting with the protocol between brokers; by default that of the release."""
_PRACTICE_SECONDS = 180


class ZooKeeperNodes(Nodes):
    """Nodes whose metadata is in a server of ZooKeeper, with a link of its own from each broker to the server."""

    def __init__(self, plan: ClusterPlan, *, ports: Ports, supervisor: Supervisor, proxy: Proxy) -> None:
        super().__init__(plan, ports=ports, supervisor=supervisor, proxy=proxy)
        channels = channels_of(plan)
        self.channels = channels
        carrier = partial(ZooKeeperConnection, writes=channels.writes)
        self._classpath: Sequence[Path] = ()
        self._archive: Path | None = None
        self._server: ZooKeeper | None = None
        self._server_port = ports.take()
        self._sessions = {CONTROLLER: self._server_port}
        self._told: dict[int, int] = {}
        self._asked: dict[int, int] = {}
        self._asked_here = {broker: ports.take() for broker in plan.brokers}
        self._unused = {broker: ports.take() for broker in plan.brokers}
        for broker in plan.brokers:
            self._sessions[broker] = proxy.listen(f"{broker}->zookeeper", self._server_port, carrier=carrier)
            self._told[broker] = proxy.listen(f"controller->{broker}", given(self._own[broker].controller))
            self._asked[broker] = proxy.listen(f"{broker}->controller", self._asked_here[broker])

    @property
    def have_controller_listener(self) -> tuple[int, ...]:
        """All nodes."""
        return self._plan.nodes

    @property
    def archive(self) -> Path:
        """The archive of loaded classes, once :meth:`prepare` has returned."""
        assert self._archive is not None, "prepare was not called"
        return self._archive

    def prepare(self, classpath: Sequence[Path], cache: Path) -> None:
        """Make an archive of classes. Raises ``CannotStart``."""
        self._classpath = classpath
        self._archive = cache_of(classpath, cache) / "classes-with-zookeeper.jsa"
        if not self._archive.exists():
            self._practise(self._archive)

    def start(self, nodes: Mapping[int, Node], *, seconds: float) -> None:
        """Start ZooKeeper, then node 100, which becomes the controller, then the brokers.

        Raises ``CannotStart``, ``NotSeen``.
        """
        folder = self._supervisor.folder / "zookeeper"
        self._server = ZooKeeper(folder, self._server_port, classpath=self._classpath, supervisor=self._supervisor)
        self._server.start(seconds=seconds)
        nodes[CONTROLLER].start()
        nodes[CONTROLLER].wait_started(seconds=seconds)
        brokers = [node for number, node in nodes.items() if number != CONTROLLER]
        for node in brokers:
            node.start()
        for node in brokers:
            node.wait_started(seconds=seconds)

    def close(self) -> None:
        """End ZooKeeper."""
        if self._server is not None:
            self._server.kill()

    def erase(self, node: Node) -> None:
        """Give a broker that is down an empty disk; the broker has its id from its settings."""
        shutil.rmtree(node.data)
        node.data.mkdir()

    def wait_startable(self, number: int, live: Callable[[], Iterable[int]], *, seconds: float) -> None:
        """Wait until the old session of the broker is over: before, the broker cannot register, and ends.

        Raises ``NotSeen``.
        """
        if number != CONTROLLER:
            until(lambda: number not in live(), what=f"the end of the session of broker {number}", seconds=seconds)

    def _make(self, number: int, folder: Path, settings: Path) -> Node:
        return self._node(number, folder, settings, (f"-XX:SharedArchiveFile={self.archive}",))

    def _node(self, number: int, folder: Path, settings: Path, options: Sequence[str]) -> Node:
        return Node(
            number,
            folder=folder,
            ports=self._own[number],
            command=node_command(self._classpath, settings, options=options),
            supervisor=self._supervisor,
            started=f"[KafkaServer id={number}] started",
        )

    def _facts_of_mode(self, number: int) -> Mapping[str, str]:
        listeners, advertised = self._listeners(number), self._advertised(number)
        if number == CONTROLLER:
            control = "CONTROLLER"
            advertised["CONTROLLER"] = listeners["CONTROLLER"]
            listeners |= {_name(broker): port for broker, port in self._asked_here.items()}
            advertised |= {_name(broker): port for broker, port in self._asked.items()}
        else:
            control = _name(number)
            advertised["CONTROLLER"] = self._told[number]
            listeners[control] = advertised[control] = self._unused[number]
        return {
            "listeners": urls(listeners),
            "advertised": urls(advertised),
            "protocols": protocols(listeners),
            "control": control,
            "zookeeper": f"{HOST}:{self._sessions[number]}",
        }

    def _practise(self, archive: Path) -> None:
        """Start ZooKeeper and node 100, and stop the node, so that the node writes the archive of its classes."""
        folder = self._supervisor.folder / f"practice-{uuid.uuid4().hex}"
        folder.mkdir()
        ports = Ports()
        client, port = ports.take(), ports.take()
        server = ZooKeeper(folder / "zookeeper", port, classpath=self._classpath, supervisor=self._supervisor)
        server.start(seconds=_PRACTICE_SECONDS)
        settings = {
            "broker.id": str(CONTROLLER),
            "log.dirs": str(folder / "data"),
            "zookeeper.connect": f"{HOST}:{port}",
            "listeners": f"CLIENT://{HOST}:{client}",
            "listener.security.protocol.map": "CLIENT:PLAINTEXT",
            "inter.broker.listener.name": "CLIENT",
        }
        try:
            archive_of_practice(settings, folder, archive, node=self._node)
        finally:
            server.kill()
            ports.close()


def channels_of(plan: ClusterPlan) -> ZooKeeperChannels:
    """Return the ways between the brokers of a plan and their controller."""
    protocol = plan.broker_settings.get(PROTOCOL, plan.release)
    numbers = Release(protocol.partition("-")[0]).numbers
    return ZooKeeperChannels() if numbers >= ASKS_FOR_ISR else WritingChannels()


def _name(broker: int) -> str:
    """Return the name of the listener at which a broker reaches the controller."""
    return f"FROM_{broker}"
