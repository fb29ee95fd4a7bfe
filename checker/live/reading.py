"""The reading of a live cluster for a check, through an :class:`~checker.live.admin.Admin`.

A right that is missing ends the reading. A broker that does not answer does not: the brokers that answer are read, and
the result says what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from proofka.checker.live.admin import GROUP, TOPIC, Admin, Coordinated, Listed, Node, Refusal, rights_for
from proofka.checker.live.errors import LiveError, NoAnswer, NoRights, WrongChoice
from proofka.checker.live.facts import Broker, Facts, Features, Group, Topic, Value
from proofka.model.deployment.describe.pipelines import INTERNAL
from proofka.model.deployment.hiding import printable

AT_ONCE = 200
"""The number of topics whose settings one request asks for."""

GROUP_SETTINGS = "group.version"
"""The feature without which groups have no settings of their own."""

_OWN_OF_GROUP = "DYNAMIC_GROUP_CONFIG"
_PROTOCOLS = ("classic", "consumer")
_MOST_NAMED = 5


@dataclass(frozen=True)
class Wanted:
    """The topics and groups to read. Without topics, those of the groups, and without groups every topic.

    ``may_be_missing``: groups that a client's file names, which need not be there yet.
    """

    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    may_be_missing: tuple[str, ...] = ()


def read(admin: Admin, wanted: Wanted) -> Facts:
    """Read a cluster. Raises LiveError."""
    cluster, nodes = admin.nodes()
    if not nodes:
        raise NoAnswer("the cluster lists no broker that is up; start the brokers")
    unread: list[str] = []
    brokers = [_broker(admin, node, unread) for node in nodes]
    answering = [broker.number for broker in brokers if broker.settings is not None]
    if not answering:
        raise NoAnswer(f"no broker answers: {unread[0]}")
    features = _features(admin, answering)
    groups = [_group(admin, name, answering, features) for name in wanted.groups]
    groups += _groups_there(admin, wanted.may_be_missing, answering, features)
    names: Sequence[str] | None = wanted.topics or None
    if names is None and wanted.groups:
        names = _topics_of(groups)
    topics = _topics(admin, names)
    unread += _absent(topics, brokers)
    return Facts(cluster, tuple(brokers), features, topics, tuple(groups), tuple(unread))


def _broker(admin: Admin, node: Node, unread: list[str]) -> Broker:
    try:
        settings = admin.broker_settings(node.number)
    except NoAnswer as error:
        unread.append(f"broker {node.number} ({node.address}) does not answer: {error}")
        return Broker(node.number, node.rack, None)
    if isinstance(settings, Refusal):
        raise _refused(settings, f"broker {node.number}")
    return Broker(node.number, node.rack, settings)


def _refused(refusal: Refusal, what: str) -> LiveError:
    if refusal.is_of_rights:
        return NoRights(f"{what}: {rights_for(refusal.error)}")
    return NoAnswer(f"{what}: the cluster answers {refusal.error}; try again, or read the brokers' logs")


def _features(admin: Admin, brokers: Iterable[int]) -> Features:
    """Return the features with the levels of the newest epoch. Raises WrongChoice if the brokers support different
    levels, because then they are of different releases."""
    told = {broker: admin.features(broker) for broker in brokers}
    supported = {
        broker: tuple((one.name, one.least, one.most) for one in features.ones) for broker, features in told.items()
    }
    first = next(iter(supported))
    for broker, levels in supported.items():
        if levels != supported[first]:
            raise WrongChoice(
                f"brokers {first} and {broker} support different features, so they are of different releases; finish "
                "the upgrade, and read the cluster again"
            )
    return max(told.values(), key=lambda features: features.epoch or 0)


def _topics(admin: Admin, names: Sequence[str] | None) -> tuple[Topic, ...]:
    """Return topics with their settings, those of Kafka itself only if they are named."""
    found = admin.topics(names)
    if names is not None:
        _check_there(admin, found, names)
    listed = [one for one in found.values() if isinstance(one, Listed) and (names or not one.name.startswith(INTERNAL))]
    listed.sort(key=lambda one: one.name)
    if not listed:
        raise WrongChoice(
            "the cluster lists no topic that this user may see: name topics with --topic, or grant Describe on topics"
        )
    moving = admin.moving()
    settings: dict[str, tuple[Value, ...]] = {}
    for start in range(0, len(listed), AT_ONCE):
        some = [one.name for one in listed[start : start + AT_ONCE]]
        for name, values in admin.settings(TOPIC, some).items():
            if isinstance(values, Refusal):
                raise _refused(values, f"topic {printable(name)}")
            settings[name] = values
    return tuple(_topic(one, settings[one.name], moving) for one in listed)


def _topic(
    listed: Listed, settings: tuple[Value, ...], moving: Mapping[tuple[str, int], tuple[tuple[int, ...], ...]]
) -> Topic:
    partitions = tuple(
        replace(one, adding=moved[0], removing=moved[1]) if (moved := moving.get((listed.name, one.number))) else one
        for one in listed.partitions
    )
    return Topic(listed.name, listed.identity, partitions, settings)


def _check_there(admin: Admin, found: Mapping[str, Listed | Refusal], names: Iterable[str]) -> None:
    """Raise WrongChoice for a topic that does not exist, and NoRights for one that the user may not see."""
    for name in names:
        one = found.get(name, Refusal("UNKNOWN_TOPIC_OR_PARTITION"))
        if isinstance(one, Listed):
            continue
        if one.is_of_rights:
            raise NoRights(f"topic {printable(name)}: {rights_for(one.error)}")
        close = get_close_matches(name, admin.topics(None), n=1) if len(name) < 250 else []
        hint = f"; did you mean {close[0]}?" if close else ""
        raise WrongChoice(f"--topic {printable(name)}: the cluster has no such topic{hint}")


def _group(admin: Admin, name: str, brokers: Sequence[int], features: Features) -> Group:
    """Return a group that the user names. Raises WrongChoice if there is none."""
    found = admin.group(name, brokers)
    if isinstance(found, Refusal):
        if found.is_of_rights:
            raise NoRights(f"group {printable(name)}: {rights_for(found.error)}")
        raise WrongChoice(
            f"--group {printable(name)}: the cluster lists no such group, or not to this user; check the name "
            "(kafka-groups.sh --list), or leave the option out"
        )
    if found.protocol not in _PROTOCOLS:
        raise WrongChoice(
            f"--group {printable(name)}: is a group of the protocol {printable(found.protocol)}, which is not "
            f"modelled; groups of consumers are {' and '.join(_PROTOCOLS)}"
        )
    return _with_settings(admin, name, found, features)


def _groups_there(admin: Admin, names: Iterable[str], brokers: Sequence[int], features: Features) -> list[Group]:
    """Return those groups that are there."""
    found = []
    for name in names:
        one = admin.group(name, brokers)
        if isinstance(one, Coordinated):
            found.append(_with_settings(admin, name, one, features))
        elif one.is_of_rights:
            raise NoRights(f"group {printable(name)}: {rights_for(one.error)}")
    return found


def _with_settings(admin: Admin, name: str, found: Coordinated, features: Features) -> Group:
    settings: tuple[Value, ...] = ()
    if any(one.name == GROUP_SETTINGS for one in features.ones):
        values = admin.settings(GROUP, [name])[name]
        if isinstance(values, Refusal):
            raise _refused(values, f"group {printable(name)}")
        settings = tuple(one for one in values if one.source == _OWN_OF_GROUP)
    topics = admin.topics_of_group(name)
    if isinstance(topics, Refusal):
        raise _refused(topics, f"group {printable(name)}")
    return Group(name, found.protocol, found.state, found.assignor, settings, topics)


def _topics_of(groups: Iterable[Group]) -> list[str]:
    """Return the topics of groups. Raises WrongChoice for a group without committed offsets."""
    for group in groups:
        if not group.topics:
            raise WrongChoice(
                f"--group {printable(group.name)}: has no committed offsets, so its topics are unknown; name them "
                "with --topic"
            )
    return sorted({topic for group in groups for topic in group.topics})


def _absent(topics: Iterable[Topic], brokers: Iterable[Broker]) -> list[str]:
    """Return a sentence for each broker that holds replicas and is not up, or does not answer, with its topics."""
    asked = {broker.number: broker.settings is not None for broker in brokers}
    holding: dict[int, list[str]] = {}
    for topic in topics:
        for number in sorted({number for one in topic.partitions for number in one.replicas}):
            if not asked.get(number, False):
                holding.setdefault(number, []).append(topic.name)
    return [
        f"broker {number} is {'silent' if number in asked else 'down'}, so its settings are unknown: "
        f"{_named(names)}, with replicas on this broker, cannot be checked; start the broker and read again"
        for number, names in sorted(holding.items())
    ]


def _named(topics: Sequence[str]) -> str:
    more = f" and {len(topics) - _MOST_NAMED} more" if len(topics) > _MOST_NAMED else ""
    return f"topic{'s' if len(topics) > 1 else ''} {', '.join(topics[:_MOST_NAMED])}{more}"
