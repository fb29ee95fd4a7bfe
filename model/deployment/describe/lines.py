"""The lines that ``kafka-topics.sh --describe``, ``kafka-configs.sh --describe`` and ``kafka-features.sh describe``
print.

Labels separate the fields, not the tabs between them, because text copied from a terminal has spaces. Releases differ
in spaces after a colon (none up to 2.3), in TopicId (from 2.8), and in the text after the in-sync replicas.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from proofka.model.deployment.defaults import TABLES, is_known

Extent = Literal["all", "dynamic", "cluster"]
"""The extent of a list: all settings, those changed at run time, or those set for all entities of the cluster."""

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
_FEATURE = re.compile(
    r"Feature:\s*(?P<name>\S+)\s+SupportedMinVersion:\s*(?P<least>\S+)\s+SupportedMaxVersion:\s*(?P<most>\S+)\s+"
    r"FinalizedVersionLevel:\s*(?P<level>\S+)\s+Epoch:\s*(?:-|\d{1,19})",
    re.ASCII,
)
_HEADING = re.compile(r"(?P<extent>All|Dynamic) configs for (?P<kind>[a-z-]+) (?P<name>.*) are:")
_OLD_HEADING = re.compile(r"Configs for broker (?P<name>\S+) are:")
_CLUSTER_WIDE = re.compile(r"Default configs? for (?P<kind>[a-z-]+) in the cluster are:")
_ZOOKEEPER = re.compile(r"Configs for (?:topic|topics|broker|brokers) '.*' are.*")
_OF_ZOOKEEPER = re.compile(r"Configs for (?P<kind>topic|broker)s?[ :]'?(?P<name>[^\s':]+)'? are:?(?P<rest>( .*)?)")
_OTHER = re.compile(r"(Quota configs|SCRAM credential configs|Configs) for .* are.*")
_ENTRY = re.compile(
    r"(?P<key>[^\s=]+)=(?P<value>.*?) sensitive=(?P<sensitive>true|false) "
    r"synonyms=\{(?P<synonyms>(?:(?P<source>[A-Z][A-Z_]*):.*)?)\}"
)
_OF_RELEASE = re.compile(r"(?:^|, )DEFAULT_CONFIG:[^\s=]+=(?P<value>[^\s,]+)$")
_TOPIC_AGAIN = re.compile(r"\sTopic:\s")
_NEXT_CONFIG = re.compile(r",(?=([A-Za-z][\w.-]*)=)", re.ASCII)
_LONGEST = 1024 * 1024
_LONGEST_NOISE = 2000
_TOOLS = re.compile(
    r"Topic:\s*\S+\s.*(PartitionCount|Partition):\s*\d|.*\b[Cc]onfigs for .* are\b|Feature:\s*\S+\s+SupportedMin",
    re.ASCII,
)


@dataclass(frozen=True)
class TopicLine:
    """The first line of a topic. ``configs`` is None if the list of settings is broken."""

    name: str
    partitions: int
    replicas: int
    configs: tuple[tuple[str, str], ...] | None
    deleted: bool


@dataclass(frozen=True)
class PartitionLine:
    """A partition of a topic: the brokers of its replicas, whether they are being moved, whether any replica is only
    eligible."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    moving: bool
    eligible: bool


@dataclass(frozen=True)
class Heading:
    """The subject of the following entries: ``kind`` is topic, broker, or a kind that no deployment contains."""

    extent: Extent
    kind: str
    name: str


@dataclass(frozen=True)
class EntryLine:
    """One setting of an entity: its value in force (None for none, or a secret value), its source, and the default of
    the release, if the line ends with the default."""

    key: str
    value: str | None
    source: str
    of_release: str | None = None


@dataclass(frozen=True)
class FeatureLine:
    """A feature of the cluster: the newest level that the brokers support, and the level in force, as printed."""

    name: str
    supported: str
    level: str


@dataclass(frozen=True)
class OtherLine:
    """A line without facts about a topic or broker; ``means`` names the reader's reaction."""

    means: Literal["skip", "failed", "zookeeper"]


Line = TopicLine | PartitionLine | Heading | EntryLine | FeatureLine | OtherLine


def read_line(text: str) -> Line | None:
    """Return the content of a line without its line end; None if no tool prints such a complete line."""
    text = text.strip()
    if not text:
        return OtherLine("skip")
    if len(text) > _LONGEST:
        return None
    entry = _ENTRY.fullmatch(text) if text.endswith("}") else None
    if entry is not None:
        if text.count(" synonyms={") > 1:
            return None  # Terminals can join two lines into one.
        hidden = entry["sensitive"] == "true" or entry["value"] == "null"
        default = None if hidden else _OF_RELEASE.search(entry["synonyms"])
        of_release = None if default is None else default["value"]
        return EntryLine(entry["key"], None if hidden else entry["value"], entry["source"] or DEFAULT, of_release)
    if text.startswith("Topic:"):
        return None if _TOPIC_AGAIN.search(text) else _topic(text) or _partition(text)
    feature = _FEATURE.fullmatch(text)
    if feature is not None:
        return FeatureLine(feature["name"], feature["most"], feature["level"])
    return _heading(text) or _other(text)


def told_by_zookeeper(text: str) -> tuple[str, str, tuple[tuple[str, str], ...]] | None:
    """Return the kind, name and set values of an entity from a line that the tool prints with ZooKeeper.

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
    """Return settings joined by commas, or None. A value can contain commas: a setting starts at the name of a known
    setting."""
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
        return Heading("dynamic", "broker", found["name"])  # before 2.5 the tool listed no others of a broker
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
    """Return the patterns of other lines from shells, Java and its loggers; the first pattern that fits decides."""
    with (TABLES / "tool_noise.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    return tuple(("failed" if row["means"] == "failed" else "skip", re.compile(row["pattern"])) for row in rows)


def is_from_a_tool(text: str) -> bool:
    """Tell whether a line, even a broken one, looks like a line about a topic, a broker, or their settings."""
    return _TOOLS.match(text.strip()[:_LONGEST_NOISE]) is not None
