"""Conditions of a defect on settings: ``acks=all``, ``retries>0``, ``client.rack!=unset``.

A condition that nothing decides counts as met: a defect is rather named once too often than left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from proofka.model.deployment.deployment import Deployment
from proofka.properties.known_defects.affected import release_from
from proofka.properties.known_defects.defect import release_in_words
from proofka.properties.known_defects.register import rows_of
from proofka.properties.known_defects.releases import BROKER, releases_of

_CONDITION = re.compile(r"(?P<key>[\w.]+?)(?P<relation>>=|<=|!=|=|>|<)(?P<value>.*)")

UNSET = frozenset({"unset", '""', "none", "null", ""})
"""Texts that stand for a setting without a value, in small letters."""

PACKAGE = "org.apache.kafka.clients.consumer."
"""The package of the assignors of Java's consumers, whose names stand without the package in conditions."""

SET = "set"
"""The text that stands for any value."""

FLAGS: Mapping[str, str] = {"1": "true", "t": "true", "0": "false", "f": "false"}
"""Short texts of librdkafka for a flag."""

INTER_BROKER_PROTOCOL = "inter.broker.protocol.version"
"""The setting for the protocol between brokers."""


@cache
def _meanings() -> Mapping[str, str]:
    """Return the meanings of texts that libraries write in ways of their own, in small letters.

    A text such as ``compression.type=4`` has this meaning for the setting alone, by Kafka's name if it has one.
    """
    return {row["text"]: row["meaning"] for row in rows_of("meanings")}


@cache
def _names() -> Mapping[str, str]:
    """Return Kafka's names of settings that libraries name in ways of their own."""
    return {row["name"]: row["setting"] for row in rows_of("names")}


@cache
def _defaults() -> Mapping[str, str]:
    """Return the values of settings that no effective setting has, where no file names them."""
    return {row["setting"]: row["default"] for row in rows_of("defaults")}


def values_of(deployment: Deployment) -> Mapping[str, frozenset[str]]:
    """Return the values of each setting that a deployment has, in small letters, each item of a list by itself.

    A setting that a library names in a way of its own stands under Kafka's name as well. The protocol between brokers
    is that of their release where no file names another.
    """
    found: dict[str, set[str]] = {}
    for key, value in _given(deployment):
        for name in {key, _names().get(key, key)}:
            found.setdefault(name, set()).update(_normal(key, item) for item in value.split(","))
    found.setdefault(INTER_BROKER_PROTOCOL, {release_in_words(dict(releases_of(deployment))[BROKER])})
    return {key: frozenset(values) for key, values in found.items()}


def _given(deployment: Deployment) -> Iterator[tuple[str, str]]:
    for setting in deployment.settings:
        yield setting.key, setting.value
    for ignored in deployment.ignored:
        yield ignored.key, ignored.value


def is_met(condition: str, values: Mapping[str, frozenset[str]]) -> bool:
    """Tell whether a condition can be met with these values of settings."""
    match = _CONDITION.fullmatch(condition)
    key = condition if match is None else match["key"]
    known = values.get(key) or ({_normal(key, _defaults()[key])} if key in _defaults() else None)
    if known is None:
        return True
    if match is None:
        return any(value not in UNSET for value in known)
    wanted = _normal(key, match["value"])
    return any(_holds(value, match["relation"], wanted) for value in known)


def _holds(value: str, relation: str, wanted: str) -> bool:
    if relation in ("=", "!="):
        if wanted in FLAGS.values():
            value = FLAGS.get(value, value)
        equal = value not in UNSET if wanted == SET else value in UNSET if wanted in UNSET else value == wanted
        return equal == (relation == "=")
    one, other = release_from(value), release_from(wanted)
    if not one or not other:
        return True
    return {">": one > other, "<": one < other, ">=": one >= other, "<=": one <= other}[relation]


def _normal(key: str, value: str) -> str:
    """Return a value as conditions have it. A number can stand for the word that it means for this setting."""
    small, meanings = value.strip().lower(), _meanings()
    of_setting = f"{_names().get(key, key)}={small}"
    return meanings.get(of_setting, meanings.get(small, small)).removeprefix(PACKAGE)
