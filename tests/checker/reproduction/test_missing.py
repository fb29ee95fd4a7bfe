"""Missing programs, libraries and jars: a replay names the installation of each, in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from proofka.checker.cli.program import app
from proofka.checker.cluster import java
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.jars import VARIABLE
from proofka.checker.cluster.launching import PYTHON
from proofka.checker.reproduction.plan import PlannedClient
from tests.checker.reproduction.test_plan import plan


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Have an empty folder in PATH, and fail where a cluster starts."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(Cluster, "start", lambda self: pytest.fail("the cluster starts"))
    java.java_home.cache_clear()
    yield
    java.java_home.cache_clear()


def replay(monkeypatch: pytest.MonkeyPatch, library: str, release: str | None = None) -> str:
    """Run ``proofka reproduce`` on a trace with a producer of this library; return its only line on standard error."""
    made = replace(plan("acks-1", "no-acked-loss", "kill"), producer=PlannedClient(library, release, {}))
    result = SimpleNamespace(sources=None, certificate=None, document=None, result=SimpleNamespace(verdicts=()))
    monkeypatch.setattr("proofka.checker.cli.checked.checked", lambda *_, **__: result)
    monkeypatch.setattr("proofka.checker.cli.reproduce._plans", lambda *_, **__: [made])
    run = CliRunner().invoke(app, ["reproduce", __file__, "1"])
    assert run.exit_code == 2, run.output
    assert not run.stdout
    (line,) = run.stderr.splitlines()
    return line


def old_java(folder: Path) -> None:
    program = folder / "java"
    program.write_text("#!/bin/sh\necho '    java.specification.version = 11' >&2\n", encoding="utf-8")
    program.chmod(0o755)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_java_is_missing(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "PLACES", ())
    line = replay(monkeypatch, library)
    assert line.startswith("Java 17 or later was not found: install it (Debian and Ubuntu: apt install openjdk-17-")


@pytest.mark.usefixtures("bare")
def test_java_is_too_old(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(java, "PLACES", ())
    old_java(tmp_path)
    line = replay(monkeypatch, "java")
    assert line.startswith(f"Java 17 or later was not found ({tmp_path}/java is Java 11): install it (")


@pytest.fixture
def java_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Pretend that Java is installed."""
    monkeypatch.setattr("proofka.checker.reproduction.running.java_home", lambda: tmp_path)


@pytest.mark.usefixtures("bare", "java_there")
@pytest.mark.parametrize(
    ("library", "install"),
    [("librdkafka", "pip install confluent-kafka"), ("kafka-python", "pip install kafka-python")],
)
def test_a_python_library_is_missing(
    library: str, install: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python = tmp_path / "bare"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setenv(PYTHON, str(python))
    line = replay(monkeypatch, library)
    assert line.startswith(f"the client library {library} is not there: {install} ({python};")


@pytest.mark.usefixtures("bare", "java_there")
@pytest.mark.parametrize(
    ("library", "needed", "install"),
    [
        ("sarama", "Go 1.21 or later", "apt install golang-go"),
        ("franz-go", "Go 1.21 or later", "apt install golang-go"),
        ("kafkajs", "Node.js 18 or later", "apt install nodejs npm"),
    ],
)
def test_the_language_of_a_library_is_missing(
    library: str, needed: str, install: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = replay(monkeypatch, library)
    assert line.startswith(f"{needed} was not found: install it (") and install in line


@pytest.mark.usefixtures("bare", "java_there")
def test_a_java_client_is_too_old_for_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    line = replay(monkeypatch, "java", "2.4")
    assert line.startswith(
        "a replay needs Java's client 2.5 or later, and the deployment has 2.4.1: check the deployment"
    )


@pytest.mark.usefixtures("bare", "java_there")
def test_jars_are_neither_in_the_cache_nor_to_be_had(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(VARIABLE, f"file://{tmp_path}/nowhere")
    line = replay(monkeypatch, "java")
    assert line.startswith(f"file://{tmp_path}/nowhere/") and "cannot be read" in line
    assert f"name another Maven repository in {VARIABLE}" in line and line.endswith("(T02)")
    assert not list((tmp_path / "cache").rglob("*.jar"))
