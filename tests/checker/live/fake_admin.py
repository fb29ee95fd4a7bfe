"""A cluster in memory, which answers the questions of a reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest

from proofka.checker.live import asked
from proofka.checker.live.admin import GROUP, TOPIC, Admin, Coordinated, Listed, Node, Refusal
from proofka.checker.live.command_config import Connection
from proofka.checker.live.errors import NoAnswer
from proofka.checker.live.facts import DEFAULT, Feature, Features, Partition, Synonym, Value, value_of
from proofka.model.deployment.defaults import find_definition, known_keys
from proofka.model.deployment.release import parse_release

OWN = "DYNAMIC_TOPIC_CONFIG"
STATIC = "STATIC_BROKER_CONFIG"
OF_GROUP = "DYNAMIC_GROUP_CONFIG"

FEATURES = Features(
    (
        Feature("eligible.leader.replicas.version", 0, 1, 0),
        Feature("group.version", 0, 1, 1),
        Feature("metadata.version", 7, 25, 25),
        Feature("transaction.version", 0, 2, 2),
    ),
    42,
)
"""The features of a cluster that was made with Kafka 4.0."""


def every(kind: str, own: Mapping[str, tuple[str, str]], release: str = "4.0") -> tuple[Value, ...]:
    """Return all settings that a release has of a topic or broker: the defaults, and own ones with their sources."""
    values = {}
    for key in known_keys(kind):
        definition = find_definition(kind, key, parse_release(release))
        if definition is not None and key not in ("replication.factor", "partitions"):
            values[key] = value_of(key, definition.default, DEFAULT, (Synonym(DEFAULT, key, definition.default),))
    for key, (value, source) in own.items():
        values[key] = value_of(key, value, source, (Synonym(source, key, value),))
    return tuple(values.values())


@dataclass
class FakeAdmin:
    """An :class:`~checker.live.admin.Admin` of three brokers and two topics; tests change what they are about."""

    brokers: dict[int, tuple[Value, ...] | Refusal | None] = field(
        default_factory=lambda: {
            number: every("broker", {"process.roles": ("broker", STATIC), "node.id": (str(number), STATIC)})
            for number in (1, 2, 3)
        }
    )
    """The settings of each broker that is up; None for a broker that does not answer."""
    listed: dict[str, Listed | Refusal] = field(
        default_factory=lambda: {
            "orders": topic("orders", (1, 2, 3), (2, 3, 1)),
            "audit-log": topic("audit-log", (1, 2, 3)),
            "__consumer_offsets": topic("__consumer_offsets", (1, 2, 3)),
        }
    )
    own: dict[str, dict[str, tuple[str, str]]] = field(
        default_factory=lambda: {"orders": {"min.insync.replicas": ("2", OWN)}}
    )
    refused: dict[tuple[int, str], Refusal] = field(default_factory=dict)
    reported: Mapping[int, Features] = field(default_factory=dict)
    moved: dict[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=dict)
    groups: dict[str, Coordinated | Refusal] = field(default_factory=dict)
    offsets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    of_groups: dict[str, tuple[Value, ...] | Refusal] = field(default_factory=dict)
    asked_at_once: list[int] = field(default_factory=list)

    def nodes(self) -> tuple[str, tuple[Node, ...]]:
        return "a-cluster", tuple(Node(number, f"kafka-{number}:9092", f"rack-{number}") for number in self.brokers)

    def features(self, broker: int) -> Features:
        return self.reported.get(broker, FEATURES)

    def broker_settings(self, broker: int) -> tuple[Value, ...] | Refusal:
        settings = self.brokers[broker]
        if settings is None:
            raise NoAnswer(f"broker {broker}: no answer within 10 s")
        return settings

    def topics(self, names: Sequence[str] | None) -> Mapping[str, Listed | Refusal]:
        if names is None:
            return {name: one for name, one in self.listed.items() if isinstance(one, Listed)}
        unknown = Refusal("UNKNOWN_TOPIC_OR_PARTITION")
        return {name: self.listed.get(name, unknown) for name in names}

    def settings(self, kind: int, names: Sequence[str]) -> Mapping[str, tuple[Value, ...] | Refusal]:
        self.asked_at_once.append(len(names))
        if kind == GROUP:
            return {name: self.of_groups.get(name, ()) for name in names}
        assert kind == TOPIC
        return {name: self.refused.get((kind, name)) or every("topic", self.own.get(name, {})) for name in names}

    def moving(self) -> Mapping[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]]:
        return self.moved

    def group(self, name: str, brokers: Iterable[int]) -> Coordinated | Refusal:
        return self.groups.get(name, Refusal("GROUP_ID_NOT_FOUND"))

    def topics_of_group(self, name: str) -> tuple[str, ...] | Refusal:
        return self.offsets.get(name, ())


def topic(name: str, *replicas: tuple[int, ...]) -> Listed:
    """Return a topic with the replicas of each of its partitions, all in sync."""
    partitions = (Partition(number, brokers[0], brokers, brokers) for number, brokers in enumerate(replicas))
    return Listed(name, "1c3f2e6e-7b5a-4b0e-9a51-0f6f1e0c7d11", tuple(partitions))


def with_level(features: Features, name: str, level: int) -> Features:
    """Return features, one of them at another level."""
    return replace(
        features, ones=tuple(replace(one, level=level) if one.name == name else one for one in features.ones)
    )


def connect(monkeypatch: pytest.MonkeyPatch, admin: Admin) -> list[Connection]:
    """Let every connection lead to this cluster; return the connections that are made."""
    made: list[Connection] = []

    @contextmanager
    def connected(to: Connection) -> Iterator[Admin]:
        made.append(to)
        yield admin

    monkeypatch.setattr(asked, "connected", connected)
    return made
