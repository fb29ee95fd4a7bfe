"""What a file is found to configure: producers, consumers, topics and brokers, and where each of its values went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from model.deployment.given import Given, Settings

MOST_COMPONENTS = 1_000
"""No file configures more than this, all profiles counted."""


ASSUMED_REPLICAS = "3"
"""So many replicas a topic is taken to have of which no file says how many."""

EVERYTHING = "*"
"""What a value reaches that could change any pipeline of the folder; no topic has this name."""


class Role(StrEnum):
    """What a component is."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    TOPIC = "topic"
    BROKER = "broker"


@dataclass(frozen=True)
class Component:
    """One producer, consumer or topic, or the brokers of a cluster.

    ``name``: as the file calls it, for a reader; a topic's own name. ``settings`` are under the names of Kafka's, or of
    the library's own configuration, with what a framework sets by itself (of the origin ``rule``). ``topics``: those
    that it writes to or reads from, as far as the file says; empty if it does not. ``client`` and ``version``: which
    library, in which release. ``application``: what the file says of what the application does, by the names of
    assumptions. ``kafka``: the release of the brokers. ``brokers``: how many there are. ``profile``: the file says it
    for one environment only. ``layer``: ``worker`` or ``connector`` of Kafka Connect, ``cluster``: which worker, where
    that has a name; ``told``: what a worker says of connectors, besides settings of their clients. ``talks_to``: of
    several clusters that the file speaks of, the one whose client it is.
    """

    role: Role
    name: str
    settings: Settings = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    client: Given | None = None
    version: Given | None = None
    application: Settings = field(default_factory=dict)
    kafka: Given | None = None
    brokers: Given | None = None
    profile: str = ""
    layer: str = ""
    cluster: str = ""
    told: Settings = field(default_factory=dict)
    talks_to: str = ""

    @property
    def given(self) -> tuple[Given, ...]:
        """All that is said of it, each value with its place."""
        others = tuple(one for one in (self.client, self.version, self.kafka) if one is not None)
        return (*self.settings.values(), *self.application.values(), *others)


@dataclass(frozen=True)
class Left:
    """A value that is in no component, by the name that stands in the file, and why.

    ``reaches``: it would change what other files describe; the topic for which it would, or ``EVERYTHING``.
    """

    given: Given
    reason: str
    reaches: str = ""


@dataclass(frozen=True)
class Found:
    """What one file says: every value of it is in a component, ignored, or rejected.

    ``dialect`` is what it was taken for, in words. ``ignored``: the value does not matter to delivery, or nobody reads
    it. ``rejected``: it should matter, and cannot be used as it is; what becomes of the pipeline is then unknown.
    ``notes``: what a reader of the verdict should know besides. ``along``: the files that were read along with it, and
    are none of their own then. ``together``: the files that are one application with it; what was rejected in these is
    here as well.
    """

    file: str
    dialect: str
    components: tuple[Component, ...] = ()
    ignored: tuple[Left, ...] = ()
    rejected: tuple[Left, ...] = ()
    notes: tuple[str, ...] = ()
    along: tuple[str, ...] = ()
    together: tuple[str, ...] = ()

    @property
    def by_role(self) -> Mapping[Role, tuple[Component, ...]]:
        """The components of each role, in the order of the file."""
        return {role: tuple(one for one in self.components if one.role is role) for role in Role}
