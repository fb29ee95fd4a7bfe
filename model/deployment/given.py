"""The values that a reader found, before defaults and rules: texts with their places.

Every reader returns a :class:`GivenDeployment`; :func:`model.deployment.builder.build` makes it effective.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from proofka.model.deployment.errors import DeploymentError, NotModelledError
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.setting import Origin


@dataclass(frozen=True)
class Given:
    """One value as the user wrote it, and its place."""

    key: str
    value: str
    origin: Origin


def complaint(given: Given, message: str, kind: Callable[..., DeploymentError] = DeploymentError) -> DeploymentError:
    """Return the error about a given value, at its place."""
    if given.origin.kind == "option":
        return kind(message, key=given.origin.detail)
    if given.origin.kind == "rule" and given.origin.detail:
        message += f"; {given.origin.detail} sets {given.key}={given.value} by default"
    return kind(message, file=given.origin.file, line=given.origin.line, key=given.key)


def not_modelled(given: Given, code: str, what: str) -> DeploymentError:
    """Return the error about a given value that needs a mechanism outside of the model, at its place.

    ``code``: the reason, from ``tables/refusals.csv``.
    """
    return complaint(given, what, partial(NotModelledError, code=code))


def place(given: Given) -> str:
    """Return the place of a given value, for a sentence: ``orders.yaml:4`` or the option."""
    if given.origin.kind == "file":
        return f"{given.origin.file}:{given.origin.line}"
    return given.origin.detail


Settings = Mapping[str, Given]


def library_of(client: Given | None) -> str:
    """Return the library that a client's text names; Java's without a text."""
    return JAVA if client is None else client.value.strip().lower()


@dataclass(frozen=True)
class GivenClient:
    """A producer or consumer: its library, its version, its settings. ``present``: a file describes this client."""

    settings: Settings = field(default_factory=dict)
    client: Given | None = None
    version: Given | None = None
    present: bool = False


@dataclass(frozen=True)
class GivenDeployment:
    """All values that files and options give for one deployment.

    ``application``: the application's behaviour (``on_send_error`` and similar). ``environment``: durations of the
    environment. ``faults``: the key ``total`` and kinds of fault. ``bounds``: the bounds. ``require``: names of
    properties, or None if no file names any. ``profile``: the name of a set of properties. ``as_found``: the files are
    existing files that were not written for Proofka; unknown settings get the treatment of their real readers
    (elsewhere an unknown setting is an error).
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
