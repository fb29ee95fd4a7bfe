"""The clients inside a Kafka Connect worker, with the worker's own defaults.

A worker's ``producer.`` and ``consumer.`` settings are for all connectors, a connector's ``producer.override.`` and
``consumer.override.`` for itself. By default the producers retry forever, one request at a time, without idempotence,
and the consumers commit the offsets that a task has flushed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.client_settings import with_defaults
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.connect import CONNECT, DEFAULTS, source_answers, source_settings
from proofka.model.deployment.given import Given

MIRROR = "MirrorMaker 2"
OF_WORKERS = ("{}.",)
OF_CONNECTORS = ("{}.override.",)
"""The prefix, with the role's name, of settings for clients.

``Worker.baseProducerConfigs`` takes every key that begins with ``producer.`` from the worker, so a worker's
``producer.override.acks`` is a setting ``override.acks``, which no client has. From a connector, it takes only keys
that begin with ``producer.override.`` (``ConnectorConfig.CONNECTOR_CLIENT_PRODUCER_OVERRIDES_PREFIX``).
"""


def client_setting(key: str, prefixes: Sequence[str]) -> tuple[Role, str] | None:
    """Return the role and name of a worker's or connector's setting for its clients; None for a setting of the worker
    itself.

    >>> client_setting("producer.override.acks", OF_CONNECTORS)
    (<Role.PRODUCER: 'producer'>, 'acks')
    >>> client_setting("producer.override.acks", OF_WORKERS)
    (<Role.PRODUCER: 'producer'>, 'override.acks')
    """
    for role in DEFAULTS:
        for prefix in (one.format(role) for one in prefixes):
            if key.startswith(prefix) and len(key) > len(prefix):
                return role, key[len(prefix) :]
    return None


def worker_clients(
    name: str,
    said: Mapping[Role, Mapping[str, Given]],
    accounts: Accounts,
    topics: tuple[str, ...] = (),
    layer: str = "worker",
    cluster: str = "",
    told: Mapping[str, Given] | None = None,
    present: Role | None = None,
) -> Iterator[Component]:
    """Yield the clients that have settings, or that are ``present``, with the worker's own defaults."""
    for role, settings in said.items():
        if settings or role is present or (layer == "worker" and told):
            answers = source_answers(accounts, None, exactly_once=False)
            if role is Role.CONSUMER:
                answers = {"commit": accounts.by_framework("commit", "async", CONNECT)}
            given = with_defaults(settings, DEFAULTS[role], accounts, CONNECT)
            component = Component(role, f"{name} {role}", given, topics, application=answers)
            yield replace(component, layer=layer, cluster=cluster, told=told or {})


@dataclass(frozen=True)
class Mirrored:
    """The work of MirrorMaker 2: it copies these topics of the cluster ``source`` to the cluster ``target``.

    ``tolerant``: its ``errors.tolerance``. ``exactly_once``: the value that enables exactly-once support.
    """

    source: str
    target: str
    topics: tuple[str, ...]
    tolerant: Given | None = None
    exactly_once: Given | None = None


def mirrored(
    name: str, copied: Mirrored, reads: Mapping[str, Given], writes: Mapping[str, Given], accounts: Accounts
) -> tuple[Component, Component]:
    """Return the consumer and the producer of MirrorMaker 2, with their settings."""
    own = with_defaults(reads, {"auto.offset.reset": "earliest"}, accounts, MIRROR)
    own["enable.auto.commit"] = accounts.by_framework("enable.auto.commit", "false", MIRROR)
    group = f"{copied.source}-mm2-MirrorSourceConnector-TASK"
    return (
        Component(
            Role.CONSUMER,
            f"{name} consumer",
            own,
            copied.topics,
            application={"commit": accounts.by_framework("commit", "after", MIRROR)},
            talks_to=copied.source,
        ),
        Component(
            Role.PRODUCER,
            f"{name} producer",
            source_settings(writes, accounts, copied.exactly_once, group),
            tuple(f"{copied.source}.{topic}" for topic in copied.topics),
            application=source_answers(accounts, copied.tolerant, exactly_once=copied.exactly_once is not None),
            talks_to=copied.target,
        ),
    )
