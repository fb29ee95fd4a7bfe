"""The names of clients' settings: owner of a key, replacement of an old name, and resemblance to a known name."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path

from proofka.model.deployment.clients import aliases
from proofka.model.deployment.defaults import is_known, known_keys
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.hiding import is_secret
from proofka.model.deployment.must_know import must_know
from proofka.model.deployment.reasons import find_reason, names_key
from proofka.model.deployment.synonyms import TOPIC_NAMES

CLIENTS = (Role.PRODUCER, Role.CONSUMER)
LIBRDKAFKA = "librdkafka"
_TABLE = Path(__file__).with_name("tables") / "legacy.csv"
_OTHER = {Role.PRODUCER: Role.CONSUMER, Role.CONSUMER: Role.PRODUCER}
_SIMILAR = 0.76
_LONGEST = 60
_REMEMBERED = 20_000

SECRET = "a secret, which does not change delivery"


@dataclass(frozen=True)
class Legacy:
    """The replacement of a setting of Kafka's old Scala clients; ``instead`` is empty if there is none."""

    instead: str
    values: Mapping[str, str]


@cache
def legacy() -> Mapping[tuple[Role, str], Legacy]:
    """Return the settings of the old Scala clients, by role and name."""
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return {
            (Role(row["role"]), row["key"]): Legacy(
                row["instead"], dict(pair.split("=", 1) for pair in row["values"].split("|") if pair)
            )
            for row in csv.DictReader(table)
        }


def is_legacy(role: Role, key: str) -> bool:
    """Tell whether only the old Scala clients have the setting."""
    row = legacy().get((role, key))
    return row is not None and row.instead != key and not is_known(role.value, key)


def is_of(role: Role, key: str, library: str = "") -> bool:
    """Tell whether a client of this role has the setting in any release. ``library``: its library; empty for Kafka's
    own."""
    return is_known(f"{library} {role}".strip(), key)


@lru_cache(_REMEMBERED)
def owners(key: str, library: str = "") -> tuple[Role, ...]:
    """Return the roles whose clients have the setting in any release, under any of its names in the library.

    The old Scala clients count as Kafka's own.
    """
    name = aliases().get((library, key), key)
    return tuple(role for role in CLIENTS if is_of(role, name, library) or (not library and is_legacy(role, key)))


@lru_cache(_REMEMBERED)
def is_named(key: str) -> bool:
    """Tell whether clients get the key although no release lists it: security and similar."""
    return any(names_key(role.value, key) for role in CLIENTS)


def reason_to_leave_out(role: Role, key: str, library: str = "") -> str | None:
    """Return the reason for which a client does not read the setting, or its value must not be kept; None otherwise."""
    if is_secret(key):
        return SECRET
    if role in owners(key, library):
        return None
    other = _OTHER.get(role)
    if other is not None and other in owners(key, library):
        return f"a {other}'s setting: a {role} does not read it"
    if names_key(role.value, key):
        return None
    for scope in ("broker", "topic"):
        if is_known(scope, key):
            return f"a {scope}'s setting: clients do not read it"
    return None


@lru_cache(_REMEMBERED)
def is_misspelt(key: str, role: Role, library: str = "") -> bool:
    """Tell whether an unknown key probably is a misspelt setting of the client.

    >>> is_misspelt("lingger.ms", Role.PRODUCER), is_misspelt("google.key.schema.file", Role.PRODUCER)
    (True, False)
    """
    if len(key) > _LONGEST or owners(key, library) or is_named(key):
        return False
    as_kafka = key.lower().replace("_", ".").replace("-", ".")
    return bool(get_close_matches(as_kafka, _keys(f"{library} {role}".strip()), n=1, cutoff=_SIMILAR))


@cache
def _keys(scope: str) -> list[str]:
    return known_keys(scope)


def matters(scope: str, key: str) -> bool:
    """Tell whether a setting of the component, or the topic setting that it replaces, can matter to a verdict."""
    if key in must_know(scope) or (is_known(scope, key) and find_reason(scope, key) is None):
        return True
    return scope == "broker" and key in TOPIC_NAMES and matters("topic", TOPIC_NAMES[key])
