"""Brokers that a file describes one by one: those of one cluster, with the settings on which they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from proofka.model.deployment.broker_rules import BROKER_KEYS
from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.disagreement import disagreement
from proofka.model.deployment.given import Given
from proofka.model.deployment.setting import Origin

_OWN = (
    "advertised.",
    "broker.id",
    "broker.rack",
    "controller.listener.names",
    "host.name",
    "inter.broker.listener.name",
    "jmx.",
    "listener",
    "log.dir",
    "metadata.log.dir",
    "node.id",
    "port",
    "process.roles",
    "sasl.",
    "ssl.",
    "confluent.",
)
"""Prefixes of the settings that differ between the brokers of a cluster."""

ZOOKEEPER = "zookeeper.connect"
CONTROLLERS = ("controller.quorum.voters", "controller.quorum.bootstrap.servers")
_CLUSTER = (ZOOKEEPER, *CONTROLLERS)
"""The settings with addresses of the cluster, which each broker can write in another way."""

_COUNTED = Origin("rule", "the number of brokers that the file describes")
"""The origin of a number of brokers that is no value of the file."""


@dataclass
class Broker:
    """One broker, or several with the same settings; a controller that is no broker has a ``count`` of 0.

    ``said``: the values by their keys. ``release``: the value that names the release, and the release.
    """

    name: str
    count: int = 1
    settings: dict[str, Said] = field(default_factory=dict)
    release: tuple[Said, str] | None = None


def together(members: Sequence[Broker], accounts: Accounts) -> Component:
    """Return the brokers of one cluster. A setting on which they disagree gets a placeholder, so no rule uses it."""
    ordered = sorted(members, key=lambda one: one.count == 0)
    settings: dict[str, Given] = {}
    first: dict[str, tuple[Said, str]] = {}
    for member in ordered:
        for key, said in member.settings.items():
            before = first.setdefault(key, (said, member.name))
            if before[0] is said:
                settings[key] = accounts.take(said, key)
            elif key in _CLUSTER or key.startswith(_OWN):
                accounts.ignore(said, "differs between the brokers of a cluster")
            elif accounts.text(said) == accounts.text(before[0]):
                accounts.ignore(said, f"has the same value as for {before[1]}")
            else:
                accounts.reject(said, f"differs from {before[1]}: set the same value on all brokers of a cluster")
                settings[key] = accounts.take(before[0], key, disagreement(member.name))
    for key in [key for key in settings if key in BROKER_KEYS and key not in _CLUSTER and not key.startswith(_OWN)]:
        without = [one.name for one in ordered if one.count and key not in one.settings]
        if without and any(one.count and key in one.settings for one in ordered):
            settings[key] = accounts.take(first[key][0], key, disagreement(f"{without[0]}, which has no value"))
    release: Given | None = None
    for member in ordered:
        if member.release is not None:
            said, text = member.release
            if release is None:
                release = accounts.take(said, "kafka", text)
            elif release.value == text:
                accounts.ignore(said, f"is the release of {ordered[0].name} too")
            else:
                accounts.reject(said, f"differs from the release of {ordered[0].name}")
    count = sum(one.count for one in members)
    given = Given("brokers", str(count), _COUNTED) if count and settings else None
    return Component(Role.BROKER, ", ".join(one.name for one in ordered), settings, kafka=release, brokers=given)
