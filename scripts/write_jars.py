"""Writes checker/cluster/jars.csv, the jars of Kafka's releases, with Maven: run it when a release has come out.

A release has the jars that its own Maven project needs at run time, and those that write its log. The script needs
``mvn`` and Maven Central, and takes some minutes.
"""

from __future__ import annotations

import csv
import hashlib
import io
import subprocess
import sys
import tempfile
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from checker.cluster.jars import COLUMNS, JARS, MAVEN_CENTRAL, OLDEST_WITH_KRAFT, Jar, Release  # noqa: E402

GROUP, ARTIFACT = "org.apache.kafka", "kafka_2.13"

LOG_BINDINGS = {
    False: (("org.slf4j", "slf4j-reload4j", "1.7.36"),),
    True: (
        ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.5"),
        ("org.apache.logging.log4j", "log4j-core", "2.25.5"),
        ("org.apache.logging.log4j", "log4j-api", "2.25.5"),
    ),
}
"""The jars that write the log of a release: group, artifact and version, by whether the release uses Log4j 2."""

PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>proofka</groupId><artifactId>jars</artifactId><version>1</version>
<dependencies>{}</dependencies></project>
"""
DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


def releases() -> list[Release]:
    """Return every release that can run with KRaft, and before these the last patch of each line, oldest first."""
    place = f"{MAVEN_CENTRAL}/{GROUP.replace('.', '/')}/{ARTIFACT}/maven-metadata.xml"
    with urllib.request.urlopen(place, timeout=60) as answer:
        versions = ElementTree.parse(answer).iterfind("versioning/versions/version")
    known = sorted((Release(version.text) for version in versions if version.text), key=lambda one: one.numbers)
    last = {release.line: release for release in known}
    kraft = OLDEST_WITH_KRAFT.numbers
    return [
        one for one in known if one.numbers >= kraft or (one == last[one.line] and one.line != OLDEST_WITH_KRAFT.line)
    ]


def resolved(release: Release) -> Iterator[Jar]:
    """Yield each jar that a release needs."""
    wanted = [(GROUP, ARTIFACT, str(release)), *LOG_BINDINGS[release.numbers >= (4,)]]
    with tempfile.TemporaryDirectory() as folder:
        project, found = Path(folder, "pom.xml"), Path(folder, "found.txt")
        project.write_text(PROJECT.format("".join(DEPENDENCY.format(*one) for one in wanted)), encoding="utf-8")
        goal = [
            "dependency:list",
            "-DincludeScope=runtime",
            "-DoutputAbsoluteArtifactFilename",
            f"-DoutputFile={found}",
        ]
        # Maven itself checks what it downloads (-C).
        subprocess.run(["mvn", "--batch-mode", "--quiet", "-C", f"--file={project}", *goal], check=True)
        for line in found.read_text(encoding="utf-8").splitlines():
            group, _, rest = line.strip().partition(":")
            if rest:
                artifact, kind, version, _, *place = rest.split(" -- ")[0].split(":")
                path = Path(":".join(place).strip())
                assert kind == "jar" and path.name == f"{artifact}-{version}.jar", line
                yield Jar(group, artifact, version, hashlib.sha256(path.read_bytes()).hexdigest())


def text() -> str:
    """Return the table."""
    needed = defaultdict[Jar, list[Release]](list)
    for release in releases():
        for jar in resolved(release):
            needed[jar].append(release)
        print(f"{release}: {sum(release in those for those in needed.values())} jars", file=sys.stderr)
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for jar, those in sorted(needed.items(), key=lambda item: (item[0].group, item[0].artifact, item[1][0].numbers)):
        writer.writerow([jar.group, jar.artifact, jar.version, jar.sha256, " ".join(those)])
    return written.getvalue()


if __name__ == "__main__":
    JARS.write_text(text(), encoding="utf-8")
