"""MirrorMaker 2: clusters by their aliases, and the flows between them (``source->target.``).

MirrorMaker 2 is a source connector: a consumer of one cluster, whose position follows the records that the other
cluster has acknowledged. Kafka's source assigns keys to clients in ``MirrorMakerConfig`` and ``MirrorConnectorConfig``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.client_names import CLIENTS, is_named, is_of
from proofka.model.deployment.dialects.client_settings import pass_on
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.connect import (
    EXACTLY_ONCE,
    WORKERS_OWN,
    is_enabled,
    names_of_topics,
    of_created_topics,
)
from proofka.model.deployment.dialects.connect_clients import MIRROR, Mirrored, mirrored
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import PROPERTIES, Document
from proofka.model.deployment.dialects.java_properties import read_properties
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given

NAME = "MirrorMaker 2 configuration"
_ARROW = re.compile(r"([\w-]{1,60})->([\w-]{1,60})\.(.+)", re.ASCII)
_MOST_CLUSTERS = 30
_FIRST = {
    # The prefixes of a cluster or a pair under which a client finds its settings, lowest precedence first.
    Role.CONSUMER: ("consumer.", "source.consumer.", "source.cluster."),
    Role.PRODUCER: ("producer.override.",),
}


@dataclass
class _Flow:
    """One pair of clusters."""

    source: str
    target: str
    enabled: bool = False
    topics: tuple[str, ...] = ()
    tolerant: Given | None = None
    settings: dict[Role, dict[str, Given]] = field(default_factory=lambda: {role: {} for role in CLIENTS})


@dataclass
class _Cluster:
    shared: dict[Role, dict[str, Given]] = field(default_factory=lambda: {role: {} for role in CLIENTS})
    own: dict[Role, dict[str, Given]] = field(default_factory=lambda: {role: {} for role in CLIENTS})
    exactly_once: Given | None = None


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether the document names its clusters, and has settings of one of them or of a pair."""
    if document.suffix not in PROPERTIES:
        return False
    values = {said.key: said.value for said in document.properties}
    names = _aliases(values.get("clusters", ""))
    return bool(names) and any(
        _ARROW.fullmatch(key) or any(key.startswith(name + ".") for name in names) for key in values
    )


def read(document: Document, fillings: Fillings) -> Found:
    """Return a consumer of one cluster and a producer for the other, for each enabled pair."""
    accounts = Accounts(document, fillings, separators=())
    values = read_properties(document, accounts, lambda _: True, MIRROR)
    names = next((_aliases(accounts.text(said)) for said in values if said.key == "clusters"), ())
    clusters = {name: _Cluster() for name in names}
    flows: dict[tuple[str, str], _Flow] = {}
    everywhere: dict[Role, dict[str, Given]] = {role: {} for role in CLIENTS}
    for said in values:
        arrow = _ARROW.fullmatch(said.key)
        alias, _, key = said.key.partition(".")
        if arrow is not None and {arrow[1], arrow[2]} <= set(clusters):
            flow = flows.setdefault((arrow[1], arrow[2]), _Flow(arrow[1], arrow[2]))
            _of_a_flow(said, arrow[3], flow, accounts)
        elif arrow is not None:
            accounts.ignore(said, "belongs to a cluster that clusters does not name")
        elif alias in clusters and key:
            _of_a_cluster(said, key, clusters[alias], accounts)
        else:
            _of_all(said, accounts, everywhere)
    components = [
        component
        for flow in flows.values()
        if flow.enabled
        for component in _components(flow, clusters, everywhere, accounts)
    ]
    notes = () if components else ("no pair of clusters is enabled, so nothing is copied",)
    return accounts.found(NAME, components, notes)


def _aliases(text: str) -> tuple[str, ...]:
    return tuple(name for name in re.split(r"[,\s]+", text.strip()) if name)[:_MOST_CLUSTERS]


def _of_a_flow(said: Said, key: str, flow: _Flow, accounts: Accounts) -> None:
    text = accounts.text(said)
    if key == "enabled":
        flow.enabled = text.lower() == "true"
        accounts.ignore(said, "determines whether anything is copied")
    elif key == "topics":
        flow.topics = names_of_topics(text)
        accounts.ignore(said, "names the copied topics")
    elif key == "errors.tolerance":
        flow.tolerant = accounts.take(said, key)
        accounts.ignore(said, "determines the behaviour of the tasks, not a setting of their clients")
    elif key == "replication.factor":
        of_created_topics(said, said.key, accounts)
    else:
        for role, prefixes in _FIRST.items():
            for prefix in prefixes:
                if key.startswith(prefix) and len(key) > len(prefix) and not key.endswith("poll.timeout.ms"):
                    _pass_on(said, key[len(prefix) :], role, accounts, flow.settings[role])
                    return
        accounts.ignore(said, WORKERS_OWN)


def _of_a_cluster(said: Said, key: str, cluster: _Cluster, accounts: Accounts) -> None:
    if key == EXACTLY_ONCE:
        cluster.exactly_once = accounts.take(said, key)
        accounts.ignore(said, "determines the behaviour of the tasks, not a setting of their clients")
        return
    for role in CLIENTS:
        if key.startswith(f"{role}.") and len(key) > len(role) + 1:
            _pass_on(said, key.removeprefix(f"{role}."), role, accounts, cluster.own[role])
            return
    _for_all_clients(said, key, accounts, cluster.shared)


def _pass_on(said: Said, key: str, role: Role, accounts: Accounts, into: dict[str, Given]) -> None:
    if key == "enable.auto.commit":
        accounts.ignore(said, f"is always false, because {MIRROR} sets it")
    else:
        pass_on(said, key, role, accounts, into)


def _for_all_clients(said: Said, key: str, accounts: Accounts, into: dict[Role, dict[str, Given]]) -> None:
    """Take addresses and security for all clients of a cluster; no other key reaches a client without a prefix."""
    if key == "bootstrap.servers" or (is_named(key) and not key.startswith(("key.", "value."))):
        for_both: dict[str, Given] = {}
        pass_on(said, key, Role.PRODUCER, accounts, for_both)
        for role in CLIENTS:
            into[role].update(for_both)
    elif any(is_of(role, key) for role in CLIENTS):
        accounts.ignore(said, "reaches no client: put producer. or consumer. before it")
    else:
        accounts.ignore(said, WORKERS_OWN)


def _of_all(said: Said, accounts: Accounts, everywhere: dict[Role, dict[str, Given]]) -> None:
    if said.key == "clusters":
        accounts.ignore(said, "names the clusters")
    elif said.key == "replication.factor":
        of_created_topics(said, said.key, accounts)
    elif said.key.startswith(("producer.", "consumer.")):
        accounts.ignore(said, "reaches no client: put the alias of a cluster before it")
    elif said.key.split(".")[0] in ("topics", "groups", "topic", "group"):
        accounts.ignore(said, "determines what is copied by default")
    elif said.key in (EXACTLY_ONCE,):
        accounts.ignore(said, "has no effect: put the alias of the target cluster before it")
    elif _is_mirrors(said.key):
        accounts.ignore(said, WORKERS_OWN)
    else:
        _for_all_clients(said, said.key, accounts, everywhere)


def _is_mirrors(key: str) -> bool:
    return key.startswith(("offset", "config.", "status.", "checkpoint", "heartbeat", "sync.", "refresh.", "emit."))


def _components(
    flow: _Flow, clusters: Mapping[str, _Cluster], everywhere: Mapping[Role, Mapping[str, Given]], accounts: Accounts
) -> tuple[Component, Component]:
    name = f"{flow.source}->{flow.target}"
    source, target = clusters[flow.source], clusters[flow.target]
    exactly_once = target.exactly_once if is_enabled(target.exactly_once) else None
    reads = {
        **everywhere[Role.CONSUMER],
        **source.shared[Role.CONSUMER],
        **source.own[Role.CONSUMER],
        **flow.settings[Role.CONSUMER],
    }
    writes = {
        **everywhere[Role.PRODUCER],
        **target.shared[Role.PRODUCER],
        **target.own[Role.PRODUCER],
        **flow.settings[Role.PRODUCER],
    }
    copied = Mirrored(flow.source, flow.target, flow.topics, flow.tolerant, exactly_once)
    return mirrored(name, copied, reads, writes, accounts)


DIALECT = Dialect(NAME, fits, read)
