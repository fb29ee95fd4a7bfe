"""Topics in lists of tools: topicctl, kafka-gitops, JulieOps, and similar files of topics."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from proofka.model.deployment.defaults import is_known
from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import YAML, Document
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.nodes import entries_under, items_under, text_under, under
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given
from proofka.model.deployment.yaml_tree import Mapping as Object
from proofka.model.deployment.yaml_tree import Node, Scalar
from proofka.model.deployment.yaml_tree import Sequence as Items

READER = "the tool"
_TABLE = Path(__file__).with_name("tables") / "topic_lists.csv"
_MINUTE = 60_000
_OTHER = "is for the tool, not a setting of a topic"
_LISTS = ("topics", "kafka_topics", "kafkaTopics", "kafka-topics", "topic_configs", "special_topics")
_NAME, _CONFIG = "name", "config"


@cache
def _names() -> Mapping[str, str]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return {row["name"]: row["setting"] for row in csv.DictReader(table)}


def _is_topicctl(node: Node) -> bool:
    has_name = bool(text_under(node, "meta", "name"))
    spec = {key for key, _ in entries_under(node, "spec")}
    return has_name and "partitions" in spec and bool(spec & {"replicationFactor", "placement"})


def _is_topic(node: Node, named: bool) -> bool:
    """Tell whether a node is a topic of a list, or of a map with its name as the key (``named``)."""
    settings = [_names().get(key, "") for key, _ in entries_under(node)]
    own = {"partitions", "replication.factor", _CONFIG} & set(settings)
    return bool(own) and (named or _NAME in settings)


@dataclass
class _Place:
    """Topics at a path: in a list, or in a map by their names. ``prefix``: the text before their names."""

    path: tuple[str, ...]
    nodes: Sequence[tuple[str, str, Node]]
    prefix: str = ""
    topics: dict[str, list[Said]] = field(default_factory=dict)


def _listed(node: Node | None, path: tuple[str, ...], prefix: str = "") -> _Place | None:
    """Return the topics of a list or a map if some of them have a topic's values; otherwise None."""
    if isinstance(node, Items):
        items = [(f"[{at}]", "", one) for at, one in enumerate(node.items)]
        some = any(_is_topic(one, False) for _, _, one in items)
    elif isinstance(node, Object):
        items = [(entry.key, entry.key, entry.node) for entry in node.entries]
        some = any(_is_topic(one, True) for _, _, one in items)
    else:
        return None
    return _Place(path, items, prefix) if some else None


def _places(root: Node) -> Iterator[_Place]:
    for key in _LISTS:
        found = _listed(under(root, key), (key,))
        if found is not None:
            yield found
    whole = _listed(root, ()) if isinstance(root, Items) else None
    if whole is not None:
        yield whole
    for at, project in enumerate(items_under(root, "projects")):
        name = ".".join(part for part in (_context(root), text_under(project, "name")) if part)
        found = _listed(under(project, "topics"), ("projects", f"[{at}]", "topics"), f"{name}.")
        if found is not None:
            yield found


def _context(root: Node) -> str:
    """Return JulieOps's prefix of topic names: the context, and all other words beside the projects."""
    words = {key: node.text for key, node in entries_under(root) if isinstance(node, Scalar) and not node.null}
    return ".".join((words.pop("context", ""), *words.values())).strip(".")


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether the document has topics of topicctl, or a list of topics with values that only Kafka's topics
    have."""
    nodes = document.yaml if document.suffix in YAML else ()
    if any(_is_topicctl(node) for node in nodes):
        return True
    if len(nodes) != 1 or text_under(nodes[0], "kind"):
        return False
    return any(_is_kafkas(place, nodes[0], document) for place in _places(nodes[0]))


def _is_kafkas(place: _Place, root: Node, document: Document) -> bool:
    """Tell whether a list of topics belongs to Kafka: it has numbers of replicas, or settings of Kafka's topics."""
    for _, _, node in place.nodes:
        for key, inner in entries_under(node):
            setting = _names().get(key, "")
            if setting == "replication.factor":
                return True
            if setting == _CONFIG and any(is_known("topic", name) for name, _ in entries_under(inner)):
                return True
    return "kafka" in document.text.lower() and any(
        _names().get(key) == "partitions" for _, _, node in place.nodes for key, _ in entries_under(node)
    )


def read(document: Document, fillings: Fillings) -> Found:
    """Return the topics of a file."""
    accounts = Accounts(document, fillings)
    components: list[Component] = []
    for node in document.yaml:
        root = accounts.each_once(node, READER)
        if _is_topicctl(root):
            components.append(_topicctl(root, accounts))
        else:
            components += _lists(root, accounts)
    return accounts.found(DIALECT.name, components)


def _topicctl(root: Node, accounts: Accounts) -> Component:
    settings: dict[str, Given] = {}
    lists: dict[str, list[Said]] = {}
    for said in values_of(root):
        match said.path:
            case ("spec", "partitions") if not said.null:
                settings["partitions"] = accounts.take(said, "partitions")
            case ("spec", "replicationFactor") if not said.null:
                settings["replication.factor"] = accounts.take(said, "replication.factor")
            case ("spec", "retentionMinutes") if not said.null:
                minutes = accounts.text(said)
                if minutes.isdecimal() and len(minutes) < 12:
                    value = str(int(minutes) * _MINUTE)
                    settings["retention.ms"] = accounts.take(said, "retention.ms", value)
                else:
                    accounts.reject(said, "is not a number of minutes")
            case ("spec", "settings", key) if not said.null:
                settings[key] = accounts.take(said, key)
            case ("spec", "settings", key, _):
                lists.setdefault(key, []).append(said)
            case _:
                accounts.ignore(said, _OTHER)
    for key, items in lists.items():
        settings[key] = accounts.take(items[0], key, ",".join(accounts.text(one) for one in items))
        for said in items[1:]:
            accounts.ignore(said, "counts with the first value of the list")
    return Component(Role.TOPIC, text_under(root, "meta", "name"), settings)


def _lists(root: Node, accounts: Accounts) -> Iterator[Component]:
    places = list(_places(root))
    defaults: dict[str, Said] = {}
    for said in values_of(root):
        place = next((one for one in places if said.path[: len(one.path)] == one.path), None)
        if place is not None and len(said.path) > len(place.path):
            place.topics.setdefault(said.path[len(place.path)], []).append(said)
        elif said.path[:3] == ("settings", "topics", "defaults") and len(said.path) == 4:
            # kafka-gitops: a default for all topics without their own value.
            setting = _names().get(said.path[3], "")
            if setting and not said.null:
                defaults[setting] = said
            else:
                accounts.ignore(said, _OTHER)
        else:
            accounts.ignore(said, _OTHER)
    counted: set[str] = set()
    for place in places:
        names = {key: name for key, name, _ in place.nodes}
        for key, values in place.topics.items():
            component = _topic(values, len(place.path) + 1, place.prefix, names[key], accounts)
            if component is not None:
                missing = [name for name in defaults if name not in component.settings]
                own = {name: accounts.take(defaults[name], name) for name in missing}
                counted |= set(own)
                yield replace(component, settings={**own, **component.settings})
    for name, said in defaults.items():
        if name not in counted:
            accounts.ignore(said, "is a default, but each topic here has its own value")


def _topic(values: Sequence[Said], depth: int, prefix: str, name: str, accounts: Accounts) -> Component | None:
    settings: dict[str, Given] = {}
    kind = ""
    own = [_names().get(said.path[depth], "") for said in values if len(said.path) == depth + 1]
    if not name and _NAME not in own:
        for said in values:
            accounts.reject(said, "belongs to a topic without a name; add the name")
        return None
    for said in values:
        below = said.path[depth:]
        setting = _names().get(below[0], "") if below else ""
        if said.null:
            accounts.ignore(said, "has no value")
        elif prefix and below == ("dataType",):
            kind = f".{accounts.text(said)}"
            accounts.ignore(said, "is the end of the topic's name")
        elif prefix and below == ("plan",):
            accounts.reject(said, "names a plan, whose settings are in another file")
        elif setting == _NAME and len(below) == 1:
            name = accounts.text(said)
            accounts.ignore(said, "names the topic")
        elif setting == _CONFIG and len(below) == 2 and not below[1].startswith("["):
            # JulieOps has partitions and replicas among the settings.
            key = _names().get(below[1], below[1])
            settings[key] = accounts.take(said, key)
        elif setting == _CONFIG and len(below) == 2 and "=" in said.value:
            key, _, value = said.value.partition("=")
            settings[key.strip()] = accounts.take(said, key.strip(), value.strip())
        elif setting == _CONFIG:
            accounts.reject(said, "is not a single value")
        elif setting and len(below) == 1:
            settings[setting] = accounts.take(said, setting)
        elif len(below) == 1 and is_known("topic", below[0]):
            settings[below[0]] = accounts.take(said, below[0])
        elif len(below) == 1 and is_known("topic", dotted := below[0].replace("_", ".")):
            settings[dotted] = accounts.take(said, dotted)
        else:
            accounts.ignore(said, _OTHER)
    return Component(Role.TOPIC, prefix + name + kind, settings)


DIALECT = Dialect("list of topics", fits, read)
