"""The jars of Kafka's releases: from the user's cache, from a Maven repository, or from an installation."""

from __future__ import annotations

import csv
import hashlib
import os
import re
import tempfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from proofka.checker.cluster.errors import JarsUnavailable

JARS = Path(__file__).parent / "jars.csv"
"""The table of jars, which ``scripts/write_jars.py`` writes."""
TOOL_JARS = Path(__file__).parent / "tool_jars.csv"
"""The table of the jar with the console tools of each release, which the same script writes."""
COLUMNS = ("group", "artifact", "version", "sha256", "releases")
"""Names of the columns of the table; releases are separated by spaces."""

MAVEN_CENTRAL = "https://repo1.maven.org/maven2"
VARIABLE = "PROOFKA_MAVEN"
"""Environment variable with the address of another Maven repository (https, http or file)."""
SCHEMES = ("https://", "http://", "file://")

AT_ONCE = 8
"""Number of downloads at the same time."""
SILENCE = 60.0
"""Seconds without an answer after which a download fails."""


class Release(str):
    """A release of Kafka, such as ``3.9.2``; its order is that of ``numbers``."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the release, which have its order among releases."""
        return tuple(map(int, self.split(".")))

    @property
    def line(self) -> str:
        """The first two numbers, such as ``3.9``."""
        return ".".join(self.split(".")[:2])


OLDEST_WITH_KRAFT = Release("3.3.1")
"""The first release in which a cluster without ZooKeeper is meant for use."""

OLDEST_JAVA_CLIENT = Release("2.5.0")
"""The first release of Java's client with which the client program compiles."""


@dataclass(frozen=True)
class Jar:
    """A jar of the table, by its Maven coordinates, with the hexadecimal SHA-256 of its content."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def place(self) -> str:
        """The path in a Maven repository, and in the cache."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.artifact}-{self.version}.jar"


@lru_cache(maxsize=1)
def _needed() -> dict[Release, tuple[Jar, ...]]:
    return _listed(JARS)


def _listed(table: Path) -> dict[Release, tuple[Jar, ...]]:
    """Return the jars of each release of a table, releases in their order."""
    found: dict[Release, list[Jar]] = {}
    with table.open(encoding="utf-8", newline="") as file:
        for group, artifact, version, sha256, releases in list(csv.reader(file))[1:]:
            for release in releases.split():
                found.setdefault(Release(release), []).append(Jar(group, artifact, version, sha256))
    return {release: tuple(found[release]) for release in sorted(found, key=lambda one: one.numbers)}


def known_releases() -> tuple[Release, ...]:
    """Return the releases whose jars are known and which run without ZooKeeper, oldest first."""
    return tuple(release for release in _needed() if release.numbers >= OLDEST_WITH_KRAFT.numbers)


def newest_patch(line: str) -> Release:
    """Return the newest known release of a release line: ``3.9.2`` for ``3.9``. A release is its own newest patch.

    Raises ``JarsUnavailable``.
    """
    patches = [release for release in _needed() if line in (release.line, release)]
    if not patches:
        lines = dict.fromkeys(release.line for release in _needed())
        raise JarsUnavailable(f"Kafka {line} cannot be started: choose one of {', '.join(lines)}")
    return patches[-1]


def jars_of(release: str, *, folder: Path | None = None) -> tuple[Path, ...]:
    """Return the jars of a release, after the download of those that are missing, or damaged, in ``folder``.

    ``folder``: by default Proofka's jars in the user's cache. Raises ``JarsUnavailable``.
    """
    jars = _needed().get(Release(release))
    if jars is None:
        known = ", ".join(_needed())
        raise JarsUnavailable(
            f"the jars of Kafka {release} are not known: choose one of {known}, or name an installation of Kafka"
        )
    cache = folder or default_folder()
    with ThreadPoolExecutor(AT_ONCE) as downloads:
        return tuple(downloads.map(lambda jar: _cached(jar, cache), jars))


def tools_of(release: str, *, folder: Path | None = None) -> tuple[Path, ...]:
    """Return the jars with the console tools of a release, as ``jars_of``; they need those of the release as well."""
    cache = folder or default_folder()
    return tuple(_cached(jar, cache) for jar in _listed(TOOL_JARS).get(Release(release), ()))


def default_folder() -> Path:
    """Return the folder for jars in the user's cache; the folder does not always exist."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "proofka" / "jars"


def jars_of_home(home: Path) -> tuple[Path, ...]:
    """Return the jars of an installation of Kafka. Raises ``JarsUnavailable`` for another folder."""
    release_of_home(home)
    if ":" in str(home.absolute()):
        raise JarsUnavailable(f"{home.absolute()}: has a colon, which divides Java's class path; move the folder")
    return tuple(sorted((home.absolute() / "libs").glob("*.jar")))


def release_of_home(home: Path) -> Release:
    """Return the release of an installation of Kafka. Raises ``JarsUnavailable`` for another folder."""
    for jar in sorted((home / "libs").glob("kafka_*.jar")):
        if found := re.fullmatch(r"kafka_[\d.]+-(\d+\.\d+\.\d+)\.jar", jar.name):
            return Release(found[1])
    raise JarsUnavailable(
        f"{home} is no installation of Kafka, because libs has no kafka_SCALA-RELEASE.jar: name the folder above libs"
    )


def _cached(jar: Jar, folder: Path) -> Path:
    """Return the place of a jar in the cache, where the right content stands."""
    path = folder / jar.place
    if not path.exists() or _sha256(path.read_bytes()) != jar.sha256:
        content = _download(jar)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Another run can be at the same jar: each writes a file of its own and puts the whole file in place.
        file, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(file, "wb") as written:
                written.write(content)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink()
            raise
    return path


def _download(jar: Jar) -> bytes:
    """Return the content of a jar from the repository."""
    repository = os.environ.get(VARIABLE, MAVEN_CENTRAL)
    if not repository.startswith(SCHEMES):
        raise JarsUnavailable(f"{VARIABLE} is no address of a Maven repository: begin it with {' or '.join(SCHEMES)}")
    address = f"{repository.rstrip('/')}/{jar.place}"
    try:
        with urllib.request.urlopen(address, timeout=SILENCE) as answer:
            content: bytes = answer.read()
    except OSError as error:
        raise JarsUnavailable(
            f"{address} cannot be read ({error}): try again, name another Maven repository in {VARIABLE}, or name an "
            "installation of Kafka"
        ) from error
    if _sha256(content) != jar.sha256:
        raise JarsUnavailable(f"{address} has other content than expected: name another Maven repository in {VARIABLE}")
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
