"""The content of a live cluster as it tells: brokers, topics, groups and features, without secrets."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.hiding import is_secret, without_secrets

DEFAULT = "DEFAULT_CONFIG"
"""The source of a value that nobody set."""


@dataclass(frozen=True)
class Synonym:
    """A value that a setting has at one source, such as ``STATIC_BROKER_CONFIG``; None for no value."""

    source: str
    key: str
    value: str | None


@dataclass(frozen=True)
class Value:
    """A setting in force: its value, its source, and the values at all sources, the strongest first.

    A value that can be a secret is never kept: ``hidden`` is True, and no source has a value.
    """

    key: str
    value: str | None
    source: str
    synonyms: tuple[Synonym, ...]
    hidden: bool = False


def value_of(
    key: str, value: str | None, source: str, synonyms: tuple[Synonym, ...] = (), *, sensitive: bool = False
) -> Value:
    """Return a setting without its secrets."""
    hidden = sensitive or is_secret(key) or any(is_secret(one.key) for one in synonyms)
    kept = tuple(Synonym(one.source, one.key, None if hidden else _kept(one.value)) for one in synonyms)
    return Value(key, None if hidden else _kept(value), source, kept, hidden)


def _kept(value: str | None) -> str | None:
    return None if value is None else without_secrets(value)


@dataclass(frozen=True)
class Broker:
    """A broker of the cluster. ``settings`` is None if the broker could not be asked."""

    number: int
    rack: str | None
    settings: tuple[Value, ...] | None


@dataclass(frozen=True)
class Partition:
    """A partition of a topic: its leader, or None; its replicas; replicas that a reassignment adds or removes."""

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@dataclass(frozen=True)
class Topic:
    """A topic with its partitions and all of its settings."""

    name: str
    identity: str | None
    partitions: tuple[Partition, ...]
    settings: tuple[Value, ...]


@dataclass(frozen=True)
class Feature:
    """A feature: the lowest and the highest level that a broker supports, and the level in force (0: off)."""

    name: str
    least: int
    most: int
    level: int


@dataclass(frozen=True)
class Features:
    """The features that brokers report, and the epoch of the levels in force (None if the cluster has none)."""

    ones: tuple[Feature, ...]
    epoch: int | None


@dataclass(frozen=True)
class Group:
    """A consumer group: its protocol (``classic`` or ``consumer``), its own settings, the topics that it reads.

    ``state`` and ``assignor`` as the coordinator reports them, for the reader of a snapshot.
    """

    name: str
    protocol: str
    state: str
    assignor: str
    settings: tuple[Value, ...]
    topics: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """A cluster as read. ``unread``: what could not be read, a sentence each, with what to do."""

    cluster: str
    brokers: tuple[Broker, ...]
    features: Features
    topics: tuple[Topic, ...]
    groups: tuple[Group, ...] = ()
    unread: tuple[str, ...] = ()
