"""What could be changed about a deployment: settings and ways of the application, each with what it costs.

The table (``tables/strengthenings.csv``) holds what is known to prevent something; what it prevents in a deployment is
for a check to say. ``cost`` ranks them: 1 costs nothing that is noticed, 2 and 3 are settings that cost latency,
throughput or availability, 4 and 5 change a program, 6 needs machines or another store, 7 makes transactions of what a
program sends. From 30 on a change is an upgrade, which costs more than any changes of settings together: another
release has to be tested and rolled out.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path

from model.deployment.accepting import components_of
from model.deployment.assumptions import PRODUCER_KEYS
from model.deployment.builder import build
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError
from model.deployment.given import Given, GivenClient, GivenDeployment, library_of
from model.deployment.question import question
from model.deployment.setting import Origin

TABLE = Path(__file__).parent / "tables" / "strengthenings.csv"
ORIGIN = Origin("option", "a change that is tried")
"""Where a value comes from that no file says."""

_RULE = re.compile(r"[A-Z][0-9]{2}(?=:)")
"""How the origin of what a rule made begins."""


COSTS = ("latency", "availability", "lowered", "unlimited")
"""The columns of the table that say what a change costs."""


@dataclass(frozen=True)
class Change:
    """Values to give to keys of a scope (topic, broker, producer, consumer, application, kafka), and what that costs.

    ``library``: whose client understands them; empty for everyone's. ``latency`` and ``availability`` are words for
    what is slower and what stops; empty where nothing is. ``lowered``: what it costs instead where there was more of it
    before; empty where that is no question. ``unlimited``: the value with which there is no limit, if one is.
    """

    library: str
    values: tuple[tuple[str, str, str], ...]
    cost: int
    latency: str
    availability: str
    lowered: str
    unlimited: str

    def __str__(self) -> str:
        """As a deployment file has it: what the application does stands in ``producer`` or ``consumer`` there."""
        return " and ".join(f"{_name(scope, key)}={value}" for scope, key, value in self.values)

    @property
    def places(self) -> frozenset[tuple[str, str]]:
        """The scopes and keys that it sets: two changes that share one are alternatives."""
        return frozenset((scope, key) for scope, key, _ in self.values)

    @property
    def is_upgrade(self) -> bool:
        """Whether it names releases, of brokers or clients."""
        return not self.places.isdisjoint(_RELEASES)

    @property
    def settings(self) -> tuple[str, ...]:
        """The effective settings that it gives a value to: ``application.commit``."""
        return tuple(_SETTINGS.get(f"{scope}.{key}", f"{scope}.{key}") for scope, key, _ in self.values)


RELEASE = "release"
"""The key of the scope ``kafka`` for the release of the brokers."""

VERSION = "version"
"""The key of a producer or consumer for the release of its client."""

_RELEASES = {("kafka", RELEASE), ("producer", VERSION), ("consumer", VERSION)}


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
"""Words of the format that are no settings of Kafka -> the setting that they give a value to."""

_OF_KAFKA = ("topic", "broker", "producer", "consumer")


class Unchangeable(DeploymentError):
    """A deployment that was not read from files, whose settings nobody can change one by one."""


class NotOfThisClient(DeploymentError):
    """A change of settings that the deployment's client does not have."""


@cache
def strengthenings() -> tuple[Change, ...]:
    """All changes of the table, cheapest first."""
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
        yield scope, key, value


def changes_of(deployment: Deployment) -> list[Change]:
    """The changes of the table that make this deployment another one, and one that its clients and brokers accept.

    Upgrades are not among them. Raises :class:`Unchangeable`.
    """
    settings = (change for change in strengthenings() if not change.is_upgrade)
    return [change for change in settings if _asked_with(deployment, [change]) not in (None, question(deployment))]


def upgrades_of(deployment: Deployment) -> list[Change]:
    """The newer releases of the table, of brokers and clients, that make this deployment another one.

    A release that makes the same of the deployment as a cheaper change does, of settings or releases, is not offered.
    Raises :class:`Unchangeable`.
    """
    found: list[Change] = []
    asked = [question(deployment), *(_asked_with(deployment, [change]) for change in changes_of(deployment))]
    for change in strengthenings():
        made = _asked_with(deployment, [change]) if change.is_upgrade else None
        if made is None or not _is_newer(deployment, change):
            continue
        # What differs between these releases has fields of its own: the number of the release alone says nothing.
        one = replace(made, kafka=deployment.kafka)
        if one not in asked:
            asked.append(one)
            found.append(change)
    return found


def _is_newer(deployment: Deployment, change: Change) -> bool:
    """Whether every release that the change names is newer than the one before."""
    assert deployment.given is not None
    before, after = components_of(deployment.given), components_of(_with(deployment.given, change))
    releases = {
        "kafka": (before.kafka, after.kafka),
        "producer": (before.producer.release, after.producer.release),
        "consumer": (before.consumer.release, after.consumer.release),
    }
    return all(was.full < now.full for was, now in (releases[scope] for scope, _, _ in change.values))


def companions(deployment: Deployment, offered: Sequence[Change]) -> dict[Change, list[tuple[Change, ...]]]:
    """Changes that are refused alone, or mean nothing, and those of ``offered`` with which they are not, and do.

    Idempotence is refused where ``acks=1`` is set; with ``acks=all`` it is not. Two replicas in sync mean nothing where
    there is one. Two others are tried with what is refused. Raises :class:`Unchangeable`.
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
    """The question that these changes make; None where clients or brokers refuse them, or no model has it."""
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
    """The number before, where a change makes less of what it is meant to be more of; otherwise None."""
    if not change.lowered:
        return None
    scope, key, value = change.values[0]
    before = next((one.value for one in deployment.settings if (one.scope, one.key) == (scope, key)), "")
    if not before.removeprefix("-").isdecimal():
        return None
    return before if int(before) > int(value) or before == change.unlimited else None


def changed(deployment: Deployment, changes: Iterable[Change]) -> Deployment:
    """The deployment with these changes, explored as the other one is.

    Raises DeploymentError where clients or brokers refuse them, or no model has what they make; :class:`Unchangeable`.
    """
    if deployment.given is None:
        raise Unchangeable("its settings cannot be changed one by one; name the files it was read from")
    given = deployment.given
    for change in changes:
        if change.library and not _is_of(deployment, change):
            raise NotOfThisClient(f"{change}: no setting of this client")
        given = _with(given, change)
    made = build(given)
    return replace(
        made,
        name=deployment.name,
        faults=deployment.faults,
        require=deployment.require,
        profile=deployment.profile,
    )


def turned(before: Deployment, after: Deployment, change: Change) -> tuple[str, ...]:
    """Those of a change's settings that have another value with it; one that had the value already is none of them."""
    was, now = ({f"{one.scope}.{one.key}": one.value for one in deployment.settings} for deployment in (before, after))
    return tuple(name for name in change.settings if name not in was or was[name] != now.get(name))


def brought(before: Deployment, after: Deployment, change: Change) -> Iterator[str]:
    """What clients and brokers make of other settings once a change is made, by the rule that did or undid it.

    ``producer.enable.idempotence=true (rule P12)``: ``acks=1`` alone had switched it off.
    """
    was = {(one.scope, one.key): one for one in before.settings}
    for setting in after.settings:
        name = f"{setting.scope}.{setting.key}"
        known = was.get((setting.scope, setting.key))
        if setting.scope in _OF_KAFKA and name not in change.settings and known and known.value != setting.value:
            rules = [found[0] for one in (setting, known) if (found := _RULE.match(one.origin.detail))]
            yield f"{name}={setting.value}" + (f" (rule {rules[0]})" if rules else "")


def _is_of(deployment: Deployment, change: Change) -> bool:
    """The client whose settings the change gives is one of its library."""
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
    """The client with one setting, whatever other name of it was used."""
    from model.deployment.clients import aliases

    library = library_of(client.client)
    settings = {key: given for key, given in client.settings.items() if aliases().get((library, key), key) != one.key}
    return replace(client, settings={**settings, one.key: one}, present=True)
