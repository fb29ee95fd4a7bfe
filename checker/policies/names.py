"""The settings that a rule can name, with their component or without."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from proofka.checker.policies.errors import AmbiguousSettingError, UnknownSettingError
from proofka.checker.policies.expression import Read
from proofka.model.deployment.assumptions import ASSUMPTIONS
from proofka.model.deployment.defaults import is_known, known_keys
from proofka.model.deployment.hiding import printable
from proofka.model.deployment.libraries import LIBRARIES

SCOPES = ("topic", "broker", "producer", "consumer", "application")
"""The components whose settings a rule can read."""

WITH_LIBRARIES = ("producer", "consumer")
"""The components that are clients, of one of several libraries."""

OTHER_NAMES = {"replicas": "replication.factor", "replicationFactor": "replication.factor"}
"""Other names of a topic's settings."""

RELEASES = {("broker", "release"): "kafka"}
"""The release of the brokers, with its name in deployments."""

CLIENT = "client"
"""The key of a client's library with its release."""

ACKS = ("producer", "acks")
EVERY_REPLICA = {"-1": "all"}
"""The other way to write ``acks=all``."""

MEANT_FIRST = ("topic", "producer", "consumer", "application")
"""The components that a name without a component can mean.

Settings of Kafka's own clients are meant first, then those of brokers, and last those of other client libraries.
"""


def read_of(name: str, line: int = 1, column: int = 1, file: str | None = None) -> Read:
    """Return the setting that a name means. Raise UnknownSettingError or AmbiguousSettingError."""
    found = find(name, line, column)
    if len(found) == 1:
        return found[0]
    if found:
        names = " or ".join(one.name for one in found)
        message = f"{printable(name)} is a setting of several components; write {names}"
        raise AmbiguousSettingError(message, file=file, line=line, column=column)
    near = get_close_matches(name, _all_names(), n=1, cutoff=0.7)
    advice = f"did you mean {near[0]}?" if near else "write the setting as Kafka does, as in topic.min.insync.replicas"
    raise UnknownSettingError(f"{printable(name)} is no setting; {advice}", file=file, line=line, column=column)


def find(name: str, line: int = 1, column: int = 1) -> tuple[Read, ...]:
    """Return the settings that a name can mean: none if the name is no setting."""
    for (scope, key), short in RELEASES.items():
        if name == short:
            return (Read(scope, key, line, column),)
    scope, dot, key = name.partition(".")
    if dot and scope in SCOPES and (known := _known(scope, key)):
        return (Read(scope, known, line, column),)
    for scopes, libraries in ((MEANT_FIRST, False), (("broker",), False), (MEANT_FIRST, True)):
        found = [
            Read(scope, known, line, column) for scope in scopes if (known := _known(scope, name, libraries=libraries))
        ]
        if found:
            return tuple(found)
    return ()


def written(read: Read, text: str) -> str:
    """Return the value of a setting in its usual form."""
    return EVERY_REPLICA.get(text, text) if (read.scope, read.key) == ACKS else text


@cache
def _known(scope: str, key: str, *, libraries: bool = True) -> str | None:
    """Return the key of a component's setting; None if no release has the setting.

    ``libraries``: settings of client libraries beside Kafka's own count as well.
    """
    if scope == "topic":
        key = OTHER_NAMES.get(key, key)
    if scope == "application":
        return key if key in ASSUMPTIONS else None
    if (scope, key) in RELEASES:
        return key
    is_client = scope in WITH_LIBRARIES
    tables = [scope, *(f"{library} {scope}" for library in LIBRARIES if is_client and libraries)]
    is_here = any(is_known(table, key) for table in tables) or (is_client and key == CLIENT)
    return key if is_here else None


@cache
def _all_names() -> tuple[str, ...]:
    keys = {scope: known_keys(scope) for scope in ("topic", "broker", "producer", "consumer")}
    keys["application"] = list(ASSUMPTIONS)
    scoped = [f"{scope}.{key}" for scope, found in keys.items() for key in found]
    return (*scoped, *(key for scope in MEANT_FIRST for key in keys[scope]), *OTHER_NAMES)
