"""The tables of the protocol, and the vectors that test them, are those that Kafka's jars give."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from proofka.checker.cluster.errors import JarsUnavailable
from proofka.checker.cluster.jars import jars_of
from scripts import write_messages, write_vectors

pytestmark = pytest.mark.cluster

RELEASES = ("3.9.2", "4.4.0")
"""Releases that have all versions together, from old to new."""


def jars(release: str) -> tuple[Path, ...]:
    """Return the jars of a release."""
    try:
        return jars_of(release)
    except JarsUnavailable as missing:
        pytest.skip(str(missing))


def test_the_tables_of_the_protocol_are_not_stale() -> None:
    clients = [next(jar for jar in jars(release) if jar.name.startswith("kafka-clients-")) for release in RELEASES]
    for path, text in write_messages.tables(clients).items():
        assert path.read_text(encoding="utf-8") == text


def test_the_vectors_are_not_stale() -> None:
    if shutil.which("javac") is None:
        pytest.skip("javac is missing; install a JDK, such as openjdk-17-jdk-headless")
    classpaths = [os.pathsep.join(map(str, jars(release))) for release in reversed(RELEASES)]
    assert write_vectors.VECTORS.read_text(encoding="utf-8") == write_vectors.text_of(classpaths)
