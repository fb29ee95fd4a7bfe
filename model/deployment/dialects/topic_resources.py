"""Topics and clusters as resources of operators besides Strimzi: Confluent's, Koperator, Aiven's, NAIS and others."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.embedded import settings_inside
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.images import release_in
from proofka.model.deployment.dialects.nodes import text_under
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given
from proofka.model.deployment.yaml_tree import Node

_TABLES = Path(__file__).with_name("tables")
_CLUSTERS = (("platform.confluent.io", "Kafka"), ("kafka.banzaicloud.io", "KafkaCluster"))
_OTHER = "names the resource, or is for Kubernetes"


@cache
def _topics() -> Mapping[tuple[str, str], Mapping[str, str]]:
    with (_TABLES / "topic_resources.csv").open(encoding="utf-8", newline="") as table:
        return {(row["group"], row["kind"]): row for row in csv.DictReader(table)}


@cache
def _nais() -> Mapping[str, tuple[str, int]]:
    with (_TABLES / "nais_topics.csv").open(encoding="utf-8", newline="") as table:
        return {row["name"]: (row["setting"], int(row["factor"] or 1)) for row in csv.DictReader(table)}


def _kind(resource: Node) -> tuple[str, str]:
    return text_under(resource, "apiVersion").partition("/")[0], text_under(resource, "kind")


def is_of_an_operator(resource: Node) -> bool:
    """Tell whether a resource is a topic or a cluster of one of these operators."""
    return _kind(resource) in _topics() or _kind(resource) in _CLUSTERS


def read_resource(resource: Node, document: Document, accounts: Accounts) -> Component:
    """Return the topic, or the brokers, of a resource."""
    row = _topics().get(_kind(resource))
    return _cluster(resource, document, accounts) if row is None else _topic(resource, row, accounts)


def _topic(resource: Node, row: Mapping[str, str], accounts: Accounts) -> Component:
    settings: dict[str, Given] = {}
    own = {row["partitions"]: "partitions", row["replicas"]: "replication.factor"}
    config = tuple(row["config"].split("."))
    for said in values_of(resource):
        place, inside = ".".join(said.path), said.path[: len(config)] == config
        if said.null:
            accounts.ignore(said, "has no value")
        elif place in own:
            settings[own[place]] = accounts.take(said, own[place])
        elif inside and len(said.path) == len(config) + 1:
            _setting(said, row["keys"], settings, accounts)
        elif inside:
            accounts.reject(said, "is nested, but a setting must be one text, number or boolean")
        else:
            accounts.ignore(said, _OTHER)
    name = (text_under(resource, *row["name"].split(".")) if row["name"] else "") or text_under(
        resource, "metadata", "name"
    )
    if row["keys"] == "nais" and (team := text_under(resource, "metadata", "namespace")):
        name = f"{team}.{name}"
    return Component(Role.TOPIC, name, settings)


def _setting(said: Said, keys: str, settings: dict[str, Given], accounts: Accounts) -> None:
    key, value = said.path[-1], accounts.text(said)
    if keys == "underscores":
        key = key.replace("_", ".")
    elif keys == "nais":
        setting, factor = _nais().get(key, ("", 1))
        if not setting:
            accounts.ignore(said, _OTHER)
            return
        key = setting
        if factor > 1 and value.isdecimal() and len(value) < 10:
            value = str(int(value) * factor)
    settings[key] = accounts.take(said, key, value)


def _cluster(resource: Node, document: Document, accounts: Accounts) -> Component:
    """Return the brokers of lists of ``key=value`` (Confluent's), or of a text of ``.properties`` (Koperator's)."""
    values: list[Said] = []
    release: Given | None = None
    brokers: Given | None = None
    for said in values_of(resource):
        match said.path:
            case ("spec", "configOverrides", "server", _) if "=" in said.value:
                key, _, value = said.value.partition("=")
                values.append(Said((*said.path[:-1], key.strip()), value.strip(), said.line))
            case ("spec", ("readOnlyConfig" | "clusterWideConfig")):
                accounts.ignore(said, "contains settings, which are read")
                values += settings_inside(document, said)
            case ("spec", "replicas") if not said.null:
                brokers = accounts.take(said, "brokers")
            case ("spec", "image", "application") | ("spec", "clusterImage"):
                text = release_in(accounts.text(said)) or _koperator(accounts.text(said))
                if text:
                    release = accounts.take(said, "kafka", text)
                else:
                    accounts.ignore(said, "names no release of Kafka")
            case _:
                accounts.ignore(said, _OTHER)
    given: dict[str, Given] = {}
    for one in accounts.last_of_each(values, "the operator"):
        key = one.path[-1]
        if key in given:
            accounts.ignore(one, "is also set at another place, whose value counts")
        else:
            given[key] = accounts.take(one, key)
    return Component(Role.BROKER, text_under(resource, "metadata", "name"), given, kafka=release, brokers=brokers)


def _koperator(image: str) -> str:
    """Return the release in a tag such as ``kafka:2.13-3.1.0``, in which Scala's comes first."""
    return release_in("wurstmeister/kafka:" + image.rpartition(":")[2]) if "/kafka:" in image else ""
