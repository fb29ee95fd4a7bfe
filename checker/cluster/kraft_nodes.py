"""The nodes of a cluster in KRaft mode: a controller that is a broker as well, and brokers that ask the controller."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from proofka.checker.cluster.kraft_channels import KRaftChannels
from proofka.checker.cluster.node import Node
from proofka.checker.cluster.nodes import Nodes, given, protocols, urls
from proofka.checker.cluster.plan import CONTROLLER, ClusterPlan
from proofka.checker.cluster.ports import Ports
from proofka.checker.cluster.prepared import Prepared, copy_formatted, node_command, prepare
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.wire import HOST

_LISTENERS = ("CONTROLLER", "CLIENT", "REPLICA", "HARNESS")

NOWHERE = "bypass->controller"
"""Link that refuses every connection. The controller names its port as its address, because a broker whose link to the
controller is cut would otherwise connect to the address that the controller told it, past the proxy."""


class KRaftNodes(Nodes):
    """Nodes with formatted data folders, and a link of its own from each broker to the controller."""

    channels = KRaftChannels()

    def __init__(self, plan: ClusterPlan, *, ports: Ports, supervisor: Supervisor, proxy: Proxy) -> None:
        super().__init__(plan, ports=ports, supervisor=supervisor, proxy=proxy)
        self._classpath: Sequence[Path] = ()
        self._prepared: Prepared | None = None
        self._controllers = {CONTROLLER: given(self._own[CONTROLLER].controller)}
        for broker in plan.brokers:
            self._controllers[broker] = proxy.listen(f"{broker}->controller", self._controllers[CONTROLLER])
        self._nowhere = proxy.listen(NOWHERE, self._controllers[CONTROLLER])
        proxy.refuse(NOWHERE)

    @property
    def have_controller_listener(self) -> tuple[int, ...]:
        """The controller."""
        return (CONTROLLER,)

    @property
    def archive(self) -> Path:
        """The archive of loaded classes, once :meth:`prepare` has returned."""
        return self._made.archive

    @property
    def _made(self) -> Prepared:
        assert self._prepared is not None, "prepare was not called"
        return self._prepared

    def prepare(self, classpath: Sequence[Path], cache: Path) -> None:
        """Format a data folder, and make an archive of classes. Raises ``CannotStart``."""
        self._classpath = classpath
        self._prepared = prepare(classpath, features=self._plan.features, cache=cache, supervisor=self._supervisor)

    def start(self, nodes: Mapping[int, Node], *, seconds: float) -> None:
        """Start all nodes at once. Raises ``CannotStart``, ``NotSeen``."""
        for node in nodes.values():
            node.start()
        for node in nodes.values():
            node.wait_started(seconds=seconds)

    def close(self) -> None:
        """Do nothing: only nodes run."""

    def erase(self, node: Node) -> None:
        """Give a broker that is down an empty disk with the same id."""
        shutil.rmtree(node.data)
        copy_formatted(self._made, node.data, node=node.number, is_controller=False)

    def wait_startable(self, number: int, live: Callable[[], Iterable[int]], *, seconds: float) -> None:
        """Do nothing: a broker registers before its old session is over, or tries until then."""

    def _make(self, number: int, folder: Path, settings: Path) -> Node:
        command = node_command(self._classpath, settings, options=(f"-XX:SharedArchiveFile={self.archive}",))
        node = Node(number, folder=folder, ports=self._own[number], command=command, supervisor=self._supervisor)
        copy_formatted(self._made, node.data, node=number, is_controller=number == CONTROLLER)
        return node

    def _facts_of_mode(self, number: int) -> Mapping[str, str]:
        advertised = self._advertised(number)
        if number == CONTROLLER and _tells_addresses(self._plan.release):
            advertised["CONTROLLER"] = self._nowhere
        roles = ["broker"] * (number in self._plan.all_brokers) + ["controller"] * (number == CONTROLLER)
        return {
            "roles": ",".join(roles),
            "listeners": urls(self._listeners(number)),
            "advertised": urls(advertised),
            "protocols": protocols(_LISTENERS),
            "voters": f"{CONTROLLER}@{HOST}:{self._controllers[number]}",
        }


def _tells_addresses(release: str) -> bool:
    """Tell whether controllers of a release tell brokers their address, and can be given another one (KIP-853)."""
    major, minor = release.split(".")[:2]
    return (int(major), int(minor)) >= (3, 9)
