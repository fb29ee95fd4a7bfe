"""Which broker and client releases a deployment names: Kafka's own clients, and libraries of others."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from model.deployment.defaults import TABLES
from model.deployment.errors import NotModelledError
from model.deployment.given import Given, GivenClient, complaint, library_of
from model.deployment.hiding import printable, shown_key
from model.deployment.libraries import LIBRARIES
from model.deployment.release import JAVA, Release, ReleaseError, parse_release

_VERSION = re.compile(r"v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?", re.ASCII)


@dataclass(frozen=True)
class Client:
    """The producer or consumer of a library, in a release."""

    role: str
    library: str
    release: Release

    @property
    def name(self) -> str:
        """As a report's first line names it: ``java 4.0``."""
        return f"{self.library} {self.release}"

    @property
    def software(self) -> str:
        """What reads the settings, for messages: ``Java producer 4.0``."""
        return f"{'Java' if self.library == JAVA else self.library} {self.role} {self.release}"


def read_broker_release(given: Given) -> Release:
    """The release of the brokers: one that exists."""
    return _release(given)


def read_client(role: str, given: GivenClient, kafka: Release) -> Client:
    """The client of a producer or consumer: Java, of the brokers' release, unless something else is said.

    Of another library the newest release is taken where none is named.
    """
    library = library_of(given.client)
    if library == JAVA:
        return Client(role, JAVA, kafka if given.version is None else _release(given.version))
    if library not in LIBRARIES:
        assert given.client is not None
        choices = f"{JAVA}, {', '.join(LIBRARIES)}"
        name = printable(given.client.value.strip())
        raise complaint(given.client, f"not modelled yet: the client {name!r}; choices: {choices}", NotModelledError)
    oldest, newest = LIBRARIES[library].oldest, LIBRARIES[library].newest
    if given.version is None:
        return Client(role, library, Release(*newest))
    found = _VERSION.fullmatch(given.version.value.strip())
    release = Release(int(found[1]), int(found[2]), None if found[3] is None else int(found[3])) if found else None
    if release is None or not oldest <= release.line <= newest:
        known = f"known are {oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
        raise complaint(given.version, f"no release of {library} whose defaults are known; {known}")
    return Client(role, library, release)


def by_its_own_names(client: Client, settings: Mapping[str, Given]) -> dict[str, Given]:
    """The settings by the names that the library documents first; a setting that is given by two names is an error."""
    named: dict[str, Given] = {}
    for key, given in settings.items():
        name = aliases().get((client.library, key), key)
        if name in named:
            other = named[name].key
            raise complaint(Given(shown_key(key), "", given.origin), f"is the same setting as {other}; keep one")
        named[name] = given
    package = "" if client.library == JAVA else LIBRARIES[client.library].package
    return {name: Given(name, given.value.removeprefix(package), given.origin) for name, given in named.items()}


@cache
def aliases() -> dict[tuple[str, str], str]:
    """The name that a library documents first, by the library and another name of the same setting."""
    with (TABLES / "aliases.csv").open(encoding="utf-8", newline="") as table:
        return {(row["client"], row["key"]): row["instead"] for row in csv.DictReader(table)}


def _release(given: Given) -> Release:
    try:
        return parse_release(given.value)
    except ReleaseError as error:
        raise complaint(given, str(error)) from None
