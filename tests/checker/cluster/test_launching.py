"""The start of the programs of client libraries, and the settings of Proofka that the programs know."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.cluster import launching
from proofka.checker.cluster.errors import MissingLibrary, MissingProgram
from proofka.checker.cluster.launching import PROGRAMS, launch_of, libraries
from proofka.model.deployment.defaults import known_keys
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.release import JAVA

NAMES = sorted(libraries())
ROLES = ("producer", "consumer")
OF_THE_HARNESS = {"franz-go": {"SeedBrokers", "ConsumeTopics"}, "kafkajs": {"brokers"}}
"""Settings that a program sets itself: where the cluster is, and the topic."""
OBJECTS = {
    "kafkajs": {"ssl", "sasl", "logCreator", "socketFactory", "retry.restartOnFailure", "client.retry.restartOnFailure"}
}
"""Settings whose values are objects of a program, or secrets; a program refuses them."""
NOT_FIELDS = {"sarama": {"GroupID"}, "kafka-go": {"ClientID"}}
"""Names of a program's own for what the library takes as an argument, or in another object."""


def test_every_library_that_proofka_interprets_has_a_program() -> None:
    assert set(libraries()) == {JAVA, *LIBRARIES}


@pytest.mark.parametrize("name", NAMES)
def test_the_names_for_client_and_group_are_settings_of_the_library(name: str) -> None:
    row = libraries()[name]
    scopes = [role if name == JAVA else f"{name} {role}" for role in ROLES]
    own = NOT_FIELDS.get(name, set())
    assert all(row.client_id in known_keys(scope) or row.client_id in own for scope in scopes)
    assert row.group_id in known_keys(scopes[1]) or row.group_id in own


@pytest.mark.parametrize(
    ("name", "source"), [("franz-go", "go/franz-go/options.go"), ("kafkajs", "node/kafkajs/settings.js")]
)
def test_a_program_with_a_list_of_settings_lists_all_that_proofka_knows(name: str, source: str) -> None:
    text = (PROGRAMS / source).read_text(encoding="utf-8").partition("const TEXTS")[0]
    listed = set(re.findall(r"""["']([\w.]+)["']""", text))
    listed |= {f"{owner}{name}" for owner in ("retry.", "client.retry.") for name in listed}
    listed |= set(re.findall(r'optIn = "(\w+)"', text))
    known = {key for role in ROLES for key in known_keys(f"{name} {role}")}
    assert known - listed == OF_THE_HARNESS[name] | OBJECTS.get(name, set())


@pytest.mark.parametrize("name", [name for name in NAMES if libraries()[name].language == "go"])
def test_the_version_of_a_go_library_is_that_of_its_program_and_the_newest_that_proofka_knows(name: str) -> None:
    module, version = re.fullmatch(r"go mod download (\S+)@v(\S+)", libraries()[name].install).groups()  # type: ignore[union-attr]
    pinned = (PROGRAMS / "go" / name / "go.mod").read_text(encoding="utf-8")
    assert f"{module} v{version}\n" in pinned
    newest = LIBRARIES[name].newest
    assert tuple(map(int, version.split(".")))[: len(newest)] == newest


def test_the_version_of_kafkajs_is_that_of_its_program() -> None:
    version = libraries()["kafkajs"].install.partition("@")[2]
    for file in ("package.json", "package-lock.json"):
        assert f'"kafkajs": "{version}"' in (PROGRAMS / "node" / "kafkajs" / file).read_text(encoding="utf-8")


def test_a_python_program_starts_with_another_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(launching.PYTHON, sys.executable)
    row = replace(libraries()["librdkafka"], needs="json")
    launch = launch_of(row)
    assert launch.command == (sys.executable, "-m", "proofka.checker.cluster.programs.python.librdkafka_client")
    assert launch.environment["PYTHONPATH"].split(":")[0] == str(Path(launching.__file__).parents[3])


def test_a_missing_python_library_tells_the_command_that_installs_it() -> None:
    row = replace(libraries()["librdkafka"], needs="no_such_module_at_all")
    with pytest.raises(MissingLibrary, match="pip install confluent-kafka"):
        launch_of(row)


@pytest.mark.parametrize(("name", "program"), [("sarama", "Go"), ("kafkajs", "Node.js")])
def test_a_missing_language_is_told_with_its_installation(
    name: str, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingProgram, match=program):
        launch_of(libraries()[name])


@pytest.mark.parametrize("name", [name for name in NAMES if libraries()[name].language == "python"])
def test_a_python_program_exists(name: str) -> None:
    assert (PROGRAMS / "python" / f"{libraries()[name].start}.py").exists()
