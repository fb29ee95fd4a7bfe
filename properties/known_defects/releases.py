"""The releases of a deployment: of its brokers and of the libraries of its clients."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.release import JAVA
from proofka.properties.known_defects.affected import Release, line_of, release_from

BROKER = "broker"


def releases_of(deployment: Deployment) -> Iterator[tuple[str, Release]]:
    """Yield each product of a deployment with its release as it was named: the brokers, and the clients' libraries."""
    named = {(setting.scope, setting.key): setting.value for setting in deployment.settings}
    yield BROKER, release_from(named.get(("broker", "release"), "")) or deployment.cluster.kafka
    clients = dict.fromkeys(named.get((scope, "client"), "") for scope in ("producer", "consumer"))
    for client in filter(None, clients):
        library, _, version = client.partition(" ")
        yield library, release_from(version)


def library_of(deployment: Deployment, role: str) -> str:
    """Return the library of the producer or the consumer; ``""`` if the deployment names none."""
    named = (setting.value for setting in deployment.settings if (setting.scope, setting.key) == (role, "client"))
    return next(named, "").partition(" ")[0]


def has_older_client(deployment: Deployment) -> bool:
    """Tell whether a client can speak an older protocol than the brokers; a library's release does not tell."""
    return any(release is None or release < brokers for brokers, release in _lines_of_clients(deployment))


def has_older_brokers(deployment: Deployment) -> bool:
    """Tell whether the brokers can speak an older protocol than a client; a library's release does not tell."""
    return any(release is None or release > brokers for brokers, release in _lines_of_clients(deployment))


def _lines_of_clients(deployment: Deployment) -> Iterator[tuple[Release, Release | None]]:
    """Yield the brokers' line with the line of each client; None for the line of a library that is not Kafka's."""
    (_, brokers), *clients = releases_of(deployment)
    for library, release in clients:
        yield line_of(brokers), line_of(release) if library == JAVA else None
