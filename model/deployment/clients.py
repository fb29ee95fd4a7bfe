"""Which broker and client releases a deployment names."""

from __future__ import annotations

from dataclasses import dataclass

from model.deployment.errors import NotModelledError
from model.deployment.given import Given, GivenClient, complaint
from model.deployment.hiding import printable
from model.deployment.release import Release, ReleaseError, parse_release


@dataclass(frozen=True)
class JavaClient:
    """Kafka's own Java producer or consumer of a release."""

    role: str
    release: Release

    @property
    def name(self) -> str:
        """As a report's first line names it: ``java 4.0``."""
        return f"java {self.release}"

    @property
    def software(self) -> str:
        """What reads the settings, for messages: ``Java producer 4.0``."""
        return f"Java {self.role} {self.release}"


def read_broker_release(given: Given) -> Release:
    """The release of the brokers: one that exists."""
    return _release(given)


def read_client(role: str, given: GivenClient, kafka: Release) -> JavaClient:
    """The client of a producer or consumer: Java, of the brokers' release unless a version is given."""
    if given.client is not None and given.client.value.strip().lower() != "java":
        name = printable(given.client.value.strip())
        raise complaint(given.client, f"not modelled yet: the client {name!r}; the choice is java", NotModelledError)
    if given.version is None:
        return JavaClient(role, kafka)
    return JavaClient(role, _release(given.version))


def _release(given: Given) -> Release:
    try:
        return parse_release(given.value)
    except ReleaseError as error:
        raise complaint(given, str(error)) from None
