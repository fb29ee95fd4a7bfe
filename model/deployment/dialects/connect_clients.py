"""The clients inside a Kafka Connect worker: what it sets for them where nobody says otherwise.

A worker's ``producer.`` and ``consumer.`` settings are for all connectors, ``producer.override.`` and
``consumer.override.`` for one. Without them its producers retry for ever, one request at a time, without idempotence;
its consumers commit what a task has flushed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.client_settings import with_defaults
from model.deployment.dialects.component import Component, Role
from model.deployment.dialects.connect import CONNECT, DEFAULTS, source_answers
from model.deployment.given import Given

MIRROR = "MirrorMaker 2"
_PREFIXES = {role: (f"{role}.override.", f"{role}.") for role in DEFAULTS}


def client_setting(key: str) -> tuple[Role, str] | None:
    """Whose setting a worker's or connector's key is, and its name there; None for one of the worker itself.

    >>> client_setting("producer.override.acks")
    (<Role.PRODUCER: 'producer'>, 'acks')
    """
    for role, prefixes in _PREFIXES.items():
        for prefix in prefixes:
            if key.startswith(prefix) and len(key) > len(prefix):
                return role, key[len(prefix) :]
    return None


def worker_clients(
    name: str, said: Mapping[Role, Mapping[str, Given]], accounts: Accounts, topics: tuple[str, ...] = ()
) -> Iterator[Component]:
    """The clients of which something is said, with what the worker sets besides."""
    for role, settings in said.items():
        if settings:
            answers = source_answers(accounts, None, exactly_once=False)
            if role is Role.CONSUMER:
                answers = {"commit": accounts.by_framework("commit", "async", CONNECT)}
            given = with_defaults(settings, DEFAULTS[role], accounts, CONNECT)
            yield Component(role, f"{name} {role}", given, topics, application=answers)


def mirrored(
    name: str,
    reads: Mapping[str, Given],
    writes: Mapping[str, Given],
    copied: tuple[str, tuple[str, ...]],
    accounts: Accounts,
    tolerant: Given | None = None,
) -> tuple[Component, Component]:
    """The consumer and the producer of MirrorMaker 2 in a worker. ``copied``: from which cluster, and which topics."""
    source, topics = copied
    own = with_defaults(reads, {"auto.offset.reset": "earliest"}, accounts, MIRROR)
    own["enable.auto.commit"] = accounts.by_framework("enable.auto.commit", "false", MIRROR)
    after = {"commit": accounts.by_framework("commit", "after", MIRROR)}
    return (
        Component(Role.CONSUMER, f"{name} consumer", own, topics, application=after),
        Component(
            Role.PRODUCER,
            f"{name} producer",
            with_defaults(writes, DEFAULTS[Role.PRODUCER], accounts, CONNECT),
            tuple(f"{source}.{topic}" for topic in topics),
            application=source_answers(accounts, tolerant, exactly_once=False),
        ),
    )
