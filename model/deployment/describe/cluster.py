"""A cluster: the combined facts of all outputs about each topic and the brokers that hold it.

The reader never guesses. If outputs contradict each other, or brokers disagree on a setting with an effect, it reports
an error instead of settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from proofka.model.deployment.broker_rules import RETENTION_UNITS, UNSET
from proofka.model.deployment.describe.features import release_of, together
from proofka.model.deployment.describe.lines import DEFAULT, OWN
from proofka.model.deployment.describe.output import USED, Feature, Output, Section, Told, Topic
from proofka.model.deployment.errors import DeploymentError, NotModelledError
from proofka.model.deployment.given import Given, Settings, complaint, place
from proofka.model.deployment.group_rules import HEARTBEAT, OF_GROUP, SESSION
from proofka.model.deployment.hiding import printable, shown_key, shown_value
from proofka.model.deployment.synonyms import BROKER_NAMES, TOPIC_NAMES

_STALE = "the outputs are from different times or clusters: describe the cluster again, each cluster in its own folder"


ROLES = "process.roles"
_OF_GROUPS = {"consumer.session.timeout.ms": SESSION, "consumer.heartbeat.interval.ms": HEARTBEAT}
"""The settings of a group that outrank a setting of the brokers."""


@dataclass(frozen=True)
class TopicSettings:
    """The settings that hold for one topic. ``elr``: the brokers keep eligible leader replicas, if an output shows
    it."""

    topic: Settings
    broker: Settings
    elr: Given | None


@dataclass(frozen=True)
class Cluster:
    """Topics by name with their listed settings, brokers by id, features and groups by name."""

    topics: Mapping[str, Topic]
    configs: Mapping[str, Section]
    brokers: Mapping[str, Section]
    features: Mapping[str, Feature] = field(default_factory=dict)
    groups: Mapping[str, Section] = field(default_factory=dict)

    @property
    def release(self) -> Given | None:
        """The line of the brokers' release, if an output tells. Raises DeploymentError if outputs contradict it."""
        return release_of(self.features, self.brokers.values())

    def of_group(self, group: str) -> dict[str, Given]:
        """Return the settings of the brokers that a group has for itself."""
        section = self.groups.get(group)
        own = {} if section is None else {key: one.given for key, one in section.told.items() if key in _OF_GROUPS}
        origins = {key: replace(given.origin, detail=OF_GROUP) for key, given in own.items()}
        return {_OF_GROUPS[key]: Given(_OF_GROUPS[key], own[key].value, origins[key]) for key in own}

    def names(self) -> list[str]:
        """Return the name of every topic in any output."""
        return sorted({*self.topics, *self.configs})

    def settings(self, name: str) -> TopicSettings:
        """Return the settings that hold for a topic. Raises DeploymentError if the outputs lack or contradict them."""
        topic = self._described(name)
        _check_whole(topic)
        own = self.configs.get(name)
        told = dict(topic.told)
        if own is not None:
            _check_same(name, topic.told, own)
            told |= own.told
        settings = {key: one.given for key, one in told.items()}
        settings["replication.factor"] = topic.given("replication.factor", str(topic.replicas))
        settings["partitions"] = topic.given("partitions", str(topic.partitions))
        elr = topic.given("elr", "on", topic.eligible) if topic.eligible is not None else None
        holding = self._holding(topic)
        return TopicSettings(settings, dict(_agreed(holding, _Precedence(topic, own, told))), elr)

    def _described(self, name: str) -> Topic:
        topic = self.topics.get(name)
        if topic is not None:
            return topic
        own = self.configs.get(name)
        if own is not None:
            message = "no output gives its number of replicas: add the output of kafka-topics.sh --describe"
            raise DeploymentError(message, file=own.file, line=own.line, key=f"topic {shown_key(name)}")
        close = get_close_matches(name, self.names(), n=1) if len(name) < 250 else []
        hint = f"; did you mean {close[0]}?" if close else ""
        raise DeploymentError(f"no output describes a topic {printable(name)!r}{hint}", key="topic")

    def _holding(self, topic: Topic) -> list[Section]:
        """Return the brokers with the topic's replicas, or all described brokers if no output names the replicas."""
        if not self.brokers or not topic.brokers:
            return list(self.brokers.values())
        missing = [str(broker) for broker in sorted(topic.brokers) if str(broker) not in self.brokers]
        if missing:
            message = (
                f"has replicas on brokers whose settings are in no output ({printable(', '.join(missing))}); "
                "add the output of kafka-configs.sh --describe --all --entity-type brokers"
            )
            raise DeploymentError(message, file=topic.file, line=topic.line, key=f"topic {shown_key(topic.name)}")
        return [self.brokers[str(broker)] for broker in sorted(topic.brokers)]


def put_together(outputs: Sequence[Output]) -> Cluster:
    """Combine all outputs into one cluster. Raises DeploymentError if two outputs describe the same thing
    differently."""
    topics: dict[str, Topic] = {}
    sections: dict[tuple[str, str, str], Section] = {}
    for output in outputs:
        for topic in output.topics:
            first_topic = topics.setdefault(topic.name, topic)
            if _without_place(first_topic) != _without_place(topic):
                raise _described_twice(f"topic {shown_key(topic.name)}", first_topic, topic)
        for section in output.sections:
            key = (section.kind, section.name, section.extent)
            first = sections.setdefault(key, section)
            if _values(first.told) != _values(section.told):
                raise _described_twice(f"{section.kind} {shown_key(section.name)}", first, section)
    features = together(feature for output in outputs for feature in output.features)
    groups = {name: section for (kind, name, _), section in sections.items() if kind == "group"}
    return Cluster(topics, _configs(sections), _brokers(sections), features, groups)


def _configs(sections: Mapping[tuple[str, str, str], Section]) -> dict[str, Section]:
    """Return the topics' settings: the complete list if there is one, otherwise the set values."""
    found: dict[str, Section] = {}
    for extent in ("dynamic", "all"):
        for (kind, name, listed), section in sections.items():
            if kind == "topic" and listed == extent:
                if name in found:
                    _check_same(name, found[name].told, section)
                found[name] = section
    return found


def _brokers(sections: Mapping[tuple[str, str, str], Section]) -> dict[str, Section]:
    """Return the brokers with all of their settings, which include the defaults of the cluster."""
    brokers = {name: section for (kind, name, extent), section in sections.items() if (kind, extent) == _ALL_OF_BROKER}
    for (kind, name, _), section in sections.items():
        if kind in ("broker", "brokers") and name not in brokers and not (section.extent == "cluster" and brokers):
            message = (
                "lists only settings that were changed while the brokers ran, not those of their files; describe "
                "them with --all (kafka-configs.sh of Kafka 2.5 or later)"
            )
            raise DeploymentError(message, file=section.file, line=section.line, key=f"broker {shown_key(name)}")
    return brokers


_ALL_OF_BROKER = ("broker", "all")


def _without_place(topic: Topic) -> tuple[object, ...]:
    return topic.partitions, topic.replicas, topic.brokers, topic.deleted, _values(topic.told)


def _values(told: Mapping[str, Told]) -> dict[str, tuple[str, str | None]]:
    return {key: (one.given.value, one.source) for key, one in told.items()}


def _described_twice(key: str, first: Topic | Section, second: Topic | Section) -> DeploymentError:
    message = f"is described differently at {first.file}:{first.line}; {_STALE}"
    return DeploymentError(message, file=second.file, line=second.line, key=key)


def _check_whole(topic: Topic) -> None:
    """Raise DeploymentError for a topic that is changing, or has partitions with different numbers of replicas."""
    key = f"topic {shown_key(topic.name)}"
    if topic.deleted:
        raise DeploymentError(
            "is marked for deletion; remove it from the list of pipelines, or describe the cluster again",
            file=topic.file,
            line=topic.line,
            key=key,
        )
    if topic.moving is not None:
        message = "has a partition whose replicas are being moved; describe the topic again after the move"
        raise DeploymentError(message, file=topic.file, line=topic.moving, key=key)
    if len(topic.lines) > 1:
        numbers = " and ".join(f"{replicas} (line {line})" for replicas, line in sorted(topic.lines.items()))
        what = f"partitions with different numbers of replicas, {numbers}"
        raise NotModelledError(what, "N06", file=topic.file, line=topic.line, key=key)
    if topic.lines and topic.replicas not in topic.lines:
        shown = next(iter(topic.lines))
        message = (
            f"says ReplicationFactor {topic.replicas}, but each partition has {shown} replicas; describe the topic "
            "again"
        )
        raise DeploymentError(message, file=topic.file, line=topic.line, key=key)


def _check_same(name: str, told: Mapping[str, Told], section: Section) -> None:
    """Raise DeploymentError if two outputs give a topic's setting different values. A value that one lists as set must
    be in the other."""
    for key, one in told.items():
        other = section.told.get(key)
        if other is None and section.extent != "all":
            continue
        if other is None or other.given.value != one.given.value:
            shown = "the default" if other is None else shown_value(key, other.given.value)
            at = f"{section.file}:{section.line}" if other is None else place(other.given)
            message = (
                f"is {shown_value(key, one.given.value)} for topic {shown_key(name)}, but {shown} at {at}: {_STALE}"
            )
            raise complaint(Given(shown_key(key), "", one.given.origin), message)


@dataclass(frozen=True)
class _Precedence:
    """The precedence between a topic and its brokers: the broker settings that the topic outranks."""

    topic: Topic
    own: Section | None
    told: Mapping[str, Told]

    def sets(self, key: str) -> bool | None:
        """Tell whether the topic has its own value; None if no output says so."""
        if key == "replication.factor":
            return True
        if self.own is not None:
            return key in self.own.told and self.own.told[key].source == OWN
        return None if key in self.told else False

    def check(self, key: str, of_brokers: Told) -> None:
        """Raise DeploymentError if a value of the brokers differs from the value that the topic inherits from them."""
        own = self.told.get(key)
        if own is None:
            same = of_brokers.source == DEFAULT  # Values that nobody set are not listed.
            shown = "the default"
        else:
            same = own.given.value.strip().lower() == _as_a_topic_says_it(of_brokers.given)
            shown = f"{shown_value(key, own.given.value)} at {place(own.given)}"
        if not same:
            value = shown_value(key, of_brokers.given.value)
            message = f"is {value} by the brokers, but {shown} for topic {shown_key(self.topic.name)}: {_STALE}"
            raise complaint(of_brokers.given, message)


def _as_a_topic_says_it(given: Given) -> str:
    """Return a value of a broker setting in the unit of the topic setting that it replaces."""
    unit, value = RETENTION_UNITS.get(given.key), given.value.strip().lower()
    return value if unit is None or not value.isdigit() else str(int(value) * unit)


def _stands_in(key: str, broker: Section) -> bool:
    """Tell whether this broker setting, and no stronger one, replaces the topic's setting."""
    names = BROKER_NAMES[TOPIC_NAMES[key]]
    is_set = [name for name in names if name in broker.told and broker.told[name].given.value.strip() not in UNSET]
    return not is_set or is_set[0] == key


def _agreed(brokers: list[Section], topic: _Precedence) -> Iterator[tuple[str, Given]]:
    """Yield the settings of the brokers on which they agree. Raises DeploymentError if they disagree on one that
    matters."""
    for key in sorted({key for broker in brokers for key in broker.told}):
        told = [(broker.name, broker.told[key]) for broker in brokers if key in broker.told]
        if key in USED["broker"]:
            topic_key = TOPIC_NAMES.get(key)
            sets = topic.sets(topic_key) if topic_key is not None else False
            values = {_meaning(one.given) for _, one in told}
            if not sets and (len(values) > 1 or len(told) < len(brokers)):
                raise _disagreement(key, brokers, sets, topic.topic)
            if topic_key is not None and sets is False and _stands_in(key, brokers[0]):
                topic.check(topic_key, told[0][1])
        yield key, told[0][1].given


def _meaning(given: Given) -> str:
    """Return what matters of a value: of the roles of a node only whether there are any, as in KRaft mode."""
    return "some" if given.key == ROLES and given.value.strip() else given.value


def _disagreement(key: str, brokers: list[Section], sets: bool | None, topic: Topic) -> DeploymentError:
    by_value: dict[str | None, list[str]] = {}
    for broker in brokers:
        one = broker.told.get(key)
        by_value.setdefault(None if one is None else one.given.value, []).append(broker.name)
    said = " and ".join(
        f"{'without a value' if value is None else shown_value(key, value)} on broker {', '.join(names)}"
        for value, names in by_value.items()
    )
    todo = (
        "give the brokers the same value, or give the topic its own value"
        if key in TOPIC_NAMES
        else ("give the brokers the same value")
    )
    if sets is None:
        todo = (
            "no output says whether the topic has its own value: add the output of "
            "kafka-configs.sh --describe --all --entity-type topics"
        )
    first = next(broker.told[key].given for broker in brokers if key in broker.told)
    message = f"is {printable(said)}, among the brokers that hold topic {shown_key(topic.name)}: {todo}"
    return complaint(first, message)
