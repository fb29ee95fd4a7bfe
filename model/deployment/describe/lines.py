"""The lines that ``kafka-topics.sh --describe`` and ``kafka-configs.sh --describe`` print, one by one.

Fields are told apart by their labels, not by the tabs between them: text copied from a terminal has blanks. Releases
differ in blanks after a colon (none up to 2.3), in TopicId (from 2.8), and in what follows the in-sync replicas.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from model.deployment.defaults import TABLES, is_known

Extent = Literal["all", "dynamic", "cluster"]
"""What is listed of an entity: everything, what was set while it ran, or what was set for all in the cluster."""

DEFAULT = "DEFAULT_CONFIG"
"""The source of a value that nobody set."""

OWN = "DYNAMIC_TOPIC_CONFIG"
"""The source of a value that was set for the topic itself."""

_TOPIC = re.compile(
    r"Topic:\s*(?P<name>\S+)\s+(?:TopicId:\s*\S+\s+)?PartitionCount:\s*(?P<partitions>\d{1,7})\s+"
    r"ReplicationFactor:\s*(?P<replicas>\d{1,5})\s+Configs:(?P<rest>.*)",
    re.ASCII,
)
_DELETED = "MarkedForDeletion:"
_PARTITION = re.compile(
    r"Topic:\s*(?P<name>\S+)\s+Partition:\s*(?P<partition>\d{1,7})\s+Leader:\s*(?:none|-?\d{1,10})\s+"
    r"Replicas:\s*(?P<replicas>\d{1,10}(?:,\d{1,10})*)\s+Isr:(?P<rest>.*)",
    re.ASCII,
)
_MOVING = re.compile(r"\s(Adding|Removing) Replicas:\s*\d", re.ASCII)
_ELIGIBLE = re.compile(r"\sElr:[ ]*\d", re.ASCII)
_HEADING = re.compile(r"(?P<extent>All|Dynamic) configs for (?P<kind>[a-z-]+) (?P<name>.*) are:")
_OLD_HEADING = re.compile(r"Configs for broker (?P<name>\S+) are:")
_CLUSTER_WIDE = re.compile(r"Default configs? for (?P<kind>[a-z-]+) in the cluster are:")
_ZOOKEEPER = re.compile(r"Configs for (?:topic|topics|broker|brokers) '.*' are.*")
_OF_ZOOKEEPER = re.compile(r"Configs for (?P<kind>topic|broker)s?[ :]'?(?P<name>[^\s':]+)'? are:?(?P<rest>( .*)?)")
_OTHER = re.compile(r"(Quota configs|SCRAM credential configs|Configs) for .* are.*")
_ENTRY = re.compile(
    r"(?P<key>[^\s=]+)=(?P<value>.*?) sensitive=(?P<sensitive>true|false) "
    r"synonyms=\{(?:(?P<source>[A-Z][A-Z_]*):.*)?\}"
)
_TOPIC_AGAIN = re.compile(r"\sTopic:\s")
_NEXT_CONFIG = re.compile(r",(?=([A-Za-z][\w.-]*)=)", re.ASCII)
_LONGEST = 1024 * 1024
_LONGEST_NOISE = 2000
_TOOLS = re.compile(r"Topic:\s*\S+\s.*(PartitionCount|Partition):\s*\d|.*\b[Cc]onfigs for .* are\b", re.ASCII)


@dataclass(frozen=True)
class TopicLine:
    """The first line of a topic. ``configs`` is None where the list of settings is broken."""

    name: str
    partitions: int
    replicas: int
    configs: tuple[tuple[str, str], ...] | None
    deleted: bool


@dataclass(frozen=True)
class PartitionLine:
    """A partition of a topic: where its replicas are, whether they are being moved, whether any is merely eligible."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    moving: bool
    eligible: bool


@dataclass(frozen=True)
class Heading:
    """What the following entries are about: ``kind`` is topic, broker, or what no deployment speaks of."""

    extent: Extent
    kind: str
    name: str


@dataclass(frozen=True)
class EntryLine:
    """One setting of an entity: its value in force (None for none, or a secret one) and who set it."""

    key: str
    value: str | None
    source: str


@dataclass(frozen=True)
class OtherLine:
    """A line that says nothing of a topic or broker; ``means`` names what is to be done about it."""

    means: Literal["skip", "failed", "zookeeper"]


Line = TopicLine | PartitionLine | Heading | EntryLine | OtherLine


def read_line(text: str) -> Line | None:
    """What a line says, without its line end; None if no tool prints such a line whole."""
    text = text.strip()
    if not text:
        return OtherLine("skip")
    if len(text) > _LONGEST:
        return None
    entry = _ENTRY.fullmatch(text) if text.endswith("}") else None
    if entry is not None:
        if text.count(" synonyms={") > 1:
            return None  # two lines in one, as terminals make them
        hidden = entry["sensitive"] == "true" or entry["value"] == "null"
        return EntryLine(entry["key"], None if hidden else entry["value"], entry["source"] or DEFAULT)
    if text.startswith("Topic:"):
        return None if _TOPIC_AGAIN.search(text) else _topic(text) or _partition(text)
    return _heading(text) or _other(text)


def told_by_zookeeper(text: str) -> tuple[str, str, tuple[tuple[str, str], ...]] | None:
    """The kind and the name of an entity, and what was set for it, as the tool prints it that was asked of ZooKeeper.

    >>> told_by_zookeeper("Configs for topic 'orders' are retention.ms=1000,cleanup.policy=compact")
    ('topic', 'orders', (('retention.ms', '1000'), ('cleanup.policy', 'compact')))
    """
    found = _OF_ZOOKEEPER.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    configs = None if found is None else _configs(found["rest"].strip())
    return None if found is None or configs is None else (found["kind"], found["name"], configs)


def _topic(text: str) -> TopicLine | None:
    found = _TOPIC.fullmatch(text)
    if found is None:
        return None
    rest = found["rest"]
    marked = rest.removesuffix("true").rstrip()
    deleted = marked.endswith(_DELETED)
    configs = _configs((marked.removesuffix(_DELETED) if deleted else rest).strip())
    return TopicLine(found["name"], int(found["partitions"]), int(found["replicas"]), configs, deleted)


def _configs(text: str) -> tuple[tuple[str, str], ...] | None:
    """Settings joined by commas. A value may hold commas as well: a setting starts where the name of one follows."""
    if not text:
        return ()
    starts = [0, *(at.end() for at in _NEXT_CONFIG.finditer(text) if "." in at[1] or is_known("topic", at[1]))]
    parts = [text[start : end - 1] for start, end in zip(starts, [*starts[1:], len(text) + 1], strict=True)]
    pairs = [part.partition("=") for part in parts]
    return tuple((key, value) for key, _, value in pairs) if all(key and sign for key, sign, _ in pairs) else None


def _partition(text: str) -> PartitionLine | None:
    found = _PARTITION.fullmatch(text)
    if found is None:
        return None
    replicas = tuple(int(replica) for replica in found["replicas"].split(","))
    moving, eligible = _MOVING.search(found["rest"]), _ELIGIBLE.search(found["rest"])
    return PartitionLine(found["name"], int(found["partition"]), replicas, moving is not None, eligible is not None)


def _heading(text: str) -> Heading | None:
    found = _HEADING.fullmatch(text)
    if found is not None:
        return Heading("all" if found["extent"] == "All" else "dynamic", found["kind"], found["name"])
    found = _OLD_HEADING.fullmatch(text)
    if found is not None:
        return Heading("dynamic", "broker", found["name"])  # before 2.5 the tool knew no other settings of a broker
    found = _CLUSTER_WIDE.fullmatch(text)
    return Heading("cluster", found["kind"], "") if found is not None else None


def _other(text: str) -> OtherLine | None:
    if _ZOOKEEPER.fullmatch(text):
        return OtherLine("zookeeper")
    if _OTHER.fullmatch(text):
        return OtherLine("skip")
    if len(text) > _LONGEST_NOISE:
        return None
    return next((OtherLine(means) for means, pattern in _noise() if pattern.fullmatch(text)), None)


@cache
def _noise() -> tuple[tuple[Literal["skip", "failed"], re.Pattern[str]], ...]:
    """What shells, Java and its loggers print in between; the first pattern that fits tells."""
    with (TABLES / "tool_noise.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    return tuple(("failed" if row["means"] == "failed" else "skip", re.compile(row["pattern"])) for row in rows)


def is_from_a_tool(text: str) -> bool:
    """Whether a line, even a broken one, looks like one that tells of a topic, a broker, or their settings."""
    return _TOOLS.match(text.strip()[:_LONGEST_NOISE]) is not None
