"""Output of ``kafka-topics.sh --describe`` and ``kafka-configs.sh --describe``: alone, or among other text.

An audit refuses an incomplete output; a page of documentation or a shell log can be incomplete.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from proofka.model.deployment.describe.lines import (
    DEFAULT,
    EntryLine,
    Heading,
    PartitionLine,
    TopicLine,
    is_from_a_tool,
    read_line,
    told_by_zookeeper,
)
from proofka.model.deployment.describe.output import USED
from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.brokers import Broker, together
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given

_WORDS = ("PartitionCount", "onfigs for ", "onfig for ")
_QUOTED = re.compile(r"^[\s>|*`]+(?=Topic:|All |Dynamic |Default |Configs )")
_ELIGIBLE = "eligible.leader.replicas.version"
_TWO_VALUES = "is the second value of this setting in one description, which no tool prints; run the tool again"
_OFFSET = re.compile(r"\boffset\b", re.IGNORECASE)
"""A word that the tools' lines of topics do not contain: such a line is another program's message about a record."""


@dataclass
class _Topic:
    """A topic, and the number of replicas in each line of a partition."""

    settings: dict[str, Said] = field(default_factory=dict)
    shown: list[tuple[Said, int]] = field(default_factory=list)
    broken: str = ""


@dataclass
class _Output:
    accounts: Accounts
    topics: dict[str, _Topic] = field(default_factory=dict)
    brokers: dict[str, Broker] = field(default_factory=dict)
    eligible: Said | None = None
    heading: Heading | None = None
    listed: dict[str, str] = field(default_factory=dict)
    """The values below the heading so far."""


def _lines(document: Document) -> Iterator[tuple[int, str]]:
    for number, text in enumerate(document.text.split("\n"), start=1):
        # Pages of documentation contain no-break spaces, which no tool prints.
        yield number, _QUOTED.sub("", text.rstrip("\r").replace("\N{NO-BREAK SPACE}", " "))


def fits(document: Document) -> bool:
    """Tell whether a line is the tool's own, about a topic or settings."""
    if not any(word in document.text for word in _WORDS):
        return False
    entries = False
    for _, text in _lines(document):
        if told_by_zookeeper(text) is not None:
            return True
        if not text.strip().startswith(("Topic:", "All ", "Dynamic ", "Default ", "Configs ")):
            continue
        match read_line(text):
            case TopicLine():
                return True
            case Heading():
                entries = " synonyms={" in document.text
    return entries


def read(document: Document, fillings: Fillings) -> Found:
    """Return the topics, and the brokers of the cluster."""
    output = _Output(Accounts(document, fillings))
    for number, text in _lines(document):
        _take(text, number, output)
    components = [_topic(name, topic, output.accounts) for name, topic in output.topics.items()]
    if output.eligible is not None:
        all_brokers = output.brokers.setdefault("brokers", Broker("brokers", 0))
        all_brokers.settings.setdefault(_ELIGIBLE, output.eligible)
    if output.brokers:
        components.append(together(list(output.brokers.values()), output.accounts))
    return output.accounts.found(DIALECT.name, components)


def _take(text: str, number: int, output: _Output) -> None:
    accounts = output.accounts
    of_zookeeper = told_by_zookeeper(text)
    if of_zookeeper is not None:
        kind, name, configs = of_zookeeper
        output.listed = {}
        for key, value in configs:
            _set(_once(Said((kind, name, key), value, number), output), kind, name, output)
        return
    match read_line(text):
        case TopicLine() as line:
            _described(line, number, output)
        case PartitionLine() as partition:
            said = Said(("topic", partition.topic, f"partition {partition.partition}"), "", number)
            topic = output.topics.get(partition.topic)
            if topic is None:
                accounts.ignore(said, "is a partition without the line of its topic")
                return
            if partition.moving:
                topic.broken = "its replicas are being moved"
            if partition.eligible and output.eligible is None:
                output.eligible = Said(said.path, "1", number)
            else:
                accounts.ignore(said, "gives the places of a partition's replicas")
            topic.shown.append((said, len(partition.replicas)))
        case Heading() as heading:
            output.heading, output.listed = heading, {}
        case EntryLine() as entry if output.heading is not None:
            _entry(entry, number, output.heading, output)
        case None if is_from_a_tool(text) and _OFFSET.search(text) is None:
            accounts.reject(
                Said(("line",), "", number),
                "is no complete line of kafka-topics.sh or kafka-configs.sh; run the tool again",
            )


def _described(line: TopicLine, number: int, output: _Output) -> None:
    """Read a topic's line; if the topic is described again, as at another time, the last counts."""
    before = output.topics.get(line.name)
    if before is not None and "replication.factor" in before.settings:
        for said in before.settings.values():
            output.accounts.ignore(said, f"is repeated in line {number}, whose value counts")
        before = None
    topic = output.topics[line.name] = before or _Topic()
    path = ("topic", line.name)
    topic.settings["partitions"] = Said((*path, "PartitionCount"), str(line.partitions), number)
    topic.settings["replication.factor"] = Said((*path, "ReplicationFactor"), str(line.replicas), number)
    if line.configs is None:
        output.accounts.reject(
            Said((*path, "Configs"), "", number), "is a list of settings that is cut off; run the tool again"
        )
    output.listed = {}
    for key, value in line.configs or ():
        topic.settings[key] = _once(Said((*path, key), value, number), output)
    if line.deleted:
        topic.broken = "it is marked for deletion"


def _entry(entry: EntryLine, number: int, heading: Heading, output: _Output) -> None:
    said = Said((heading.kind, heading.name, entry.key), entry.value or "", number)
    if entry.value is None:
        output.accounts.ignore(said, "is not set, or a secret")
    elif heading.kind not in ("topic", "broker", "brokers"):
        output.accounts.ignore(said, f"is a setting of {heading.kind}, not of topics or brokers")
    elif entry.source == DEFAULT and entry.key not in USED["topic" if heading.kind == "topic" else "broker"]:
        output.accounts.ignore(said, "is the default of the release")
    else:
        _set(_once(said, output), heading.kind, heading.name, output)


def _once(said: Said, output: _Output) -> Said:
    """Return a value; it is rejected if the same description has another value of this setting."""
    if output.listed.setdefault(said.path[-1], said.value) != said.value:
        output.accounts.reject(said, _TWO_VALUES)
    return said


def _set(said: Said, kind: str, name: str, output: _Output) -> None:
    if kind == "topic":
        settings = output.topics.setdefault(name, _Topic()).settings
    else:
        # A setting for all brokers, without an id, is no additional broker.
        settings = output.brokers.setdefault(name or "brokers", Broker(name or "brokers", int(bool(name)))).settings
    key = said.path[-1]
    if key in settings:
        output.accounts.ignore(settings[key], f"is repeated in line {said.line}, whose value counts")
    settings[key] = said


def _topic(name: str, topic: _Topic, accounts: Accounts) -> Component:
    settings: dict[str, Given] = {}
    replicas = topic.settings.get("replication.factor")
    other = next((said for said, count in topic.shown if replicas is not None and str(count) != replicas.value), None)
    problem = topic.broken or ("" if other is None else "its partitions have other numbers of replicas")
    for key, said in topic.settings.items():
        # A topic that is changing gets a placeholder as its number of replicas, so no rule uses it.
        unclear = f"${{{problem}}}" if problem and key == "replication.factor" else None
        settings[key] = accounts.take(said, key, unclear)
    return Component(Role.TOPIC, name, settings)


DIALECT = Dialect("output of Kafka's tools", fits, read)
