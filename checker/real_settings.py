"""The settings of a deployment as real brokers and clients get them: those that the user gave, and feature levels."""

from __future__ import annotations

from collections.abc import Mapping

from proofka.checker.cluster.launching import libraries
from proofka.model.deployment.choices import Commit, Sink
from proofka.model.deployment.consumer_rules import NO_GROUP
from proofka.model.deployment.deployment import Deployment

_GIVEN = ("file", "option")
"""Origins of settings that the user gave; a real client and a real broker derive all others by themselves."""
_ELR = "eligible.leader.replicas.version"
_ELR_SINCE = (4, 0, 0)
"""The first release that knows the feature of eligible leader replicas."""
_NAMED_IN_CODE = "group"
"""The name of a group that no file names."""
_NOT_SETTINGS = {
    "broker": ("release", _ELR),
    "topic": ("name", "replication.factor"),
    "producer": ("client", "version"),
    "consumer": ("client", "version"),
}
"""Keys of each scope that brokers and clients do not take as settings."""


def effective_of(deployment: Deployment) -> Mapping[str, str]:
    """Return every effective setting, as "scope.key"."""
    return {f"{one.scope}.{one.key}": one.value for one in deployment.settings}


def given_settings(deployment: Deployment, scope: str) -> dict[str, str]:
    """Return the settings of a scope ("broker", "topic", "producer" or "consumer") that the user gave."""
    given = [one for one in deployment.settings if one.scope == scope and one.origin.kind in _GIVEN]
    return {one.key: one.value for one in given if one.key not in _NOT_SETTINGS[scope]}


def client_of(deployment: Deployment, role: str) -> tuple[str, str | None]:
    """Return the library of the producer or the consumer, and its release if the deployment has one."""
    library, _, release = effective_of(deployment)[f"{role}.client"].partition(" ")
    return library, release or None


def group_of(deployment: Deployment) -> str | None:
    """Return the name of the consumer's group, or None if the consumer has no group.

    A group that no file names stands in the application's code, so it gets a name here.
    """
    given = given_settings(deployment, "consumer").get(libraries()[client_of(deployment, "consumer")[0]].group_id)
    if given is not None:
        return None if given.strip() in ("", NO_GROUP) else given
    application = deployment.application
    needs_none = application.commit is Commit.NEVER or application.sink is Sink.TRANSACTIONAL
    return None if needs_none else _NAMED_IN_CODE


def features_of(deployment: Deployment) -> dict[str, int]:
    """Return the feature levels of the deployment that its release knows."""
    level = effective_of(deployment).get(f"broker.{_ELR}")
    return {_ELR: int(level)} if level is not None and deployment.cluster.kafka >= _ELR_SINCE else {}
