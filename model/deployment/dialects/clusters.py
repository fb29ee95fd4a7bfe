"""The clusters of the brokers that a file describes one by one: brokers that share an address of ZooKeeper or of a
controller.

Servers of ZooKeeper that name each other are one ensemble: its brokers can each connect to another server of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.brokers import CONTROLLERS, ZOOKEEPER, Broker, together
from proofka.model.deployment.dialects.component import Component
from proofka.model.deployment.dialects.said import Said

Ensemble = frozenset[str]
"""The hosts of servers of ZooKeeper that name each other."""

_SERVERS = frozenset({"ZOO_SERVERS", "ZOOKEEPER_SERVERS"})
"""Variables in which the images of ZooKeeper have the servers of the ensemble."""

_SERVER = re.compile(r"(?:server\.\d+=)?([\w.-]+):\d+:\d+")
_PORT = "2181"
_ITSELF = frozenset({"localhost", "127.0.0.1", "0.0.0.0"})
"""Hosts that are another machine in each container."""

APART = "brokers that share no address of ZooKeeper or of a controller count as separate clusters: {}"


def ensembles_in(container: str, variables: Iterable[Said]) -> Iterator[Ensemble]:
    """Yield the ensemble that the variables of a server of ZooKeeper name."""
    for said in variables:
        hosts = _SERVER.findall(said.value) if said.path[-1] in _SERVERS else ()
        if hosts:
            yield frozenset(container if host in _ITSELF else host for host in hosts)


def clusters_of(
    brokers: Sequence[Broker], ensembles: Sequence[Ensemble], accounts: Accounts, notes: list[str]
) -> list[Component]:
    """Return one component for the brokers of each cluster. A note names clusters that the file does not connect."""
    clusters: list[tuple[set[str], list[Broker]]] = []
    for broker in brokers:
        shared, members = _addresses(broker, ensembles), [broker]
        for cluster in [one for one in clusters if one[0] & shared]:
            clusters.remove(cluster)
            shared |= cluster[0]
            members = [*cluster[1], *members]
        clusters.append((shared, members))
    order = {id(broker): at for at, broker in enumerate(brokers)}
    found = [sorted(members, key=lambda one: order[id(one)]) for _, members in clusters]
    found.sort(key=lambda members: order[id(members[0])])
    if len(found) > 1:
        notes.append(APART.format("; ".join(", ".join(one.name for one in members) for members in found)))
    return [together(members, accounts) for members in found]


def _addresses(broker: Broker, ensembles: Sequence[Ensemble]) -> set[str]:
    """Return the addresses that only brokers of one cluster share."""
    found: set[str] = set()
    if ZOOKEEPER in broker.settings:
        servers, slash, root = broker.settings[ZOOKEEPER].value.partition("/")
        for server in servers.split(","):
            host, _, port = server.strip().partition(":")
            found.add(f"zookeeper {host}:{port or _PORT}{slash}{root.strip()}")
            found |= {f"ensemble {number}{slash}{root.strip()}" for number, one in enumerate(ensembles) if host in one}
    for key in CONTROLLERS:
        for address in broker.settings[key].value.split(",") if key in broker.settings else ():
            host, _, port = address.rpartition("@")[2].strip().partition(":")
            if host not in _ITSELF:
                found.add(f"controller {host}:{port}")
    return found
