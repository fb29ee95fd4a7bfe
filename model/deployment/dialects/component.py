"""The content of a file: producers, consumers, topics and brokers, and the destination of each value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from proofka.model.deployment.given import Given, Settings

MOST_COMPONENTS = 1_000
"""The largest number of components of a file, including all profiles."""


ASSUMED_REPLICAS = "3"
"""The assumed number of replicas of a topic if no file gives a number."""

EVERYTHING = "*"
"""The reach of a value that could change any pipeline of the folder; no topic has this name."""


class Role(StrEnum):
    """The kinds of components."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    TOPIC = "topic"
    BROKER = "broker"


@dataclass(frozen=True)
class Component:
    """One producer, consumer or topic, or the brokers of a cluster.

    ``name``: the file's name for it; for a topic, the topic's own name. ``settings``: under the names of Kafka's or the
    library's own configuration, including values that a framework sets by itself (with the origin ``rule``).
    ``topics``: the topics that it writes or reads; empty if the file does not say. ``client`` and ``version``: the
    library and its release. ``newest``: the newest release that the file can use, where no build file gives one.
    ``application``: the application's behaviour, by the names of assumptions. ``kafka``: the
    release of the brokers. ``brokers``: the number of brokers. ``profile``: the environment to which it is limited.
    ``layer``: ``worker`` or ``connector`` of Kafka Connect. ``cluster``: the name of its worker, if any. ``told``: a
    worker's values for connectors, besides settings of their clients. ``talks_to``: the cluster of this client, if the
    file has several clusters.
    """

    role: Role
    name: str
    settings: Settings = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    client: Given | None = None
    version: Given | None = None
    newest: Given | None = None
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
        """All values of the component, each with its place."""
        others = tuple(one for one in (self.client, self.version, self.kafka) if one is not None)
        return (*self.settings.values(), *self.application.values(), *others)


@dataclass(frozen=True)
class Left:
    """A value that is in no component, by its name in the file, and the reason.

    ``reaches``: the value would change the content of other files; the topic that it would change, or ``EVERYTHING``.
    """

    given: Given
    reason: str
    reaches: str = ""


@dataclass(frozen=True)
class Found:
    """The content of one file: each of its values is in a component, ignored, or rejected.

    ``dialect``: the name of the file's dialect. ``ignored``: values that do not matter to delivery, or that no client
    reads. ``rejected``: values that should matter and cannot be used, so the pipeline is unknown. ``notes``: other
    facts for the reader of a verdict. ``along``: the files that were read with this one, and do not count by
    themselves. ``together``: the files of the same application; their rejected values are included.
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
