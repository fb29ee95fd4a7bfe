"""The facts of a cluster as Kafka's own tools print them: ``kafka-topics.sh --describe``, ``kafka-configs.sh
--describe --all`` and ``kafka-features.sh describe``, so that the reader of their outputs reads a live cluster too.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files

from proofka.checker.live.facts import Broker, Feature, Features, Group, Partition, Synonym, Topic, Value

METADATA = "metadata.version"


def topics_text(topics: Iterable[Topic]) -> str:
    """Return topics and their partitions as ``kafka-topics.sh --describe`` prints them.

    The settings of topics are printed by :func:`settings_of_topics` alone, which shows their sources.
    """
    return _text(line for topic in topics for line in _topic(topic))


def _topic(topic: Topic) -> Iterator[str]:
    fields = [f"Topic: {topic.name}"]
    fields += [f"TopicId: {topic.identity}"] if topic.identity is not None else []
    replicas = len(topic.partitions[0].replicas) if topic.partitions else 0
    fields += [f"PartitionCount: {len(topic.partitions)}", f"ReplicationFactor: {replicas}", "Configs: "]
    yield "\t".join(fields)
    for partition in topic.partitions:
        yield "\t" + "\t".join(_partition(topic.name, partition))


def _partition(topic: str, partition: Partition) -> Iterator[str]:
    yield f"Topic: {topic}"
    yield f"Partition: {partition.number}"
    yield f"Leader: {'none' if partition.leader is None else partition.leader}"
    yield f"Replicas: {_numbers(partition.replicas)}"
    yield f"Isr: {_numbers(partition.in_sync)}"
    if partition.adding or partition.removing:
        yield f"Adding Replicas: {_numbers(partition.adding)}"
        yield f"Removing Replicas: {_numbers(partition.removing)}"


def _numbers(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))


def settings_of_topics(topics: Iterable[Topic]) -> str:
    """Return the settings of topics as ``kafka-configs.sh --describe --all --entity-type topics`` prints them."""
    return _text(line for topic in topics for line in _section(f"All configs for topic {topic.name}", topic.settings))


def settings_of_brokers(brokers: Iterable[Broker]) -> str:
    """Return the settings of the brokers that were asked, as the tool prints them with ``--entity-type brokers``."""
    return _text(
        line
        for broker in brokers
        if broker.settings is not None
        for line in _section(f"All configs for broker {broker.number}", broker.settings)
    )


def settings_of_groups(groups: Iterable[Group]) -> str:
    """Return the groups' own settings as the tool prints them with ``--entity-type groups``."""
    return _text(
        line for group in groups for line in _section(f"Dynamic configs for group {group.name}", group.settings)
    )


def _section(heading: str, settings: Iterable[Value]) -> Iterator[str]:
    yield f"{heading} are:"
    for one in sorted(settings, key=lambda one: one.key):
        synonyms = ", ".join(_synonym(synonym) for synonym in one.synonyms)
        yield f"  {one.key}={_shown(one.value)} sensitive={str(one.hidden).lower()} synonyms={{{synonyms}}}"


def _synonym(synonym: Synonym) -> str:
    return f"{synonym.source}:{synonym.key}={_shown(synonym.value)}"


def _shown(value: str | None) -> str:
    """Return a value on one line. No setting that the model reads has another character than printable ones."""
    if value is None:
        return "null"
    return "".join(character if character.isprintable() else " " for character in value)


def features_text(features: Features) -> str:
    """Return features as ``kafka-features.sh describe`` prints them."""
    epoch = "-" if features.epoch is None else str(features.epoch)
    return _text("\t".join((*_feature(feature), f"Epoch: {epoch}")) for feature in features.ones)


def _feature(feature: Feature) -> Iterator[str]:
    yield f"Feature: {feature.name}"
    yield f"SupportedMinVersion: {level_name(feature.name, feature.least)}"
    yield f"SupportedMaxVersion: {level_name(feature.name, feature.most)}"
    yield f"FinalizedVersionLevel: {level_name(feature.name, feature.level)}"


def level_name(feature: str, level: int) -> str:
    """Return a level as the tool prints it: of ``metadata.version`` a name, of other features the number."""
    return _metadata_versions().get(level, str(level)) if feature == METADATA else str(level)


@cache
def _metadata_versions() -> dict[int, str]:
    table = files(__package__).joinpath("metadata_versions.csv").read_text(encoding="utf-8")
    return {int(row["level"]): row["version"] for row in csv.DictReader(table.splitlines())}


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
