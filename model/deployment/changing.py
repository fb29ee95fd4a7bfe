"""Possible changes of a deployment: settings and behaviours of the application, each with its cost.

The table (``tables/strengthenings.csv``) lists changes that are known to prevent something; a check decides what a
change prevents in a given deployment. ``cost`` ranks the changes. 1: no noticeable cost. 2 and 3: settings that cost
latency, throughput or availability. 4 and 5: changes of a program. 6: more machines or another store. 7: transactions.
From 30 on: upgrades, which cost more than any combination of settings, because another release must be tested and
rolled out. The value ``newest`` of a release is the newest release of Kafka that is known.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path

from proofka.model.deployment.accepting import components_of
from proofka.model.deployment.assumptions import PRODUCER_KEYS
from proofka.model.deployment.builder import build
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, GivenClient, GivenDeployment, library_of
from proofka.model.deployment.question import question
from proofka.model.deployment.release import NEWEST, Release
from proofka.model.deployment.setting import Origin

TABLE = Path(__file__).parent / "tables" / "strengthenings.csv"
ORIGIN = Origin("option", "a change that is tried")
"""The origin of a value that a change sets."""

_RULE = re.compile(r"[A-Z][0-9]{2}(?=:)")
"""The number of a rule at the start of an origin's detail."""


COSTS = ("latency", "availability", "lowered", "unlimited")
"""The columns of the table that describe the cost of a change."""


@dataclass(frozen=True)
class Change:
    """Values for keys of a scope (topic, broker, producer, consumer, application, kafka), and their cost.

    ``library``: the client library that has the settings; empty if every client has. ``latency`` and ``availability``:
    phrases for what gets slower and what stops; empty if nothing does. ``lowered``: the cost if the value before was
    higher; empty if that does not matter. ``unlimited``: the value that means no limit, if any.
    """

    library: str
    values: tuple[tuple[str, str, str], ...]
    cost: int
    latency: str
    availability: str
    lowered: str
    unlimited: str

    def __str__(self) -> str:
        """Return the change as a deployment file writes it, with the application's behaviour under ``producer`` or
        ``consumer``."""
        return " and ".join(f"{_name(scope, key)}={value}" for scope, key, value in self.values)

    @property
    def places(self) -> frozenset[tuple[str, str]]:
        """The scopes and keys that the change sets. Two changes that share a place are alternatives."""
        return frozenset((scope, key) for scope, key, _ in self.values)

    @property
    def is_upgrade(self) -> bool:
        """Tell whether the change names releases of brokers or clients."""
        return not self.places.isdisjoint(_RELEASES)

    @property
    def settings(self) -> tuple[str, ...]:
        """The effective settings whose value the change sets, such as ``application.commit``."""
        return tuple(_SETTINGS.get(f"{scope}.{key}", f"{scope}.{key}") for scope, key, _ in self.values)


RELEASE = "release"
"""The key, in the scope ``kafka``, for the release of the brokers."""

VERSION = "version"
"""The key of a producer or consumer for the release of its client."""

_RELEASES = {("kafka", RELEASE), ("producer", VERSION), ("consumer", VERSION)}
_NEWEST = {(*place, "newest") for place in _RELEASES}


def _section(scope: str, key: str) -> str:
    if scope == "application":
        return "producer" if key in PRODUCER_KEYS else "consumer"
    return "broker" if scope == "kafka" else scope


def _name(scope: str, key: str) -> str:
    return scope if (scope, key) == ("kafka", RELEASE) else f"{_section(scope, key)}.{key}"


_SETTINGS = {
    "kafka.elr": "broker.eligible.leader.replicas.version",
    "kafka.release": "broker.release",
    "producer.version": "producer.client",
    "consumer.version": "consumer.client",
}
"""Words of the format that are no settings of Kafka, by scope and key, and the settings whose value they set."""

_OF_KAFKA = ("topic", "broker", "producer", "consumer")


class Unchangeable(DeploymentError):
    """A deployment that was not read from files, so that its settings cannot be changed one by one."""


class NotOfThisClient(DeploymentError):
    """A change of settings that the deployment's client does not have."""


@cache
def strengthenings() -> tuple[Change, ...]:
    """Return all changes of the table, cheapest first."""
    with TABLE.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    changes = (
        Change(row["library"], tuple(_values(row["change"])), int(row["cost"]), *(row[name] for name in COSTS))
        for row in rows
    )
    return tuple(sorted(changes, key=lambda change: change.cost))


def _values(text: str) -> Iterator[tuple[str, str, str]]:
    for part in text.split(" & "):
        place, _, value = part.partition("=")
        scope, _, key = place.partition(".")
        yield scope, key, str(Release(*NEWEST)) if (scope, key, value) in _NEWEST else value


def changes_of(deployment: Deployment) -> list[Change]:
    """Return the changes of the table that alter this deployment's question and that clients and brokers accept.

    Upgrades are excluded. Raises :class:`Unchangeable`.
    """
    settings = (change for change in strengthenings() if not change.is_upgrade)
    return [change for change in settings if _asked_with(deployment, [change]) not in (None, question(deployment))]


def upgrades_of(deployment: Deployment) -> list[Change]:
    """Return the newer releases of brokers and clients in the table that alter this deployment's question.

    A release with the same effect as a cheaper change is excluded. Raises :class:`Unchangeable`.
    """
    found: list[Change] = []
    asked = [question(deployment), *(_asked_with(deployment, [change]) for change in changes_of(deployment))]
    for change in strengthenings():
        made = _asked_with(deployment, [change]) if change.is_upgrade else None
        if made is None or not _is_newer(deployment, change) or _parts_clients(deployment, change):
            continue
        # The fields that differ between these releases count, not the number of the release.
        one = replace(made, cluster=replace(made.cluster, kafka=deployment.cluster.kafka))
        if one not in asked:
            asked.append(one)
            found.append(change)
    return found


def _parts_clients(deployment: Deployment, change: Change) -> bool:
    """Tell whether the change upgrades only one of two clients of the same library."""
    assert deployment.given is not None
    producer, consumer = (library_of(one.client) for one in (deployment.given.producer, deployment.given.consumer))
    return producer == consumer and len({scope for scope, _, _ in change.values} & {"producer", "consumer"}) == 1


def _is_newer(deployment: Deployment, change: Change) -> bool:
    """Tell whether every release that the change names is newer than the release before."""
    assert deployment.given is not None
    before, after = components_of(deployment.given), components_of(_with(deployment.given, change))
    releases = {
        "kafka": (before.kafka, after.kafka),
        "producer": (before.producer.release, after.producer.release),
        "consumer": (before.consumer.release, after.consumer.release),
    }
    return all(was.full < now.full for was, now in (releases[scope] for scope, _, _ in change.values))


def companions(deployment: Deployment, offered: Sequence[Change]) -> dict[Change, list[tuple[Change, ...]]]:
    """Return the changes that are refused or have no effect alone, each with the sets of ``offered`` changes that make
    it accepted and effective.

    Idempotence is refused with ``acks=1`` and accepted with ``acks=all``. Two in-sync replicas have no effect with one
    replica. Sets of two are tried only for refused changes. Raises :class:`Unchangeable`.
    """
    found: dict[Change, list[tuple[Change, ...]]] = {}
    pairs = [*((one,) for one in offered), *combinations(offered, 2)]
    without = {ones: _asked_with(deployment, ones) for ones in pairs}
    for change in strengthenings():
        if change in offered or change.is_upgrade or not _is_of(deployment, change):
            continue
        for size in (1, 2) if _asked_with(deployment, [change]) is None else (1,):
            sets = [
                ones
                for ones in combinations(offered, size)
                if _asked_with(deployment, [change, *ones]) not in (None, without[ones])
            ]
            if sets:
                found[change] = sets
                break
    return found


def _asked_with(deployment: Deployment, changes: Sequence[Change]) -> Deployment | None:
    """Return the question of the changed deployment; None if clients, brokers or the model refuse the changes."""
    places = [place for change in changes for place in change.places]
    if len(set(places)) < len(places):
        return None
    try:
        return question(changed(deployment, changes))
    except Unchangeable:
        raise
    except DeploymentError:
        return None


def lowered_from(deployment: Deployment, change: Change) -> str | None:
    """Return the number before if the change lowers a value whose increase is its purpose; otherwise None."""
    if not change.lowered:
        return None
    scope, key, value = change.values[0]
    before = next((one.value for one in deployment.settings if (one.scope, one.key) == (scope, key)), "")
    if not before.removeprefix("-").isdecimal():
        return None
    return before if int(before) > int(value) or before == change.unlimited else None


def changed(deployment: Deployment, changes: Iterable[Change]) -> Deployment:
    """Return the deployment with these changes, with the same faults, requirements and profile.

    Raises DeploymentError if clients or brokers refuse the changes or the result is not modelled;
    :class:`Unchangeable`.
    """
    if deployment.given is None:
        raise Unchangeable("the settings of a stored deployment cannot be changed one by one; name its original files")
    given = deployment.given
    for change in changes:
        if change.library and not _is_of(deployment, change):
            raise NotOfThisClient(f"{change}: this client has no such setting")
        given = _with(given, change)
    made = build(given)
    return replace(
        made,
        name=deployment.name,
        faults=deployment.faults.of_release(made.faults),
        require=deployment.require,
        profile=deployment.profile,
    )


def turned(before: Deployment, after: Deployment, change: Change) -> tuple[str, ...]:
    """Return those settings of a change whose value the change alters."""
    was, now = ({f"{one.scope}.{one.key}": one.value for one in deployment.settings} for deployment in (before, after))
    return tuple(name for name in change.settings if name not in was or was[name] != now.get(name))


def brought(before: Deployment, after: Deployment, change: Change) -> Iterator[str]:
    """Yield the other settings that clients and brokers change in consequence, with the rule that sets or no longer
    sets them.

    ``producer.enable.idempotence=true (rule P12)``: ``acks=1`` alone had disabled it.
    """
    was = {(one.scope, one.key): one for one in before.settings}
    for setting in after.settings:
        name = f"{setting.scope}.{setting.key}"
        known = was.get((setting.scope, setting.key))
        if setting.scope in _OF_KAFKA and name not in change.settings and known and known.value != setting.value:
            rules = [found[0] for one in (setting, known) if (found := _RULE.match(one.origin.detail))]
            yield f"{name}={setting.value}" + (f" (rule {rules[0]})" if rules else "")


def _is_of(deployment: Deployment, change: Change) -> bool:
    """Tell whether the clients that the change sets are clients of its library."""
    given = deployment.given
    assert given is not None
    clients: Mapping[str, GivenClient] = {"producer": given.producer, "consumer": given.consumer}
    return all(library_of(clients[scope].client) == change.library for scope, _, _ in change.values if scope in clients)


def _with(given: GivenDeployment, change: Change) -> GivenDeployment:
    for scope, key, value in change.values:
        one = Given(key, value, ORIGIN)
        match scope:
            case "producer" if key == VERSION:
                given = replace(given, producer=replace(given.producer, version=one))
            case "consumer" if key == VERSION:
                given = replace(given, consumer=replace(given.consumer, version=one))
            case "kafka" if key == RELEASE:
                given = replace(given, kafka=one)
            case "topic":
                given = replace(given, topic={**given.topic, key: one})
            case "broker":
                given = replace(given, broker={**given.broker, key: one})
            case "producer":
                given = replace(given, producer=_client_with(given.producer, one))
            case "consumer":
                given = replace(given, consumer=_client_with(given.consumer, one))
            case "application":
                given = replace(given, application={**given.application, key: one})
            case "kafka":
                given = replace(given, elr=one)
    return given


def _client_with(client: GivenClient, one: Given) -> GivenClient:
    """Return the client with one setting, which replaces the same setting under any other name."""
    from proofka.model.deployment.clients import aliases

    library = library_of(client.client)
    settings = {key: given for key, given in client.settings.items() if aliases().get((library, key), key) != one.key}
    return replace(client, settings={**settings, one.key: one}, present=True)
