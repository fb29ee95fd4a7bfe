"""The choice of a mode, KRaft or ZooKeeper, and of the nodes that belong to the mode."""

from __future__ import annotations

from collections.abc import Container

from checker.cluster.jars import OLDEST_WITH_KRAFT, Release
from checker.cluster.kraft_nodes import KRaftNodes
from checker.cluster.nodes import Nodes
from checker.cluster.plan import KRAFT, ZOOKEEPER, ClusterPlan
from checker.cluster.ports import Ports
from checker.cluster.proxy import Proxy
from checker.cluster.supervisor import Supervisor
from checker.cluster.zookeeper_nodes import ZooKeeperNodes

NAMES_ZOOKEEPER = "zookeeper.connect"
"""The setting of a broker that uses ZooKeeper, in the releases that have both modes."""
_NODES = {KRAFT: KRaftNodes, ZOOKEEPER: ZooKeeperNodes}


def mode_of(release: str, settings: Container[str]) -> str:
    """Return the mode of brokers of a release or of a release line. ``settings``: the names of their settings."""
    is_older = Release(release).numbers[:2] < OLDEST_WITH_KRAFT.numbers[:2]
    return ZOOKEEPER if is_older or NAMES_ZOOKEEPER in settings else KRAFT


def nodes_of(plan: ClusterPlan, *, ports: Ports, supervisor: Supervisor, proxy: Proxy) -> Nodes:
    """Return what makes the nodes of a plan."""
    return _NODES[plan.mode](plan, ports=ports, supervisor=supervisor, proxy=proxy)
