"""The durations of a deployment: settings in milliseconds, and assumptions about the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import product
from typing import NamedTuple

from proofka.model.deployment.duration_settings import Source, sources
from proofka.model.deployment.given import Given, Settings, complaint
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.section import Section
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.deployment.times import Durations
from proofka.model.deployment.values import milliseconds
from proofka.model.durations import LONGEST, UNITS, Quantity


class Environment(NamedTuple):
    """A duration that no file tells: its default range in text, and one sentence about its meaning."""

    default: str
    sentence: str


ENVIRONMENT: Mapping[str, Environment] = {
    "network": Environment("0..100ms", "the time for one message from machine to machine"),
    "metadata": Environment("0..500ms", "the time until a broker or a client knows a decision of the controller"),
    "election": Environment(
        "0..1s", "the time in which the controller fences a broker whose session has expired, and elects a leader"
    ),
    "coordinator": Environment(
        "0..10s",
        "the time from a fault of a broker, once the controller has fenced that broker and all others know, until a "
        "coordinator of transactions serves (with a transactional.id): its replicas are in sync, and it has loaded its "
        "state",
    ),
    "broker_restart": Environment("1s..unbounded", "the time from a broker's death until it could be unfenced"),
    "application_restart": Environment("1s..1h", "the time from a consumer's crash until its restart"),
    "processing_time": Environment(
        "0..unbounded",
        "the time from the poll() that returned a record until a worker has processed the record (with "
        "processing=handed-off)",
    ),
    "poll_interval": Environment("0..unbounded", "the time from the return of a poll() until the next call"),
    "slowness": Environment("0..unbounded", "the time for which a slow follower does not fetch"),
    "cut_off": Environment(
        "0..unbounded", "the time for which a broker cannot reach the controller or connect to it again"
    ),
    "late_request": Environment(
        "0..10min", "the time after which a request can still be executed once its client has given up on it"
    ),
}
"""The assumptions about the environment, by their keys in ``--assume`` and in the YAML format."""

UNLIMITED_BELOW_0 = "retention.ms"
"""The setting whose value -1 means never to every reader."""

UNLIMITED_AT_0 = "message.timeout.ms"
"""The setting of librdkafka whose value 0 means never."""

UNBOUNDED = "unbounded"
_TO = ".."
_AS_IN = f"as in 20s, 0..300ms or 1min..{UNBOUNDED}"
_UNIT_NAMES = ", ".join(UNITS)
FIRST_PAUSE: Mapping[str, str] = {
    "reconnect.backoff.max.ms": "reconnect.backoff.ms",
    "socket.connection.setup.timeout.max.ms": "socket.connection.setup.timeout.ms",
}
"""The longest pauses of clients, and the settings of their first pauses, from which they grow."""

CAPPED = (3, 7)
"""The first client release that caps a first pause at the longest pause (P91)."""


def keys_of(scope: str, own: Mapping[str, Source] | None = None) -> tuple[str, ...]:
    """Return the settings of a component that are durations of the model: their values must be known.

    ``own``: the sources of its library, if that is not Java's.
    """
    every = (
        sources(
            {scope: own or {}},
            zookeeper=zookeeper,
            brokers_protocol=brokers_protocol,
            compacts=True,
            numbered=True,
            transactional=True,
        )
        for zookeeper, brokers_protocol in product((False, True), repeat=2)
    )
    said = [source for found in every for source in found.values() if source[0] == scope]
    stand_ins = [instead for _, _, instead in said if isinstance(instead, str)]
    keys = [key for _, key, _ in said if " " not in key]  # A source that contains a space is a phrase, not a setting.
    return tuple(dict.fromkeys((*keys, *stand_ins, *(FIRST_PAUSE[key] for key in keys if key in FIRST_PAUSE))))


@dataclass(frozen=True)
class DurationValues:
    """The durations, and the settings that say where each came from."""

    durations: Durations
    settings: tuple[Setting, ...]


def read_durations(
    sections: Mapping[str, Section],
    effective: tuple[Setting, ...],
    given: Settings,
    own: Mapping[str, Mapping[str, Source]],
    *,
    zookeeper: bool,
    brokers_protocol: bool,
    compacts: bool,
    numbered: bool,
    transactional: bool,
) -> DurationValues:
    """Return the durations of a deployment.

    ``sections``: by component. ``effective``: settings that a rule has checked and may have changed. ``given``: the
    given durations of the environment. ``own``: by role, the sources of libraries other than Java's.
    ``brokers_protocol``: the group uses ``group.protocol=consumer``. Raises DeploymentError for an invalid range.
    """
    ruled = {(setting.scope, setting.key): setting for setting in effective}
    values: dict[str, Quantity] = {}
    settings: list[Setting] = []
    said_by = sources(
        own,
        zookeeper=zookeeper,
        brokers_protocol=brokers_protocol,
        compacts=compacts,
        numbered=numbered,
        transactional=transactional,
    )
    for name, (scope, key, stand_in) in said_by.items():
        section = sections[scope]
        if stand_in is not None and not section.knows(key):
            if isinstance(stand_in, int):
                values[name] = _quantity(key, stand_in)
                continue
            key = stand_in
        setting = ruled.get((scope, key))
        if setting is None:
            setting = _longest_pause(section, key) or section.setting(key)
            settings.append(setting)
        values[name] = _said_quantity(setting)
    for name, environment in ENVIRONMENT.items():
        said = given.get(name, Given(name, environment.default, Origin("assumption", "documented default")))
        least, most = read_range(said)
        values[name] = Quantity(name, least, most)
        settings.append(Setting("assume", name, said.value.strip(), said.origin))
    return DurationValues(Durations(**values), tuple({(s.scope, s.key): s for s in settings}.values()))


def _longest_pause(section: Section, key: str) -> Setting | None:
    """Return the longest pause where a client uses the first pause instead (rules P90, P91); otherwise None."""
    first = FIRST_PAUSE.get(key)
    if first is None or not section.has(first) or section.library != JAVA:
        return None
    value = section.integer(first)
    if key == "reconnect.backoff.max.ms" and not section.has(key):
        return section.derived(key, str(value), f"P90: {first} is set and this is not")
    if section.release.line < CAPPED and value > section.integer(key):
        return section.derived(key, str(value), f"P91: {first} is longer")
    return None


def _said_quantity(setting: Setting) -> Quantity:
    """Return the quantity of a setting. A rule of a library may give only a range (``300..unbounded``)."""
    if ".." in setting.value:
        return Quantity(setting.key, *read_range(Given(setting.key, setting.value, setting.origin)))
    return _quantity(setting.key, milliseconds(setting.value))


def _quantity(key: str, value: int) -> Quantity:
    """Return the quantity of a value in ms. A value below 0 has no limits: some readers take it for 0, others for
    never."""
    if value < 0 and key != UNLIMITED_BELOW_0:
        return Quantity(key, 0, None)
    never = value < 0 or value > LONGEST or (value == 0 and key == UNLIMITED_AT_0)
    return Quantity(key, LONGEST if never else value, None if never else value)


def read_range(given: Given) -> tuple[int, int | None]:
    """Read ``0..300``, ``1s..2min``, ``5s..unbounded``, or one value. Returns least and most in ms; most is None for no
    limit."""
    first, dots, last = given.value.strip().partition("..")
    least = _milliseconds(first)
    most = least if not dots else None if last.strip() == UNBOUNDED else _milliseconds(last)
    if least is None or (most is None and dots and last.strip() != UNBOUNDED):
        meant = _meant(first) or _meant(last)
        hint = f"; did you mean {meant}?" if meant else ""
        raise complaint(given, f"must be a duration or a range in {_UNIT_NAMES}, {_AS_IN}{hint}")
    if least and most and first.strip().isdigit() != last.strip().isdigit() and dots:
        raise complaint(given, f"has a unit at one end only ({given.value.strip()}); write a unit at both ends")
    if most is not None and most < least:
        raise complaint(given, f"ends before it begins ({given.value.strip()}); write the smaller value first")
    return least, most


MEANT: Mapping[str, str] = {"sec": "s", "m": "min", "hr": "h", "hour": "h", "day": "d", "minute": "min", "second": "s"}
"""Units that people write, and the units that the reader accepts."""


def _meant(text: str) -> str | None:
    """Return the probable meaning of a duration with another unit, or None."""
    found = re.fullmatch(r"\s*([0-9]{1,10})\s*([a-z]+?)s?\s*", text)
    if _milliseconds(text) is not None:
        return None
    return f"{found[1]}{MEANT[found[2]]}" if found and found[2] in MEANT else None


def _milliseconds(text: str) -> int | None:
    found = re.fullmatch(r"\s*([0-9]{1,10})\s*(ms|s|min|h|d|)\s*", text)
    return int(found[1]) * UNITS[found[2] or "ms"] if found else None


NAMES = tuple(field.name for field in fields(Durations))
"""The names of all durations, in the order of :class:`Durations`."""
