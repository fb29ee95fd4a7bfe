"""The broker and client releases of a deployment: Kafka's own clients, and other client libraries."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from proofka.model.deployment.defaults import TABLES
from proofka.model.deployment.given import Given, GivenClient, complaint, library_of, not_modelled
from proofka.model.deployment.hiding import printable, shown_key
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.release import JAVA, Release, ReleaseError, parse_release

_VERSION = re.compile(r"v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?", re.ASCII)


@dataclass(frozen=True)
class Client:
    """The producer or consumer of a library, in a release."""

    role: str
    library: str
    release: Release

    @property
    def name(self) -> str:
        """The name in a report's first line: ``java 4.0``."""
        return f"{self.library} {self.release}"

    @property
    def software(self) -> str:
        """The reader of the settings, for messages: ``Java producer 4.0``."""
        return f"{'Java' if self.library == JAVA else self.library} {self.role} {self.release}"


def read_broker_release(given: Given) -> Release:
    """Return the release of the brokers. Raises DeploymentError if the release is unknown."""
    return _release(given)


def read_client(role: str, given: GivenClient, kafka: Release) -> Client:
    """Return the client of a producer or consumer. Without a given client, this is Java's client of the brokers'
    release.

    For another library without a given version, the newest known release. Raises DeploymentError for unknown ones.
    """
    library = library_of(given.client)
    if library == JAVA:
        return Client(role, JAVA, kafka if given.version is None else _release(given.version))
    if library not in LIBRARIES:
        assert given.client is not None
        choices = f"{JAVA}, {', '.join(LIBRARIES)}"
        name = printable(given.client.value.strip())
        raise not_modelled(given.client, "N07", f"the client {name!r}; choose one of {choices}")
    oldest, newest = LIBRARIES[library].oldest, LIBRARIES[library].newest
    if given.version is None:
        return Client(role, library, Release(*newest))
    found = _VERSION.fullmatch(given.version.value.strip())
    release = Release(int(found[1]), int(found[2]), None if found[3] is None else int(found[3])) if found else None
    if release is None or not oldest <= release.line <= newest[:2]:
        known = f"known releases are {oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
        raise complaint(given.version, f"unknown release of {library}; {known}")
    return Client(role, library, release)


def by_its_own_names(client: Client, settings: Mapping[str, Given]) -> dict[str, Given]:
    """Return the settings by the names that the library documents first. Raises DeploymentError if a setting has two
    names."""
    named: dict[str, Given] = {}
    for key, given in settings.items():
        name = aliases().get((client.library, key), key)
        if name in named:
            other = named[name].key
            raise complaint(
                Given(shown_key(key), "", given.origin),
                f"is another name of {other}, which is also set; keep one of them",
            )
        named[name] = given
    package = "" if client.library == JAVA else LIBRARIES[client.library].package
    return {name: Given(name, given.value.removeprefix(package), given.origin) for name, given in named.items()}


@cache
def aliases() -> dict[tuple[str, str], str]:
    """Return the name that a library documents first, by library and other name of the same setting."""
    with (TABLES / "aliases.csv").open(encoding="utf-8", newline="") as table:
        return {(row["client"], row["key"]): row["instead"] for row in csv.DictReader(table)}


def _release(given: Given) -> Release:
    try:
        return parse_release(given.value)
    except ReleaseError as error:
        raise complaint(given, str(error)) from None
