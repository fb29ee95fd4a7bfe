"""Terraform: topics of several providers, MSK's configurations, and manifests of Kubernetes written in HCL.

The reader evaluates literals, a file's locals, defaults of its variables, ``merge`` and similar functions. All other
values are rejected, with the expression on which they depend.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from proofka.model.deployment.defaults import is_known
from proofka.model.deployment.dialects import strimzi
from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.embedded import read_inside
from proofka.model.deployment.dialects.formats.hcl import Attribute, Block, blocks_of
from proofka.model.deployment.dialects.formats.properties import said_in_properties
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.hcl_repeated import AGAIN, once_each
from proofka.model.deployment.dialects.hcl_values import Values, is_unknown, shown, unknown, values_in
from proofka.model.deployment.dialects.java_client import REPLICAS
from proofka.model.deployment.dialects.keys import matters
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.dialects.tfvars import assigned_beside
from proofka.model.deployment.given import Given
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.yaml_tree import Mapping as Object
from proofka.model.deployment.yaml_tree import Node, Scalar, Sequence

_TABLE = Path(__file__).with_name("tables") / "terraform.csv"
_SUFFIXES = (".tf", ".hcl", ".tofu")
_MANIFESTS = ("kubernetes_manifest", "kubectl_manifest")
_MSK = ("aws_msk_configuration", "aws_msk_cluster")
_MOST_INSTANCES = 1000
_STANDS_FOR_ALL = "min.insync.replicas"
"""A setting that every check has to know: as a placeholder it stands for all settings of an unknown map."""

_SERVICE = "Confluent Cloud"
_BY_SERVICE = {
    "confluent_kafka_topic": {"replication.factor": "3", "min.insync.replicas": "2"},
    "confluentcloud_kafka_topic": {"replication.factor": "3", "min.insync.replicas": "2"},
}
"""A service's own defaults for a topic."""

_NO_SETTING = "is for Terraform or the provider, not a setting of Kafka"
_INSIDE = "counts only where another value refers to it"
_BY_MODULE = "is passed to a module, whose use of it is not in this file"
_NOT_READ = "belongs to a {}, which is not read: give this setting in a file for --topic or --broker"
_MODULE = re.compile(r'^[^\S\n]*"?module"?\s+"', re.MULTILINE)
_RESOURCE_OF_KAFKA = re.compile(r'^[^\S\n]*"?resource"?\s+"\w*kafka', re.MULTILINE)
_TOPICS_OWN = re.compile(r"\bmin\.insync\.replicas\b|\bcleanup\.policy\b|\bretention\.ms\b|\breplication\.factor\b")
"""Settings whose names, with dots, nothing but Kafka has."""

_SPEAKS_OF_KAFKA = re.compile(r"kafka|msk", re.IGNORECASE)
_MSK_RELEASE = re.compile(r"((?P<major>\d+)(?:\.\d+){1,3})(?:\.x)?(?:\.tiered)?(?P<kraft>\.kraft)?", re.ASCII)
_DOTTED = re.compile(r"[a-z]+(?:\.[a-z]+){1,5}")


@cache
def _attributes() -> Mapping[str, Mapping[str, str]]:
    found: dict[str, dict[str, str]] = {}
    with _TABLE.open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            found.setdefault(row["resource"], {})[row["attribute"]] = row["setting"]
    return found


@cache
def _resource() -> re.Pattern[str]:
    kinds = "|".join((*_attributes(), *_MANIFESTS, *_MSK))
    return re.compile(rf'^[^\S\n]*"?resource"?\s+"({kinds})"', re.MULTILINE)


def fits(document: Document) -> bool:
    """Tell whether the document is a Terraform file with topics, brokers, or Kubernetes resources that concern
    Kafka."""
    if document.suffix not in _SUFFIXES:
        return False
    if _SPEAKS_OF_KAFKA.search(document.text) is None:
        return False
    others = (_MODULE.search(document.text), _RESOURCE_OF_KAFKA.search(document.text))
    if any(one is not None for one in others) and _settings_in(document.text):
        return True
    return _resource().search(document.text) is not None


def _settings_in(text: str) -> bool:
    """Tell whether a text has a setting of brokers or topics that can change a delivery; its dots can be
    underscores."""
    names = set(_DOTTED.findall(text.replace("_", ".")))
    pairs = ((role, name) for name in names for role in (Role.BROKER, Role.TOPIC))
    return REPLICAS in names or any(is_known(role, name) and matters(JAVA, role, name) for role, name in pairs)


@dataclass
class _File:
    """A Terraform file while it is read.

    ``values`` evaluates expressions. ``accounts`` keeps what became of each value. The lists collect what the resources
    say: ``releases`` and ``counts`` are the releases of clusters and their numbers of brokers.
    """

    document: Document
    accounts: Accounts
    fillings: Fillings
    values: Values
    components: list[Component] = field(default_factory=list)
    manifests: list[Node] = field(default_factory=list)
    releases: list[Said] = field(default_factory=list)
    counts: list[Said] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read(document: Document, fillings: Fillings) -> Found:
    """Return the topics and brokers of the resources of a file."""
    accounts = Accounts(document, fillings, separators=())
    root = once_each(blocks_of(document.text, document.file), frozenset((*_attributes(), *_MANIFESTS, *_MSK)), accounts)
    assigned = assigned_beside(document)
    values = values_in(root, document.file, fillings, assigned.values)
    file = _File(document, accounts, fillings, values)
    for block in root.blocks:
        kind = block.names[1] if block.kind == "resource" and len(block.names) == 3 else ""
        if kind in _attributes() or kind in _MANIFESTS or kind in _MSK:
            for names in _instances(block, file):
                _read(kind, block, names, file)
        else:
            reason = _INSIDE if block.kind == "locals" else NOT_KAFKAS
            _put_aside(block, (".".join(block.names),), file, reason, _elsewhere(block))
    for attribute in root.attributes:
        accounts.ignore(Said((attribute.name,), "", attribute.line))
    for (key, line), again in values.repeated.items():
        accounts.reject(Said((key,), "", line), AGAIN.format(again))
    of_strimzi = strimzi.read_resources([one for one in file.manifests if strimzi.is_strimzi(one)], accounts)
    for other in file.manifests:
        if not strimzi.is_strimzi(other):
            for said in values_of(other):
                accounts.ignore(said)
    components = [*of_strimzi.components, *_with_cluster(file)]
    notes = [*of_strimzi.notes, *file.notes]
    if values.defaults:
        defaults = ", ".join(sorted(values.defaults))
        notes.append(f"the variables' defaults are assumed, which -var and TF_VAR_... can change: {defaults}")
    notes += [f"{name} assigns var.{one}" for one, name in assigned.files.items() if _uses(one, file)]
    for name in assigned.broken:
        accounts.reject(Said((name,), "", 1), "is a file that Terraform loads too, but it cannot be read")
    return accounts.found(DIALECT.name, components, notes)


def _uses(variable: str, file: _File) -> bool:
    return re.search(rf"\bvar\.{re.escape(variable)}\b", file.document.text) is not None


def _put_aside(block: Block, path: tuple[str, ...], file: _File, reason: str, elsewhere: str = "") -> None:
    """Ignore the values of a block outside of Kafka, and those of its inner blocks. ``elsewhere``: the reason to reject
    settings of topics and brokers in the block."""
    for attribute in block.attributes:
        _put_attribute_aside(attribute, path, file, reason, elsewhere)
    for inner in block.blocks:
        _put_aside(inner, (*path, *inner.names), file, reason, elsewhere)


def _put_attribute_aside(
    attribute: Attribute, path: tuple[str, ...], file: _File, reason: str = _NO_SETTING, elsewhere: str = ""
) -> None:
    """Ignore the value of an attribute, line by line; ``reason`` and ``elsewhere`` as for a block."""
    text = file.document.text.split("\n")
    for line in sorted({attribute.line, *_lines(attribute)}):
        said = Said((*path, attribute.name), "", line)
        if elsewhere and 0 < line <= len(text) and _settings_in(text[line - 1]):
            file.accounts.reject(said, elsewhere)
        else:
            file.accounts.ignore(said, reason)


def _elsewhere(block: Block) -> str:
    """Return the reason why settings of topics and brokers in a block of Kafka do not count here; empty for other
    blocks."""
    own = " ".join((*block.names, *(f"{one.name} {one.expression.text}" for one in block.attributes)))
    if block.kind == "module" and (_SPEAKS_OF_KAFKA.search(own) is not None or _TOPICS_OWN.search(own) is not None):
        return _BY_MODULE
    is_of_kafka = block.kind == "resource" and _SPEAKS_OF_KAFKA.search(block.names[1]) is not None
    return _NOT_READ.format(block.names[1]) if is_of_kafka else ""


def _lines(attribute: Attribute) -> Iterator[int]:
    """Yield the lines of the parts of an attribute's value, at any depth."""
    todo = [attribute.expression]
    while todo:
        part = todo.pop()
        yield part.line
        todo += part.parts


def _instances(block: Block, file: _File) -> Iterator[Mapping[str, Node]]:
    """Yield the names that hold in each instance of a resource: one without ``count`` and ``for_each``."""
    repeat = next((one for one in block.attributes if one.name in ("count", "for_each")), None)
    if repeat is None:
        yield {}
        return
    said = Said((*block.names[1:], repeat.name), "", repeat.line)
    found = file.values.value(repeat.expression)
    if repeat.name == "count" and isinstance(found, Scalar) and found.text.isdecimal() and len(found.text) < 4:
        file.accounts.ignore(said, "is the number of these resources")
        for number in range(int(found.text)):
            yield {"count.index": Scalar(str(number), repeat.line)}
        return
    items: list[tuple[str, Node]] = []
    if repeat.name == "for_each" and isinstance(found, Object):
        items = [(entry.key, entry.node) for entry in found.entries]
    elif repeat.name == "for_each" and isinstance(found, Sequence):
        items = [(item.text, item) for item in found.items if isinstance(item, Scalar)]
    if not items or len(items) > _MOST_INSTANCES:
        file.accounts.reject(said, f"depends on values outside of this file: {shown(repeat.expression)}")
        yield {}
        return
    file.accounts.ignore(said, "lists these resources")
    for key, node in items:
        yield {"each.key": Scalar(key, node.line), "each.value": node}


def _read(kind: str, block: Block, names: Mapping[str, Node], file: _File) -> None:
    if kind in _MANIFESTS:
        _manifest(block, names, file)
    elif kind in _MSK:
        _msk(block, names, file)
    else:
        _topic(kind, block, names, file)


def _topic(kind: str, block: Block, names: Mapping[str, Node], file: _File) -> None:
    accounts, own, path = file.accounts, _attributes()[kind], block.names[1:]
    settings: dict[str, Given] = {}
    name = ""
    for attribute in block.attributes:
        setting = own.get(attribute.name)
        if attribute.name in ("count", "for_each"):
            continue
        value = file.values.value(attribute.expression, names) if setting is not None else None
        said = Said((*path, attribute.name), value.text if isinstance(value, Scalar) else "", attribute.line)
        if value is None:
            _put_attribute_aside(attribute, path, file)
        elif setting == "config":
            settings |= _config(value, said, attribute, accounts)
        elif setting == "name" and isinstance(value, Scalar) and not is_unknown(value):
            name = value.text
            accounts.ignore(said, "names the topic")
        elif setting == "name" or not isinstance(value, Scalar):
            accounts.reject(said, _depends(attribute))
        elif value.null:
            accounts.ignore(said, "has no value")
        elif setting is not None:
            settings[setting] = accounts.take(replace(said, line=value.line), setting)
    for inner in block.blocks:
        if own.get(inner.kind) == "config":
            settings |= _config_block(inner, path, names, file)
        elif inner.kind == "dynamic" and own.get(inner.names[-1]) == "config":
            _reject_all(inner, (*path, *inner.names), file)
        else:
            _put_aside(inner, (*path, *inner.names), file, _NO_SETTING)
    if name:
        default = {key: accounts.by_framework(key, text, _SERVICE) for key, text in _BY_SERVICE.get(kind, {}).items()}
        file.components.append(Component(Role.TOPIC, name, {**default, **settings}))
    else:
        for given in settings.values():
            said = Said((given.origin.detail,), "", given.origin.line or 0)
            accounts.reject(said, "belongs to topics whose names are unknown")


def _reject_all(block: Block, path: tuple[str, ...], file: _File) -> None:
    """Reject settings that a block repeats: only the running program knows whether it does."""
    for attribute in block.attributes:
        file.accounts.reject(
            Said((*path, attribute.name), "", attribute.line),
            "belongs to a dynamic block, whose settings only Terraform knows",
        )
    for inner in block.blocks:
        _reject_all(inner, (*path, *inner.names), file)


def _depends(attribute: Attribute) -> str:
    return f"depends on values outside of this file: {shown(attribute.expression)}"


def _config(value: Node, said: Said, attribute: Attribute, accounts: Accounts) -> dict[str, Given]:
    """Return the settings in a map. An unknown map gets one placeholder setting, because no setting of its topic is
    known."""
    if isinstance(value, Scalar) and value.null:
        accounts.ignore(said, "has no value")
        return {}
    if not isinstance(value, Object):
        return {
            _STANDS_FOR_ALL: accounts.take(replace(said, value=unknown(attribute.expression).text), _STANDS_FOR_ALL)
        }
    if not value.entries:
        accounts.ignore(said, "has no value")
    found: dict[str, Given] = {}
    for entry in value.entries:
        one = Said((*said.path, entry.key), entry.node.text if isinstance(entry.node, Scalar) else "", entry.node.line)
        if not isinstance(entry.node, Scalar):
            accounts.reject(one, "is no text, as a topic's settings must be")
        elif "${" in entry.key:
            accounts.reject(one, f"is a setting whose name depends on values outside of this file: {entry.key}")
        elif entry.node.null:
            accounts.ignore(one, "has no value")
        else:
            found[entry.key] = accounts.take(one, entry.key)
    return found


def _config_block(block: Block, path: tuple[str, ...], names: Mapping[str, Node], file: _File) -> dict[str, Given]:
    """Return settings that are attributes of a block, with underscores for dots."""
    found: dict[str, Given] = {}
    for attribute in block.attributes:
        value = file.values.value(attribute.expression, names)
        said = Said((*path, block.kind, attribute.name), "", attribute.line)
        key = attribute.name.replace("_", ".")
        if not isinstance(value, Scalar):
            file.accounts.reject(said, _depends(attribute))
        elif value.null:
            file.accounts.ignore(said, "has no value")
        else:
            found[key] = file.accounts.take(replace(said, value=value.text), key)
    return found


def _manifest(block: Block, names: Mapping[str, Node], file: _File) -> None:
    path = block.names[1:]
    for attribute in block.attributes:
        said = Said((*path, attribute.name), "", attribute.line)
        if attribute.name not in ("manifest", "yaml_body"):
            if attribute.name not in ("count", "for_each"):
                _put_attribute_aside(attribute, path, file)
            continue
        value = file.values.value(attribute.expression, names)
        if isinstance(value, Object):
            file.manifests.append(value)
        elif isinstance(value, Scalar) and attribute.name == "yaml_body" and "\n" in value.text:
            text = Said(said.path, value.text, value.line)
            file.components += read_inside(file.document, text, "manifest.yaml", file.accounts, file.fillings)
        elif "kafka" in attribute.expression.text.lower():
            file.accounts.reject(said, _depends(attribute))
        else:
            file.accounts.ignore(said)
    for inner in block.blocks:
        _put_aside(inner, (*path, *inner.names), file, _NO_SETTING)


def _msk(block: Block, names: Mapping[str, Node], file: _File) -> None:
    """Read a configuration of MSK's brokers, or a cluster with the number and release of its brokers."""
    accounts, path = file.accounts, block.names[1:]
    settings: dict[str, Given] = {}
    for attribute in block.attributes:
        said = Said((*path, attribute.name), "", attribute.line)
        if attribute.name not in ("server_properties", "kafka_versions", "kafka_version", "number_of_broker_nodes"):
            _put_attribute_aside(attribute, path, file)
            continue
        value = file.values.value(attribute.expression, names)
        items = value.items if isinstance(value, Sequence) else (value,)
        texts = [one.text for one in items if isinstance(one, Scalar) and not is_unknown(one)]
        if attribute.name == "server_properties" and isinstance(value, Scalar) and "=" in value.text:
            values = said_in_properties(value.text, file.document.file, value.line)
            for one in accounts.last_of_each(values, "Kafka"):
                settings[one.key] = accounts.take(replace(one, path=(*said.path, one.key)), one.key)
            accounts.ignore(said, "contains settings, which are read")
        elif len(texts) != 1:
            accounts.reject(said, _depends(attribute))
        elif attribute.name == "number_of_broker_nodes":
            file.counts.append(replace(said, value=texts[0]))
        else:
            file.releases.append(replace(said, value=texts[0]))
    for inner in block.blocks:
        _put_aside(inner, (*path, *inner.names), file, _NO_SETTING)
    if block.names[1] == _MSK[0]:
        file.components.append(Component(Role.BROKER, block.names[2], settings))


def _with_cluster(file: _File) -> Iterator[Component]:
    """Yield the components; brokers get the release and number of the only cluster of the file."""
    one_cluster = sum(component.role is Role.BROKER for component in file.components) == 1
    releases = {said.value: _MSK_RELEASE.fullmatch(said.value) for said in file.releases}
    release = next(iter(releases.values())) if len(releases) == 1 else None
    for component in file.components:
        if component.role is Role.BROKER:
            component = _with_mode(component, releases.values(), file)
            if one_cluster and release is not None:
                component = replace(component, kafka=file.accounts.take(file.releases[-1], "kafka", release[1]))
            if one_cluster and len(file.counts) == 1:
                component = replace(component, brokers=file.accounts.take(file.counts[0], "brokers"))
        yield component
    taken = one_cluster and len(releases) == 1
    for said in file.releases[: -1 if taken else None]:
        file.accounts.ignore(
            said, "is the release of a cluster, used only if there is one configuration with one release"
        )
    for said in file.counts if not (one_cluster and len(file.counts) == 1) else ():
        file.accounts.ignore(said, "is the number of brokers of a cluster whose configuration is elsewhere")


def _with_mode(component: Component, releases: Iterable[re.Match[str] | None], file: _File) -> Component:
    """Return MSK's brokers with the ZooKeeper mode of their releases.

    "Use 3.7.x.kraft as the version to create a cluster in KRaft mode, 3.7.x for one in ZooKeeper mode" (Amazon MSK's
    developer guide, "KRaft mode"). Before 3.7 there is no KRaft mode, and from 4.0 on no other.
    """
    known = [one for one in releases if one is not None]
    if any(one["kraft"] is None and int(one["major"]) < 4 for one in known):
        mode = file.accounts.by_framework("zookeeper.connect", "zookeeper:2181", "MSK, for a release without .kraft")
        return replace(component, settings={mode.key: mode, **component.settings})
    if not known:
        file.notes.append(
            "MSK uses ZooKeeper before 4.0, except in releases named .kraft; this file does not give the release"
        )
    return component


DIALECT = Dialect("Terraform", fits, read)
