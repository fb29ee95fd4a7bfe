"""The clients inside a Kafka Connect worker: what it sets for them where nobody says otherwise.

A worker's ``producer.`` and ``consumer.`` settings are for all connectors, ``producer.override.`` and
``consumer.override.`` for one. Without them its producers retry for ever, one request at a time, without idempotence;
its consumers commit what a task has flushed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.component import Component, Role
from model.deployment.given import Given

FRAMEWORK = "Kafka Connect"

OF_A_WORKER: Mapping[Role, Mapping[str, str]] = {
    Role.PRODUCER: {
        "acks": "all",
        "enable.idempotence": "false",
        "max.in.flight.requests.per.connection": "1",
        "delivery.timeout.ms": "2147483647",
        "max.block.ms": "9223372036854775807",
    },
    Role.CONSUMER: {"enable.auto.commit": "false", "auto.offset.reset": "earliest"},
}
"""What a worker gives its clients."""

_PREFIXES = {role: (f"{role}.override.", f"{role}.") for role in OF_A_WORKER}


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
            own = {key: accounts.by_framework(key, value, FRAMEWORK) for key, value in OF_A_WORKER[role].items()}
            answers = {}
            if role is Role.CONSUMER:
                answers["commit"] = accounts.by_framework("commit", "after", FRAMEWORK)
            yield Component(role, f"{name} {role}", {**own, **settings}, topics, application=answers)
