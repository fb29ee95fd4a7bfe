"""What a reader found, before defaults and rules: texts with their places.

Every reader yields a :class:`GivenDeployment`; :func:`model.deployment.builder.build` makes it effective.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from model.deployment.errors import DeploymentError
from model.deployment.release import JAVA
from model.deployment.setting import Origin


@dataclass(frozen=True)
class Given:
    """One value as it was written, and where."""

    key: str
    value: str
    origin: Origin


def complaint(given: Given, message: str, kind: type[DeploymentError] = DeploymentError) -> DeploymentError:
    """The error that says what is wrong with a given value, at its place."""
    if given.origin.kind == "option":
        return kind(message, key=given.origin.detail)
    if given.origin.kind == "rule" and given.origin.detail:
        message += f"; {given.origin.detail} sets {given.key}={given.value} where nobody says otherwise"
    return kind(message, file=given.origin.file, line=given.origin.line, key=given.key)


def place(given: Given) -> str:
    """Where a value was given, for a sentence: ``orders.yaml:4`` or the option."""
    if given.origin.kind == "file":
        return f"{given.origin.file}:{given.origin.line}"
    return given.origin.detail


Settings = Mapping[str, Given]


def library_of(client: Given | None) -> str:
    """The library that is meant by what is said of a client; Java's where nothing is."""
    return JAVA if client is None else client.value.strip().lower()


@dataclass(frozen=True)
class GivenClient:
    """A producer or consumer: which client, which version, its settings; ``present`` if any file speaks of it."""

    settings: Settings = field(default_factory=dict)
    client: Given | None = None
    version: Given | None = None
    present: bool = False


@dataclass(frozen=True)
class GivenDeployment:
    """Everything that files and options said of one deployment.

    ``application`` holds what the application does (``on_send_error`` and its like), ``environment`` how long things
    take, ``faults`` the keys ``total`` and kinds of fault, ``bounds`` the bounds, ``require`` the names of properties,
    or None when nothing says which; ``profile`` names a set of them. ``as_found``: the files were not written for this
    reader, so that what their own readers do with a setting that they do not know is done here (elsewhere it is an
    error, misspelt most likely).
    """

    name: str
    kafka: Given
    topic: Settings = field(default_factory=dict)
    broker: Settings = field(default_factory=dict)
    producer: GivenClient = field(default_factory=GivenClient)
    consumer: GivenClient = field(default_factory=GivenClient)
    elr: Given | None = None
    application: Settings = field(default_factory=dict)
    environment: Settings = field(default_factory=dict)
    faults: Settings = field(default_factory=dict)
    bounds: Settings = field(default_factory=dict)
    require: tuple[Given, ...] | None = None
    profile: Given | None = None
    as_found: bool = False
