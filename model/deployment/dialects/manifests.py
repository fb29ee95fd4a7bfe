"""The client release of a program, from the nearest build file beside it.

The reader uses ``go.mod``, ``requirements*.txt``, ``package.json`` and ``pom.xml``. Of a range it takes the lowest
release, which the file promises. The bindings of librdkafka for Go and Python have librdkafka's version numbers from
1.0 on. Spring Boot manages the release of Kafka's clients (``kafka.version`` in spring-boot-dependencies); an explicit
``kafka-clients`` outranks it.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePath
from xml.etree import ElementTree

from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.given import Given, library_of
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.source import decode_text

_TABLES = Path(__file__).with_name("tables")
_RELEASE = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")
_PYTHON = re.compile(r"\s*(?P<name>[A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*[=~]==?\s*(?P<release>[\w.]+)")
SPRING_BOOT = "spring boot"
LARGEST = 200_000
"""The largest size, in bytes, of a build file that is read."""

Releases = Mapping[str, Given]
"""The release of each library in a build file."""


@dataclass(frozen=True)
class Manifest:
    """The clients in a build file, by library."""

    folder: PurePath
    releases: Releases


def manifest_in(path: Path) -> Manifest | None:
    """Return the content of a build file that names a client; None for any other file. Never raises."""
    kind = _kind(path.name)
    if kind is None:
        return None
    try:
        if path.stat().st_size > LARGEST:
            return None
        text, _ = decode_text(path.read_bytes())
        found = dict(_releases(kind, text, str(path)))
    except (OSError, ValueError, RecursionError, ElementTree.ParseError):
        return None
    return Manifest(path.parent, found) if found else None


def with_releases(found: Found, manifests: Iterable[Manifest]) -> Found:
    """Return the clients with the releases of the nearest build file above them, if their own file gives none."""
    above = [one for one in manifests if one.folder in PurePath(found.file).parents]
    nearest = sorted(above, key=lambda one: len(one.folder.parts))
    releases: dict[str, Given] = {}
    for manifest in nearest:
        releases |= manifest.releases
    return replace(found, components=tuple(_released(one, releases) for one in found.components)) if releases else found


def _released(component: Component, releases: Releases) -> Component:
    library = library_of(component.client)
    is_client = component.role in (Role.PRODUCER, Role.CONSUMER)
    if not is_client or component.version is not None or library not in releases:
        return component
    return replace(component, version=releases[library])


def _kind(name: str) -> str | None:
    if name.startswith("requirements") and name.endswith(".txt"):
        return "requirements"
    return name if name in ("go.mod", "package.json", "pom.xml") else None


def _releases(kind: str, text: str, file: str) -> Iterator[tuple[str, Given]]:
    """Yield libraries and releases; of a library that is named twice, the more specific package comes last."""
    known = {row["package"]: row for row in _packages() if row["manifest"] == kind}
    named = list(_named(kind, text))
    for package in sorted(known, reverse=True):
        for name, release, line in named:
            found = _RELEASE.match(release)
            if name != package or found is None:
                continue
            version: str | None = ".".join(part for part in found.groups() if part is not None)
            if known[package]["release"] == SPRING_BOOT:
                version = _of_spring_boot().get(f"{found[1]}.{found[2]}")
            if version is not None:
                yield known[package]["library"], Given("version", version, Origin("file", name, file, line))


def _named(kind: str, text: str) -> Iterator[tuple[str, str, int]]:
    """Yield packages with their releases and lines."""
    if kind == "go.mod":
        yield from _named_by_go(text)
    elif kind == "requirements":
        for number, line in enumerate(text.splitlines(), start=1):
            if found := _PYTHON.match(line):
                yield found["name"], found["release"], number
    elif kind == "package.json":
        packages = json.loads(text)
        for group in ("devDependencies", "dependencies"):
            named = packages.get(group) if isinstance(packages, dict) else None
            for name, release in (named if isinstance(named, dict) else {}).items():
                yield name, str(release).lstrip("^~>=v "), _line_of(text, f'"{name}"')
    else:
        yield from _named_by_maven(text)


def _named_by_go(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the required packages, each in the release that replaces it, if any. A folder as replacement has no
    release.

    "go.mod file reference": ``exclude`` and ``retract`` name releases that are not used.
    """
    named: dict[str, tuple[str, int]] = {}
    replaced: dict[str, tuple[str, int]] = {}
    block = ""
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("//")[0].split()
        if words[1:2] == ["("] or words[:1] == [")"]:
            block = words[0] if words[0] != ")" else ""
            continue
        verb, words = (block, words) if block else (" ".join(words[:1]), words[1:])
        if verb == "require" and len(words) > 1:
            named[words[0]] = (words[1], number)
        elif verb == "replace" and "=>" in words:
            other = words[words.index("=>") + 1 :]
            if len(other) > 1:
                replaced[words[0]] = (other[1], number)
    for name, required in named.items():
        yield (name, *replaced.get(name, required))


def _named_by_maven(text: str) -> Iterator[tuple[str, str, int]]:
    root = ElementTree.fromstring(text)
    space = root.tag.partition("}")[0] + "}" if root.tag.startswith("{") else ""
    properties = {
        one.tag.removeprefix(space): (one.text or "").strip() for one in root.iterfind(f"{space}properties/*")
    }
    # A plugin's dependencies are not the program's, and those of a profile only sometimes; own ones outrank managed
    # ones.
    managed = f"{space}dependencyManagement/{space}dependencies/{space}dependency"
    own = f"{space}dependencies/{space}dependency"
    for element in (*root.iterfind(f"{space}parent"), *root.iterfind(managed), *root.iterfind(own)):
        group, name, release = (
            (element.findtext(f"{space}{tag}") or "").strip() for tag in ("groupId", "artifactId", "version")
        )
        if found := re.fullmatch(r"\$\{([\w.-]+)\}", release):
            release = properties.get(found[1], "")
        yield f"{group}:{name}", release, _line_of(text, f"<artifactId>{name}</artifactId>")
    if "kafka.version" in properties:
        yield "org.apache.kafka:kafka-clients", properties["kafka.version"], _line_of(text, "<kafka.version>")


def _line_of(text: str, words: str) -> int:
    return text[: max(text.find(words), 0)].count("\n") + 1


@cache
def _packages() -> tuple[Mapping[str, str], ...]:
    with (_TABLES / "manifests.csv").open(encoding="utf-8", newline="") as table:
        return tuple(csv.DictReader(table))


@cache
def _of_spring_boot() -> Mapping[str, str]:
    with (_TABLES / "spring_boot.csv").open(encoding="utf-8", newline="") as table:
        return {row[SPRING_BOOT]: row["kafka clients"] for row in csv.DictReader(table)}
