"""Programs for Kafka's console tools."""

from __future__ import annotations

import csv
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from proofka.checker.cluster import console
from proofka.checker.cluster.console import TABLE, write_program, write_tools
from proofka.checker.cluster.jars import TOOL_JARS, jars_of, known_releases, tools_of


def jar(path: Path, *classes: str) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name in classes:
            file.writestr(f"{name.replace('.', '/')}.class", b"")
    return path


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have programs of Java that print their main class and their arguments."""
    monkeypatch.setattr(console, "java_command", lambda classpath, main, properties: ["echo", main])


@pytest.mark.usefixtures("commands")
def test_a_tool_is_run_by_its_newest_class_that_is_there(tmp_path: Path) -> None:
    old = jar(tmp_path / "kafka_2.13-3.9.2.jar", "kafka.tools.DumpLogSegments", "kafka.admin.TopicCommand")
    new = jar(tmp_path / "kafka-tools-3.9.2.jar", "org.apache.kafka.tools.TopicCommand", "org.apache.kafka.tools.Other")
    other = jar(tmp_path / "other.jar", "org.apache.kafka.tools.GetOffsetShell")
    written = write_tools([old, new, other], tmp_path / "tools")
    assert set(written) == {"kafka-dump-log", "kafka-topics"}
    run = subprocess.run(
        [tmp_path / "tools" / "kafka-topics.sh", "--list", "a b"], capture_output=True, text=True, check=True
    )
    assert run.stdout == "org.apache.kafka.tools.TopicCommand --list a b\n"
    assert sorted(path.name for path in (tmp_path / "tools").iterdir()) == ["kafka-dump-log.sh", "kafka-topics.sh"]


def test_a_program_quotes_its_words_and_sets_the_differences_of_the_environment(tmp_path: Path) -> None:
    program = tmp_path / "new" / "program.sh"
    environment = {**os.environ, "GREETING": "it's $HOME"}
    write_program(program, ["sh", "-c", 'echo "$GREETING" "$0" "$@"', "a  b"], environment)
    assert program.read_text(encoding="utf-8").count("export ") == 1
    run = subprocess.run([program, "c d"], capture_output=True, text=True, check=True)
    assert run.stdout == "it's $HOME a  b c d\n"


def test_each_release_that_runs_has_a_jar_with_tools() -> None:
    with TOOL_JARS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["releases"] for row in rows] == [row["version"] for row in rows] == list(map(str, known_releases()))
    assert all(len(row["sha256"]) == 64 for row in rows)


@pytest.mark.cluster
@pytest.mark.parametrize("release", sorted({known_releases()[0], "3.9.2", known_releases()[-1]}))
def test_the_jars_of_a_release_have_every_tool(release: str, tmp_path: Path) -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        tools = {row["tool"] for row in csv.DictReader(file)}
    assert set(write_tools([*jars_of(release), *tools_of(release)], tmp_path)) == tools
