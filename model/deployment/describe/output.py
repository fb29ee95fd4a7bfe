"""One file of a Kafka tool's output: its topics and settings, each with its place.

Output that is cut off, filtered, or from a failing tool is refused: half a cluster must not pass for a complete one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from proofka.model.deployment.broker_rules import BROKER_KEYS, TOPIC_KEYS
from proofka.model.deployment.defaults import find_definition
from proofka.model.deployment.describe.lines import (
    DEFAULT,
    EntryLine,
    Extent,
    FeatureLine,
    Heading,
    OtherLine,
    PartitionLine,
    TopicLine,
    read_line,
)
from proofka.model.deployment.era import PROTOCOL
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import shown_key
from proofka.model.deployment.release import NEWEST, OLDEST, Release
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.source import decode_utf8

USED = {"topic": frozenset(TOPIC_KEYS), "broker": frozenset(BROKER_KEYS)}
"""The settings that the model reads. Of all others, only those that somebody set are kept."""

_INTERNAL_AT_FIRST = frozenset({"remote.storage.enable"})
"""Settings that older brokers have but do not show."""

_ELSEWHERE = "run the tool again and keep its complete output"


@dataclass(frozen=True)
class Told:
    """A setting in force, and its source; None if the tool does not print the source."""

    given: Given
    source: str | None


@dataclass(frozen=True)
class Section:
    """The settings of one topic or broker, of all brokers, or of another entity.

    ``extent``: all settings, those changed at run time, or those set for all entities of the cluster. ``protocol``: the
    newest protocol between brokers of a broker's release, if the output shows the default.
    """

    extent: Extent
    kind: str
    name: str
    file: str
    line: int
    told: Mapping[str, Told]
    protocol: Given | None = None


@dataclass(frozen=True)
class Feature:
    """A feature of the cluster: the newest level that its brokers support, and the level in force."""

    name: str
    supported: Given
    level: Given


@dataclass(frozen=True)
class Topic:
    """A topic with its partitions combined.

    ``brokers`` hold its replicas. ``lines``: for each number of replicas, the line of a partition with that number.
    Both are empty if the tool was not asked for partitions. ``moving``, ``eligible`` and ``deleted``: the line that
    says so, if any does.
    """

    name: str
    partitions: int
    replicas: int
    file: str
    line: int
    told: Mapping[str, Told]
    brokers: frozenset[int]
    lines: Mapping[int, int]
    moving: int | None
    eligible: int | None
    deleted: bool

    def given(self, key: str, value: str, line: int | None = None) -> Given:
        """Return a value with its place in the file."""
        return Given(key, value, Origin("file", "", self.file, line or self.line))


@dataclass(frozen=True)
class Output:
    """The content of one file, in its order."""

    topics: tuple[Topic, ...]
    sections: tuple[Section, ...]
    features: tuple[Feature, ...] = ()


def read_output(content: bytes, file: str) -> Output:
    """Read the output of ``kafka-topics.sh``, ``kafka-configs.sh`` or ``kafka-features.sh``, or of several of them.

    Raises DeploymentError.
    """
    reader = _Reader(file)
    lines = decode_utf8(content, Path(file)).split("\n")
    for number, text in enumerate(lines, start=1):
        reader.take(text, number)
    return reader.output(len(lines))


@dataclass
class _OpenTopic:
    """A topic whose partitions are still being read."""

    topic: TopicLine
    line: int
    partitions: dict[int, PartitionLine] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)
    moving: int | None = None
    eligible: int | None = None


@dataclass
class _OpenSection:
    """A section whose entries are still being read."""

    heading: Heading
    line: int
    entries: dict[str, tuple[EntryLine, int]] = field(default_factory=dict)


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._topics: list[_OpenTopic] = []
        self._sections: list[_OpenSection] = []
        self._features: list[Feature] = []
        self._open: _OpenTopic | _OpenSection | None = None

    def take(self, text: str, number: int) -> None:
        match read_line(text):
            case TopicLine() as topic:
                if topic.configs is None:
                    raise self._error(f"has settings that are cut off; {_ELSEWHERE}", number, topic.name)
                self._open = _OpenTopic(topic, number)
                self._topics.append(self._open)
            case PartitionLine() as partition:
                self._partition(partition, number)
            case Heading() as heading:
                self._open = _OpenSection(heading, number)
                self._sections.append(self._open)
            case EntryLine() as entry:
                self._entry(entry, number)
            case FeatureLine() as feature:
                self._open = None
                self._features.append(self._feature(feature, number))
            case OtherLine(means="failed"):
                raise self._error("the tool failed here, so its output can be incomplete; run the tool again", number)
            case OtherLine(means="zookeeper"):
                message = (
                    "is a line of a tool that used ZooKeeper, which is not supported; run the tool with "
                    "--bootstrap-server"
                )
                raise self._error(message, number)
            case None:
                # The line is not quoted, because its content is unknown and can be a secret.
                message = (
                    "is no complete line of kafka-topics.sh or kafka-configs.sh --describe; remove it if it has "
                    "another "
                )
                raise self._error(f"{message}source, or {_ELSEWHERE}", number)

    def _partition(self, line: PartitionLine, number: int) -> None:
        topic = self._open
        if not isinstance(topic, _OpenTopic) or topic.topic.name != line.topic:
            message = "a partition without the line of its topic above it; describe complete topics, without a filter"
            raise self._error(message, number, line.topic)
        if line.partition in topic.partitions:
            raise self._error(f"partition {line.partition} is listed twice; {_ELSEWHERE}", number, line.topic)
        topic.partitions[line.partition] = line
        topic.lines.setdefault(len(line.replicas), number)
        topic.moving = topic.moving or (number if line.moving else None)
        topic.eligible = topic.eligible or (number if line.eligible else None)

    def _entry(self, entry: EntryLine, number: int) -> None:
        section = self._open
        key = shown_key(entry.key)
        if not isinstance(section, _OpenSection):
            raise self._error(f"a setting without a heading that names its topic or broker; {_ELSEWHERE}", number, key)
        if entry.key in section.entries:
            raise self._error(f"is listed twice; {_ELSEWHERE}", number, key)
        section.entries[entry.key] = (entry, number)

    def _feature(self, line: FeatureLine, number: int) -> Feature:
        if any(one.name == line.name for one in self._features):
            raise self._error(f"is listed twice; {_ELSEWHERE}", number, shown_key(line.name))
        origin = Origin("file", "", self._file, number)
        return Feature(line.name, Given(line.name, line.supported, origin), Given(line.name, line.level, origin))

    def output(self, last: int) -> Output:
        """Return the content of the file, after its last line."""
        if self._topics and self._topics[-1].line == last:
            # Every other complete line has a recognisable end, but a list of settings can end anywhere.
            message = (
                "the file ends within this line, without a line end: add a line end if the line is complete, or "
                f"{_ELSEWHERE}"
            )
            raise self._error(message, last, self._topics[-1].topic.name)
        with_partitions = any(topic.partitions for topic in self._topics)
        topics = tuple(self._topic(topic, with_partitions) for topic in self._topics)
        sections = tuple(self._section(section) for section in self._sections)
        return Output(topics, sections, tuple(self._features))

    def _topic(self, read: _OpenTopic, with_partitions: bool) -> Topic:
        topic, shown = read.topic, len(read.partitions)
        # No topic has partitions if only settings were requested.
        if shown != topic.partitions and (shown or with_partitions):
            message = f"shows {shown} of {topic.partitions} partitions: the output is cut off or filtered; {_ELSEWHERE}"
            raise self._error(message, read.line, topic.name)
        told = {}
        for key, value in topic.configs or ():
            if key in told:
                raise self._error(f"{shown_key(key)} is listed twice; {_ELSEWHERE}", read.line, topic.name)
            if value != "null":
                told[key] = Told(Given(key, value, Origin("file", "", self._file, read.line)), None)
        return Topic(
            name=topic.name,
            partitions=topic.partitions,
            replicas=topic.replicas,
            file=self._file,
            line=read.line,
            told=told,
            brokers=frozenset(broker for partition in read.partitions.values() for broker in partition.replicas),
            lines=read.lines,
            moving=read.moving,
            eligible=read.eligible,
            deleted=topic.deleted,
        )

    def _section(self, read: _OpenSection) -> Section:
        kind, name, extent = read.heading.kind, read.heading.name, read.heading.extent
        for key in _always_listed(kind) if extent == "all" else ():
            if key not in read.entries:
                message = f"does not list {key}, as --all does: the output is cut off or filtered; {_ELSEWHERE}"
                raise self._error(message, read.line, f"{kind} {shown_key(name)}")
        told = {}
        protocol = None
        for key, (entry, number) in read.entries.items():
            if key == PROTOCOL and kind == "broker" and entry.of_release is not None:
                protocol = Given(key, entry.of_release, Origin("file", "", self._file, number))
            if entry.value is not None and (entry.source != DEFAULT or key in USED.get(kind, ())):
                given = Given(key, entry.value, Origin("file", "", self._file, number))
                told[key] = Told(given, entry.source)
        return Section(extent, kind, name, self._file, read.line, told, protocol)

    def _error(self, message: str, line: int, key: str | None = None) -> DeploymentError:
        return DeploymentError(message, file=self._file, line=line, key=key)


@cache
def _always_listed(kind: str) -> tuple[str, ...]:
    """Return the settings of a kind that every modelled release defines, gives a value, and shows."""
    ends = [Release(*OLDEST), Release(*NEWEST)]
    found = []
    for key in sorted(USED.get(kind, frozenset()) - _INTERNAL_AT_FIRST):
        definitions = [find_definition(kind, key, release) for release in ends]
        if all(definition is not None and definition.default is not None for definition in definitions):
            found.append(key)
    return tuple(found)
