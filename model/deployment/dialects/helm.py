"""Values of Helm charts that run Kafka: Bitnami's, Confluent's and its predecessor's.

A chart's own defaults depend on its version, which no file of values gives, so they are not added.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from proofka.model.deployment.defaults import is_known
from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.brokers import Broker, together
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import YAML, Document
from proofka.model.deployment.dialects.embedded import settings_inside
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.images import BY_PREFIX, release_in
from proofka.model.deployment.dialects.nodes import entries_under, items_under, text_under, under
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given
from proofka.model.deployment.yaml_tree import Node

READER = "Helm"
_TABLE = Path(__file__).with_name("tables") / "helm.csv"
_OVERRIDES = ("configurationOverrides", "overrideConfiguration", "extraConfigYaml")
_TEXTS = ("config", "extraConfig")
_ELSEWHERE = ("existingConfigmap", "existingConfigMap", "extraEnvVarsCM", "extraEnvVarsSecret")
_OUTRANKS = {
    ("extraConfigYaml", "extraConfig"),
    ("overrideConfiguration", "config"),
}
"""The precedence of places, in every version of the chart that has both: templates/broker/configmap.yaml of Bitnami's
writes ``extraConfig`` before ``extraConfigYaml``, and values.yaml says that the override outranks ``config``."""
_OR_FILE = "differs from line {}, and the chart determines whether the file or the variable counts; keep one of them"
_OF_ANOTHER = re.compile(r"values[-_.].+\.ya?ml")
_COUNTS = ("replicaCount", "replicas", "brokers")
_NODES = ("controller", "broker")
_MARKS = frozenset({"defaultReplicationFactor", "offsetsTopicReplicationFactor", "transactionStateLogMinIsr"})
_CHART = "is for the chart, not a setting of Kafka"
_NAMED = re.compile(r"(.*[-_.])?kafka(-cluster)?([-_.]values([-_.].*)?)?(\.ya?ml)?")
_NUMBER = re.compile(r"_(\d+)", re.ASCII)
_LISTS: tuple[tuple[str, ...], ...] = (("provisioning", "topics"), ("topics",))
_TEMPLATE = re.compile(r"\{\{")


@cache
def _names() -> Mapping[str, str]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return {row["value"]: row["setting"] for row in csv.DictReader(table)}


def _bases(document: Document) -> tuple[tuple[str, ...], ...]:
    """Return the paths of the values of charts: at the top, or each under the name of its chart."""
    try:
        nodes = document.yaml if document.suffix in YAML else ()
    except DeploymentError:
        return ()
    if len(nodes) != 1 or text_under(nodes[0], "kind"):
        return ()
    if _is_of_kafka(nodes[0], document.name):
        return ((),)
    return tuple((key,) for key, node in entries_under(nodes[0]) if _is_of_kafka(node, key))


def _is_of_kafka(node: Node, name: str) -> bool:
    """Tell whether values belong to a chart of Kafka: keys that only such charts have, or an image or name of Kafka."""
    keys = {key for key, _ in entries_under(node)}
    places = ((), *((kind,) for kind in _NODES))
    overrides = {key for place in places for one in _OVERRIDES for key, _ in entries_under(node, *place, one)}
    if keys & _MARKS or any(is_known("broker", key) for key in overrides):
        return True
    repository = text_under(node, "image", "repository") or text_under(node, "image")
    if not (repository.endswith(("/kafka", "/cp-kafka", "/cp-server")) or _NAMED.fullmatch(name)):
        return False
    texts = any(text_under(node, *place, "extraConfig") for place in places)
    counts = "replicaCount" in keys or any(text_under(node, *place, "replicaCount") for place in places)
    return bool(overrides or texts or items_under(node, "provisioning", "topics") or counts)


def fits(document: Document) -> bool:
    """Tell whether the document has values of a chart of Kafka."""
    return bool(_bases(document))


def _laid_over(document: Document) -> str:
    """Return the name of the chart's own values beside the file; empty if there are none."""
    for name in ("values.yaml", "values.yml"):
        beside = document.beside(name)
        if beside is not None and fits(beside):
            return name
    return ""


@dataclass
class _Chart:
    """The values of one chart. ``nodes``: the values of each kind of nodes; the empty name means all nodes."""

    name: str
    nodes: dict[str, dict[str, Said]] = field(default_factory=dict)
    counts: dict[str, Said] = field(default_factory=dict)
    places: dict[tuple[str, str], str] = field(default_factory=dict)
    image: Said | None = None
    tag: Said | None = None
    only_controllers: bool = False
    zookeeper: bool = False


def read(document: Document, fillings: Fillings) -> Found:
    """Return the brokers and the topics of each chart in the file."""
    accounts = Accounts(document, fillings)
    bases = _bases(document)
    if not bases:
        raise DeploymentError("has no values of a chart that runs Kafka", file=document.file)
    root = accounts.each_once(document.yaml[0], READER)
    values: dict[tuple[str, ...], list[Said]] = {}
    for said in values_of(root):
        base = next((base for base in bases if said.path[: len(base)] == base), None)
        if base is None:
            accounts.ignore(said)
        else:
            values.setdefault(base, []).append(said)
    components: list[Component] = []
    if _OF_ANOTHER.fullmatch(document.name) and (below := _laid_over(document)):
        accounts.reject(Said((document.name,), "", 1), f"helm -f lays it over {below}: merge both into one file")
    for base, ones in values.items():
        components += _chart(base, under(root, *base), ones, document, accounts)
    return accounts.found(VALUES.name, components)


def _chart(
    base: tuple[str, ...], node: Node | None, values: Iterable[Said], document: Document, accounts: Accounts
) -> Iterator[Component]:
    chart = _Chart(base[-1] if base else "kafka")
    chart.only_controllers = text_under(node, "controller", "controllerOnly").lower() == "true"
    in_kraft = text_under(node, "kraft", "enabled").lower() == "true"
    chart.zookeeper = text_under(node, "zookeeper", "enabled").lower() == "true" and not in_kraft
    topics: dict[tuple[str, ...], list[Said]] = {}
    for said in values:
        below = said.path[len(base) :]
        place = next((one for one in _LISTS if below[: len(one)] == one and len(below) > len(one) + 1), None)
        if place is not None:
            topics.setdefault(below[: len(place) + 1], []).append(said)
        elif said.null or (said.value == "" and below[-1] in _TEXTS):
            accounts.ignore(said, "has no value")
        else:
            kind, inner = (below[0], below[1:]) if below[0] in _NODES and len(below) > 1 else ("", below)
            _sort(said, kind, inner, chart, document, accounts)
    _variables(node, base, chart, accounts)
    if chart.nodes or chart.counts or chart.image is not None or chart.tag is not None:
        yield _brokers(chart, accounts)
    for place, of_topic in topics.items():
        yield from _topic(of_topic, len(base) + len(place), accounts)


def _sort(said: Said, kind: str, names: tuple[str, ...], chart: _Chart, document: Document, accounts: Accounts) -> None:
    of_nodes = chart.nodes.setdefault(kind, {})

    def keep(key: str, one: Said) -> None:
        before, place = of_nodes.get(key), names[0]
        if before is None:
            of_nodes[key], chart.places[kind, key] = one, place
            return
        other = chart.places[kind, key]
        if (other, place) in _OUTRANKS:
            accounts.ignore(one, f"is also in line {before.line}, where {other} outranks {place}")
            return
        if other != place and (place, other) not in _OUTRANKS and accounts.text(before) != accounts.text(one):
            accounts.reject(
                one,
                f"differs from {other} in line {before.line}, and the chart determines which counts; keep one of them",
            )
        accounts.ignore(before, f"is repeated in line {one.line}, whose value counts")
        of_nodes[key], chart.places[kind, key] = one, place

    setting = _names().get(names[0]) if len(names) == 1 and not kind else None
    if setting is not None:
        keep(setting, said)
    elif names[0] in _OVERRIDES and len(names) > 1:
        if len(names) > 2:
            accounts.reject(said, "is nested, but the chart needs the setting's whole name as its key")
        else:
            keep(names[1], said)
    elif names[0] in _TEXTS and len(names) == 1:
        accounts.ignore(said, "contains settings, which are read")
        for one in accounts.last_of_each(settings_inside(document, said), "Kafka"):
            keep(one.path[-1], one)
    elif len(names) == 1 and names[0] in _COUNTS:
        chart.counts[kind] = said
    elif not kind and names in (("image", "repository"), ("image",)):
        chart.image = said
    elif not kind and names in (("image", "tag"), ("imageTag",)):
        chart.tag = said
    elif names[0] in _ELSEWHERE and len(names) == 1 and said.value:
        accounts.reject(said, "names settings or variables of the brokers that are elsewhere")
    elif names[:1] == ("extraEnvVars",) and names[-1] == "value":
        pass  # with its name (_variables)
    else:
        accounts.ignore(said, _CHART)


def _variables(node: Node | None, base: tuple[str, ...], chart: _Chart, accounts: Accounts) -> None:
    """Add the additional variables of the brokers' containers."""
    for kind in ("", *_NODES):
        path = (kind, "extraEnvVars") if kind else ("extraEnvVars",)
        for at, item in enumerate(items_under(node, *path)):
            name = text_under(item, "name")
            for said in values_of(item, (*base, *path, f"[{at}]")):
                if said.path[-1] != "value" or len(said.path) != len(base) + len(path) + 2:
                    continue
                key = BY_PREFIX.key(name)
                if key:
                    of_nodes = chart.nodes.setdefault(kind, {})
                    if key in of_nodes:
                        if accounts.text(of_nodes[key]) != accounts.text(said):
                            accounts.reject(said, _OR_FILE.format(of_nodes[key].line))
                        accounts.ignore(of_nodes[key], f"is also in the variable in line {said.line}")
                    of_nodes[key] = said
                else:
                    accounts.ignore(
                        said, f"is no setting: the image reads variables that begin with {BY_PREFIX.prefix}"
                    )


def _brokers(chart: _Chart, accounts: Accounts) -> Component:
    kinds = [kind for kind in _NODES if chart.nodes.get(kind) or kind in chart.counts]
    members: list[Broker] = []
    for kind in kinds or [""]:
        settings = {**chart.nodes.get("", {}), **chart.nodes.get(kind, {})}
        for key, said in chart.nodes.get("", {}).items():
            if settings[key] is not said:
                accounts.ignore(said, f"{kind}.{key} has another value for these nodes")
        none = kind in chart.counts and accounts.text(chart.counts[kind]) == "0"
        is_broker = not none and not (kind == "controller" and chart.only_controllers)
        members.append(Broker(f"{chart.name} {kind}".strip(), int(is_broker), _plain(settings)))
    if kinds and "" in chart.counts:
        accounts.ignore(chart.counts.pop(""), "the sections of controllers and brokers give their own numbers")
    one = together(members, accounts)
    agreed = dict(one.settings)
    if chart.zookeeper and "zookeeper.connect" not in agreed and "process.roles" not in agreed:
        told = accounts.by_framework("zookeeper.connect", "zookeeper:2181", "the chart, for zookeeper.enabled")
        agreed[told.key] = told
    brokers, release = _total(chart, accounts), _release(chart, accounts)
    return Component(one.role, chart.name, agreed, kafka=release, brokers=brokers)


def _plain(settings: Mapping[str, Said]) -> dict[str, Said]:
    """Return the values with plain numbers: a chart has ``_`` before large ones, so that Helm writes no exponent."""
    found: dict[str, Said] = {}
    for key, said in settings.items():
        number = _NUMBER.fullmatch(said.value)
        found[key] = said if number is None else Said(said.path, number[1], said.line)
    return found


def _total(chart: _Chart, accounts: Accounts) -> Given | None:
    """Return the number of brokers, as far as the values give it."""
    total, taken = 0, None
    for kind, said in chart.counts.items():
        text = accounts.text(said)
        if not (text.isdecimal() and text.isascii() and len(text) < 5):
            accounts.reject(said, "is not a number of nodes")
        elif kind == "controller" and chart.only_controllers:
            accounts.ignore(said, "counts nodes that are no brokers")
        else:
            total += int(text)
            if taken is not None:
                accounts.ignore(said, "counted with the brokers of the other kind")
            taken = taken or said
    return accounts.take(taken, "brokers", str(total)) if taken is not None else None


def _release(chart: _Chart, accounts: Accounts) -> Given | None:
    """Return the release in the image's tag, if the image is known."""
    repository = "bitnami/kafka" if chart.image is None else accounts.text(chart.image)
    if chart.image is not None:
        accounts.ignore(chart.image, "names the image that runs the brokers")
    if chart.tag is None:
        return None
    release = release_in(f"{repository}:{accounts.text(chart.tag)}")
    if not release:
        accounts.ignore(chart.tag, "names no release of Kafka")
        return None
    return accounts.take(chart.tag, "kafka", release)


def _topic(values: Sequence[Said], depth: int, accounts: Accounts) -> Iterator[Component]:
    """Yield a topic that the chart creates."""
    name, settings = "", {}
    own = {"partitions": "partitions", "replicationFactor": "replication.factor"}
    for said in values:
        match said.path[depth:]:
            case ("name",):
                name = accounts.text(said)
                accounts.ignore(said, "names the topic")
            case (("config" | "defaultConfig"),) if "=" in said.value:
                for one in accounts.last_of_each(_pairs(said), READER):
                    settings[one.path[-1]] = accounts.take(one, one.path[-1])
            case ("config", key) if not said.null:
                settings[key] = accounts.take(said, key)
            case (key,) if key in own and not said.null:
                settings[own[key]] = accounts.take(said, own[key])
            case _:
                accounts.ignore(said, _CHART)
    if name:
        yield Component(Role.TOPIC, name, settings)
    else:
        for said in values:
            accounts.reject(said, "belongs to a topic without a name; add the name")


def _pairs(said: Said) -> Iterator[Said]:
    """Yield the settings of a text ``key=value,key=value``."""
    for pair in said.value.split(","):
        key, _, value = pair.strip().partition("=")
        yield Said((*said.path, key), value, said.line)


def fits_template(document: Document) -> bool:
    """Tell whether the document is a Helm template about Kafka that is no YAML before rendering."""
    text = document.text
    if document.suffix not in YAML or "{{" not in text or "kafka" not in text.lower() or "apiVersion:" not in text:
        return False
    try:
        return not document.yaml
    except DeploymentError:
        return True


def read_template(document: Document, fillings: Fillings) -> Found:
    """Raise DeploymentError: only Helm knows the values of a template."""
    found = _TEMPLATE.search(document.text)
    line = document.text.count("\n", 0, found.start()) + 1 if found is not None else 1
    message = "is a Helm template, which is no YAML before rendering: use the output of helm template"
    raise DeploymentError(message, file=document.file, line=line + document.first)


VALUES = Dialect("values of a Helm chart", fits, read)
TEMPLATE = Dialect("Helm template", fits_template, read_template)
