"""Strimzi: Kafka clusters, topics, users and clients as resources of Kubernetes.

The operator itself writes the listeners, directories and identities of brokers, and drops a resource's values of them.
All other values of ``config`` reach the brokers unchanged; for missing values, Kafka's own defaults hold.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.connect import (
    EXACTLY_ONCE,
    POLICY,
    is_of_created_topics,
    names_of_topics,
    of_created_topics,
    role_of,
)
from proofka.model.deployment.dialects.connect_clients import (
    OF_CONNECTORS,
    OF_WORKERS,
    Mirrored,
    client_setting,
    mirrored,
    worker_clients,
)
from proofka.model.deployment.dialects.connect_layers import TRANSACTIONS
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.nodes import entries_under, items_under, text_under, under
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given
from proofka.model.deployment.yaml_tree import Node, Scalar

GROUPS = ("kafka.strimzi.io", "core.strimzi.io")
READER = "Strimzi"
TOLERANCE = "errors.tolerance"
_TABLES = Path(__file__).with_name("tables")
_CLUSTER = "strimzi.io/cluster"
_NAMES = "names the resource, or is for Kubernetes"
_QUOTAS = "is about the rights and quotas of a user, not about deliveries"


def is_strimzi(resource: Node) -> bool:
    """Tell whether a resource is one of the operator's."""
    return text_under(resource, "apiVersion").partition("/")[0] in GROUPS


@dataclass
class Resources:
    """The combined content of the resources of one file."""

    accounts: Accounts
    components: list[Component] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_resources(resources: Sequence[Node], accounts: Accounts) -> Resources:
    """Return the clusters, topics and clients in resources, each key once."""
    found = Resources(accounts)
    pools = _pools(resources, accounts)
    for resource in resources:
        match text_under(resource, "kind"):
            case "Kafka":
                _kafka(resource, found, pools.pop(text_under(resource, "metadata", "name"), []))
            case "KafkaTopic":
                _topic(resource, found)
            case "KafkaConnect" | "KafkaConnectS2I" | "KafkaConnector":
                _connect(resource, found)
            case "KafkaMirrorMaker2":
                _mirror_maker_2(resource, found)
            case "KafkaMirrorMaker" | "KafkaBridge":
                _own_clients(resource, found)
            case "KafkaNodePool":
                pass
            case _:
                for said in values_of(resource):
                    accounts.ignore(said, _QUOTAS if text_under(resource, "kind") == "KafkaUser" else _NAMES)
    for left in pools.values():
        for said in left:
            accounts.ignore(said, "is the number of brokers of a cluster whose Kafka resource is elsewhere")
    return found


@cache
def _fields() -> dict[tuple[str, tuple[str, ...]], frozenset[str]]:
    with (_TABLES / "strimzi_fields.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    return {(row["kind"], tuple(row["section"].split("."))): frozenset(row["fields"].split()) for row in rows}


@cache
def _reserved(kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the prefixes of settings that the operator reserves, and of exceptions that it passes on."""
    with (_TABLES / "strimzi_reserved.csv").open(encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["kind"] == kind]
    return tuple(row["prefix"] for row in rows if not row["kept"]), tuple(row["prefix"] for row in rows if row["kept"])


def _other(kind: str, said: Said, accounts: Accounts) -> None:
    """Ignore a value that is no setting: known to the operator, or at a place that nothing reads."""
    for length in (2, 1):
        section, known = said.path[:length], _fields().get((kind, said.path[:length]))
        if known is not None and len(said.path) > length and said.path[length] not in known:
            where = ".".join(section)
            accounts.ignore(
                said, f"misplaced: {READER} has no {where}.{said.path[length]} in a {kind}, so it has no effect"
            )
            return
    accounts.ignore(said, _NAMES)


def _config(said: Said, names: tuple[str, ...], kind: str, accounts: Accounts) -> str | None:
    """Return the key of a setting under ``config``; None if the setting is left out."""
    if said.null:
        accounts.ignore(said, "has no value")
        return None
    if len(names) != 1:
        accounts.reject(said, f"{READER} accepts only texts, numbers and booleans here, no lists and nothing nested")
        return None
    key = names[0].strip()
    reserved, kept = _reserved(kind)
    prefix = next((prefix for prefix in reserved if key.lower().startswith(prefix.lower())), None)
    if prefix is not None and not key.lower().startswith(kept):
        accounts.ignore(said, f"has no effect, because {READER} itself sets keys that begin with {prefix}")
        return None
    return key


def _pools(resources: Sequence[Node], accounts: Accounts) -> dict[str, list[Said]]:
    """Return the number of nodes in each pool of brokers, by its cluster; ignore all other values of pools."""
    found: dict[str, list[Said]] = {}
    for resource in resources:
        if text_under(resource, "kind") != "KafkaNodePool":
            continue
        cluster = text_under(resource, "metadata", "labels", _CLUSTER)
        roles = [item.text for item in items_under(resource, "spec", "roles") if isinstance(item, Scalar)]
        for said in values_of(resource):
            if said.path == ("spec", "replicas") and "broker" in roles:
                found.setdefault(cluster, []).append(said)
            elif said.path[:2] == ("spec", "config"):
                accounts.ignore(
                    said, f"misplaced: {READER} has no config of a node pool; move it to the Kafka resource"
                )
            else:
                _other("KafkaNodePool", said, accounts)
    return found


def _kafka(resource: Node, found: Resources, pools: list[Said]) -> None:
    accounts, name = found.accounts, text_under(resource, "metadata", "name")
    settings: dict[str, Given] = {}
    counts = list(pools)
    release: Given | None = None
    for said in values_of(resource):
        match said.path:
            case ("spec", "kafka", "config", *names):
                key = _config(said, tuple(names), "Kafka", accounts)
                if key is not None:
                    settings[key] = accounts.take(said, key)
            case ("spec", "kafka", "version") if not said.null:
                release = accounts.take(said, "kafka")
            case ("spec", "kafka", "metadataVersion"):
                accounts.ignore(said, "is the brokers' metadata version; that of their release is assumed")
            case ("spec", "kafka", "replicas") if pools:
                accounts.ignore(said, "has no effect, because the node pools give the number of brokers")
            case ("spec", "kafka", "replicas") if not said.null:
                counts.append(said)
            case _:
                _other("Kafka", said, accounts)
    mode = _zookeeper(resource, accounts)
    if mode is not None:
        settings[mode.key] = mode
    if text_under(resource, "spec", "kafka", "storage", "type") == "ephemeral":
        what = f"brokers of {name} have ephemeral storage: a broker loses its log when its pod is deleted"
        found.notes.append(f"{what}, which the modelled fault power-loss does not include")
    brokers = _count(counts, accounts)
    found.components.append(Component(Role.BROKER, name, settings, kafka=release, brokers=brokers))


def _zookeeper(resource: Node, accounts: Accounts) -> Given | None:
    """Return the operator's setting for a cluster with a section for ZooKeeper and without KRaft mode."""
    in_kraft = text_under(resource, "metadata", "annotations", "strimzi.io/kraft").lower() in ("enabled", "migration")
    if in_kraft or under(resource, "spec", "zookeeper") is None:
        return None
    return accounts.by_framework("zookeeper.connect", "localhost:2181", f"{READER}, for spec.zookeeper")


def _count(counts: list[Said], accounts: Accounts) -> Given | None:
    """Return the number of all brokers of a cluster, in all of its pools."""
    total = 0
    for said in counts:
        text = accounts.text(said)
        if not (text.isdecimal() and text.isascii() and len(text) < 6):
            accounts.reject(said, "is not a number of brokers")
            return None
        total += int(text)
    for said in counts[1:]:
        accounts.ignore(said, "is counted with the brokers of the other pool")
    return accounts.take(counts[0], "brokers", str(total)) if counts else None


def _topic(resource: Node, found: Resources) -> None:
    accounts, settings = found.accounts, {}
    own = {"partitions": "partitions", "replicas": "replication.factor"}
    for said in values_of(resource):
        match said.path:
            case ("spec", "config", *names):
                key = _config(said, tuple(names), "KafkaTopic", accounts)
                if key is not None:
                    settings[key] = accounts.take(said, key)
            case ("spec", name) if name in own and not said.null:
                settings[own[name]] = accounts.take(said, own[name])
            case _:
                _other("KafkaTopic", said, accounts)
    name = text_under(resource, "spec", "topicName") or text_under(resource, "metadata", "name")
    found.components.append(Component(Role.TOPIC, _filled(name, accounts), settings))


def _filled(text: str, accounts: Accounts) -> str:
    return accounts.text(Said((), text, 0))


def _connect(resource: Node, found: Resources) -> None:
    """Read a worker's or connector's settings of its clients."""
    accounts, said_of = found.accounts, _nothing_said()
    kind, name = text_under(resource, "kind"), text_under(resource, "metadata", "name")
    told: dict[str, Given] = {}
    for said in values_of(resource):
        if said.path[:2] != ("spec", "config"):
            _other(kind, said, accounts)
            continue
        if said.path[2:] in ((POLICY,), (EXACTLY_ONCE,)) and kind != "KafkaConnector":
            told[said.path[2]] = accounts.take(said, said.path[2])
        _client_or_worker(said, said.path[2:], accounts, said_of, _prefixes(kind))
    topics = text_under(resource, "spec", "config", "topics") if kind == "KafkaConnector" else ""
    names = tuple(one.strip() for one in topics.split(",") if one.strip())
    if kind != "KafkaConnector":
        found.components += worker_clients(f"{kind} {name}", said_of, accounts, cluster=name, told=told)
        return
    keys = [key for key, _ in entries_under(resource, "spec", "config")]
    role = role_of(text_under(resource, "spec", "class"), keys)
    cluster = text_under(resource, "metadata", "labels", _CLUSTER)
    found.components += worker_clients(
        f"{kind} {name}", said_of, accounts, names, layer="connector", cluster=cluster, present=role
    )


def _prefixes(kind: str) -> Sequence[str]:
    return OF_CONNECTORS if kind == "KafkaConnector" else OF_WORKERS


def _nothing_said() -> dict[Role, dict[str, Given]]:
    return {Role.PRODUCER: {}, Role.CONSUMER: {}}


def _client_or_worker(
    said: Said,
    names: tuple[str, ...],
    accounts: Accounts,
    said_of: dict[Role, dict[str, Given]],
    prefixes: Sequence[str] = OF_WORKERS,
) -> None:
    key = _config(said, names, "KafkaConnect", accounts)
    if key is None:
        return
    client = client_setting(key, prefixes)
    if client is not None:
        said_of[client[0]][client[1]] = accounts.take(said, client[1])
    elif key == "exactly.once.source.support" and accounts.text(said).lower() in ("enabled", "preparing"):
        accounts.reject(said, TRANSACTIONS)
    elif is_of_created_topics(key):
        of_created_topics(said, key, accounts)
    else:
        accounts.ignore(said, "is for the worker or the connector, not for its Kafka clients")


def _mirror_maker_2(resource: Node, found: Resources) -> None:
    """Read the workers' clients, by their cluster, and those of each mirror's connectors."""
    accounts = found.accounts
    name = text_under(resource, "metadata", "name")
    said_of: dict[tuple[str, ...], dict[Role, dict[str, Given]]] = {}
    tolerant: dict[str, Given] = {}
    for said in values_of(resource):
        match said.path:
            case ("spec", "mirrors", at, "sourceConnector", "config", *names) if ".".join(names) == TOLERANCE:
                tolerant[at] = accounts.take(said, TOLERANCE)
                accounts.ignore(said, "determines the behaviour of the tasks, not a setting of their clients")
            case ("spec", "clusters", at, "config", *names):
                _client_or_worker(said, tuple(names), accounts, said_of.setdefault((at,), _nothing_said()))
            case ("spec", "target", "config", *names):
                _client_or_worker(said, tuple(names), accounts, said_of.setdefault(("target",), _nothing_said()))
            case ("spec", "mirrors", at, connector, "config", *names):
                of = said_of.setdefault((at, connector), _nothing_said())
                _client_or_worker(said, tuple(names), accounts, of, (*OF_CONNECTORS, *OF_WORKERS))
            case ("spec", "mirrors", at, ("source" | "target") as side, "config", *names):
                _client_or_worker(said, tuple(names), accounts, said_of.setdefault((at, side), _nothing_said()))
            case _:
                _other("KafkaMirrorMaker2", said, accounts)
    spec = under(resource, "spec")
    wanted = text_under(spec, "connectCluster") or text_under(spec, "target", "alias")
    clusters = enumerate(items_under(spec, "clusters"))
    target = next((f"[{at}]" for at, one in clusters if text_under(one, "alias") == wanted), "target")
    worker = said_of.get((target,), _nothing_said())
    for number, mirror in enumerate(items_under(spec, "mirrors")):
        own = said_of.get((f"[{number}]", "sourceConnector"), _nothing_said())
        topics = text_under(mirror, "topicsPattern")
        source = text_under(mirror, "sourceCluster") or text_under(mirror, "source", "alias")
        found.components += mirrored(
            f"KafkaMirrorMaker2 {name} {source}",
            Mirrored(
                source,
                wanted or text_under(spec, "target", "alias"),
                names_of_topics(topics),
                tolerant.get(f"[{number}]"),
            ),
            own[Role.CONSUMER],
            {**worker[Role.PRODUCER], **own[Role.PRODUCER]},
            accounts,
        )


def _own_clients(resource: Node, found: Resources) -> None:
    """Read a bridge, or the first mirror maker, with the settings of its one producer and its consumers."""
    accounts, said_of = found.accounts, _nothing_said()
    kind = text_under(resource, "kind")
    for said in values_of(resource):
        match said.path:
            case ("spec", ("producer" | "consumer") as role, "config", *names):
                key = _config(said, tuple(names), "client", accounts)
                if key is not None:
                    said_of[Role(role)][key] = accounts.take(said, key)
            case ("spec", "consumer", "groupId"):
                said_of[Role.CONSUMER]["group.id"] = accounts.take(said, "group.id")
            case _:
                _other(kind, said, accounts)
    name = f"{kind} {text_under(resource, 'metadata', 'name')}"
    found.components += _of_roles(name, said_of, resource)


def _of_roles(name: str, said_of: dict[Role, dict[str, Given]], resource: Node) -> Iterator[Component]:
    present = {key for key, _ in entries_under(resource, "spec")}
    for role, settings in said_of.items():
        if role.value in present:
            yield Component(role, f"{name} {role}", settings)
