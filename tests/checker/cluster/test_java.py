"""Java: where it is found, and the commands of its programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofka.checker.cluster import java
from proofka.checker.cluster.errors import CannotStart, MissingProgram
from proofka.checker.cluster.java import compile_java, java_command, java_home
from proofka.checker.cluster.supervisor import Supervisor
from tests.checker.processes import PATIENCE


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pretend that the machine has no Java, and forget what was found."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(java, "PLACES", ())
    java_home.cache_clear()
    yield
    java_home.cache_clear()


def machine(home: Path, version: str, *, lists: str = "java.base@17") -> str:
    """Write a program ``java`` that answers as a Java of this version does; return its folder ``bin``."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!/bin/sh\nif [ $1 = --list-modules ]; then echo {lists}; exit; fi\n"
        f"echo '    java.home = {home}' >&2\necho '    java.specification.version = {version}' >&2\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return str(program.parent)


@pytest.mark.usefixtures("bare")
def test_the_installation_of_java_is_named_where_java_is_missing() -> None:
    with pytest.raises(MissingProgram, match=r"Java 17 or later was not found: install it .*T01"):
        java_home()


@pytest.mark.usefixtures("bare")
def test_java_home_comes_before_the_path_and_the_path_before_the_usual_places(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("named", "on-path", "installed"):
        machine(tmp_path / name, "21")
    monkeypatch.setattr(java, "PLACES", (f"{tmp_path}/inst*",))
    assert java_home() == tmp_path / "installed"
    java_home.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path / "on-path" / "bin"))
    assert java_home() == tmp_path / "on-path"
    java_home.cache_clear()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "named"))
    assert java_home() == tmp_path / "named"


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("version", ["1.8", "11", "16"])
def test_an_old_java_is_passed_over(version: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(Path(machine(tmp_path / "old", version)).parent))
    with pytest.raises(MissingProgram, match=rf"not found \({tmp_path}/old/bin/java is Java {version}\): install it"):
        java_home()
    monkeypatch.setenv("PATH", machine(tmp_path / "new", "17"))
    assert java_home() == tmp_path / "new"


@pytest.mark.usefixtures("bare")
def test_the_command_has_properties_before_the_main_class_and_arguments_behind_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", machine(tmp_path, "17"))
    command = java_command(
        [Path("a.jar"), Path("b.jar")], "Main", "x", "-Dy", heap="64m", properties={"log": "on"}, options=["-ea"]
    )
    assert command[0] == str(tmp_path / "bin" / "java")
    assert command[-5:] == ["-cp", os.pathsep.join(["a.jar", "b.jar"]), "Main", "x", "-Dy"]
    assert {"-Xmx64m", "-Dlog=on", "-ea", "-XX:-UsePerfData"} <= set(command[1:-5])


@pytest.mark.usefixtures("bare")
def test_a_java_without_compiler_names_the_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", machine(tmp_path, "17"))
    with pytest.raises(MissingProgram, match="compiler of Java 17 or later was not found: install a JDK"):
        compile_java(tmp_path / "Main.java", [], tmp_path)


MAIN = """
public class Main {
    public static void main(String[] given) {
        System.out.println(Beside.GREETING + given[0]);
    }
}
"""


@pytest.mark.cluster
def test_a_source_file_is_compiled_once_with_those_that_it_uses_and_runs(tmp_path: Path) -> None:
    source = tmp_path / "Main.java"
    source.write_text(MAIN, encoding="utf-8")
    (tmp_path / "Beside.java").write_text('class Beside { static final String GREETING = "gr\u00fc\u00df "; }')
    classes = compile_java(source, [], tmp_path / "classes")
    source.unlink()
    assert compile_java(source, [], tmp_path / "classes") == classes
    assert sorted(path.name for path in classes.iterdir()) == ["Beside.class", "Main.class"]
    assert list((tmp_path / "classes").iterdir()) == [classes]
    with Supervisor() as supervisor:
        log = supervisor.folder / "main.log"
        command = java_command([classes], "Main", "Kafka", properties={"stdout.encoding": "UTF-8"})
        child = supervisor.start("main", command, log=log)
        assert child.wait(PATIENCE) == 0
        assert log.read_text(encoding="utf-8").startswith("gr")


@pytest.mark.cluster
def test_a_wrong_source_file_ends_with_the_message_of_the_compiler_and_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "Main.java"
    source.write_text(MAIN, encoding="utf-8")
    with pytest.raises(CannotStart, match=r"(?s)Main.java cannot be compiled.*Beside"):
        compile_java(source, [], tmp_path / "classes")
    assert not list((tmp_path / "classes").iterdir())
