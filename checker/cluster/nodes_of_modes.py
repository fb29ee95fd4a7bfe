"""The choice of the nodes that belong to a mode."""

from __future__ import annotations

from checker.cluster.kraft_nodes import KRaftNodes
from checker.cluster.nodes import Nodes
from checker.cluster.plan import KRAFT, ZOOKEEPER, ClusterPlan
from checker.cluster.ports import Ports
from checker.cluster.proxy import Proxy
from checker.cluster.supervisor import Supervisor
from checker.cluster.zookeeper_nodes import ZooKeeperNodes

_NODES = {KRAFT: KRaftNodes, ZOOKEEPER: ZooKeeperNodes}


def nodes_of(plan: ClusterPlan, *, ports: Ports, supervisor: Supervisor, proxy: Proxy) -> Nodes:
    """Return what makes the nodes of a plan."""
    return _NODES[plan.mode](plan, ports=ports, supervisor=supervisor, proxy=proxy)
