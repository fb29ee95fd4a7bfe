"""Writes checker/cluster/jars.csv and checker/cluster/tool_jars.csv with Maven: run it when a release has come out.

A release of Kafka has the jars that its own Maven project needs at run time, those that write its log, and one jar with
its console tools. The script needs ``mvn`` and Maven Central, and takes some minutes.
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from proofka.checker.cluster.jars import (  # noqa: E402
    COLUMNS,
    JARS,
    MAVEN_CENTRAL,
    OLDEST_WITH_KRAFT,
    TOOL_JARS,
    Jar,
    Release,
)

GROUP, ARTIFACT, TOOLS = "org.apache.kafka", "kafka_2.13", "kafka-tools"

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


def of_tools(release: Release) -> Jar:
    """Return the jar with the console tools of a release; the release's other jars have all that the tools need."""
    jar = Jar(GROUP, TOOLS, str(release), "")
    with urllib.request.urlopen(f"{MAVEN_CENTRAL}/{jar.place}", timeout=60) as answer:
        return replace(jar, sha256=hashlib.sha256(answer.read()).hexdigest())


def needed(known: Iterable[Release]) -> dict[Jar, list[Release]]:
    """Return the jars of releases, with the releases that need each."""
    found = defaultdict[Jar, list[Release]](list)
    for release in known:
        for jar in resolved(release):
            found[jar].append(release)
        print(f"{release}: {sum(release in those for those in found.values())} jars", file=sys.stderr)
    return found


def text(jars: Mapping[Jar, Sequence[Release]]) -> str:
    """Return the table of jars."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for jar, those in sorted(jars.items(), key=lambda item: (item[0].group, item[0].artifact, item[1][0].numbers)):
        writer.writerow([jar.group, jar.artifact, jar.version, jar.sha256, " ".join(those)])
    return written.getvalue()


if __name__ == "__main__":
    every = releases()
    JARS.write_text(text(needed(every)), encoding="utf-8")
    kraft = [one for one in every if one.numbers >= OLDEST_WITH_KRAFT.numbers]
    TOOL_JARS.write_text(text({of_tools(one): [one] for one in kraft}), encoding="utf-8")
