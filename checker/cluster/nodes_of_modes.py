"""The choice of the nodes that belong to a mode."""

from __future__ import annotations

from proofka.checker.cluster.kraft_nodes import KRaftNodes
from proofka.checker.cluster.nodes import Nodes
from proofka.checker.cluster.plan import KRAFT, ZOOKEEPER, ClusterPlan
from proofka.checker.cluster.ports import Ports
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.zookeeper_nodes import ZooKeeperNodes

_NODES = {KRAFT: KRaftNodes, ZOOKEEPER: ZooKeeperNodes}


def nodes_of(plan: ClusterPlan, *, ports: Ports, supervisor: Supervisor, proxy: Proxy) -> Nodes:
    """Return what makes the nodes of a plan."""
    return _NODES[plan.mode](plan, ports=ports, supervisor=supervisor, proxy=proxy)
