"""Scripts: what is in them, and that they run without Proofka."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from proofka.checker.cluster.launching import libraries
from proofka.checker.reproduction.adjusting import adjusted
from proofka.checker.reproduction.errors import NoScript
from proofka.checker.reproduction.plan import Plan, PlannedClient, from_json
from proofka.checker.reproduction.script import members, write_script
from tests.checker.reproduction.deployments import plan_for
from tests.checker.reproduction.test_plan import plan

ROOT = Path(__file__).parents[3]
OLDEST = (3, 9)
PYTHONS = sorted({sys.executable, *map(str, Path.home().glob(".pyenv/versions/3.*/bin/python"))})
"""The programs of Python on this machine."""


def killed() -> Plan:
    return plan("acks-1", "no-acked-loss", "kill")


def of(library: str, release: str | None = None) -> Plan:
    """Return a plan whose producer is another library's."""
    return replace(killed(), producer=PlannedClient(library, release, {}))


@lru_cache
def version(python: str) -> tuple[int, ...]:
    shown = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
    return tuple(map(int, shown.stdout.split())) or (0,)


def unzipped(script: Path, folder: Path) -> Path:
    """Unpack a script, with the modes of its files; return its folder."""
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(script), str(folder)], check=True)
    (made,) = folder.iterdir()
    (made / "run.sh").chmod(0o755)  # Python's own program keeps no modes; unzip does
    return made


def test_the_same_plan_gives_the_same_bytes_with_sorted_names_and_one_date(tmp_path: Path) -> None:
    contents = []
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        write_script(killed(), tmp_path / folder / "my trace.zip")
        contents.append((tmp_path / folder / "my trace.zip").read_bytes())
    assert contents[0] == contents[1]
    with zipfile.ZipFile(io.BytesIO(contents[0])) as script:
        names = script.namelist()
        assert names == sorted(names) and all(name.startswith("my-trace/") for name in names)
        assert {one.date_time for one in script.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        programs = [one.filename for one in script.infolist() if one.external_attr >> 16 & 0o111]
        assert programs == ["my-trace/run.sh"]
        assert from_json(script.read("my-trace/plan.json").decode()) == killed()


def test_a_script_has_all_files_of_the_project_that_it_needs_and_no_more() -> None:
    found = members(killed())
    for name in found:
        if name.startswith("proofka/"):
            assert found[name] == (ROOT / name).read_bytes(), name
    listed = subprocess.run(
        ["git", "ls-files", "checker/cluster", "checker/reproduction"], cwd=ROOT, capture_output=True, text=True
    )
    tracked = {f"proofka/{name}" for name in listed.stdout.split()}
    if tracked:
        assert {name for name in found if name.startswith("proofka/checker/")} <= tracked | {
            "proofka/checker/__init__.py"
        }
        left_out = tracked - set(found)
        others = {"of_trace.py", "script.py", "standalone.py"}
        assert {Path(name).name for name in left_out if "/laptop/" not in name} == others
    needless = ("proofka/model/", "proofka/reports/", "proofka/checker/cli/")
    assert not {name for name in found if name.startswith(needless)}


def test_the_files_are_written_for_python_3_9() -> None:
    for name, content in members(killed()).items():
        if name.endswith(".py"):
            ast.parse(content, filename=name, feature_version=OLDEST)


@pytest.mark.parametrize("python", PYTHONS)
def test_an_unpacked_script_imports_without_any_package(python: str, tmp_path: Path) -> None:
    if version(python) < OLDEST:
        pytest.skip(f"{python} is too old, or does not run")
    write_script(killed(), tmp_path / "trace.zip")
    folder = unzipped(tmp_path / "trace.zip", tmp_path / "unpacked")
    modules = [
        ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
        for path in folder.rglob("*.py")
        if path.name != "__main__.py" and f"programs{os.sep}" not in str(path)
    ]
    assert len(modules) > 50
    program = f"import sys; sys.path.insert(0, {str(folder)!r}); " + "; ".join(f"import {one}" for one in modules)
    run = subprocess.run([python, "-I", "-S", "-B", "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    shown = subprocess.run(
        [python, "-I", "-S", "-B", str(folder), "--help"], capture_output=True, text=True, cwd=tmp_path
    )
    assert shown.returncode == 0 and "--kafka-home DIR" in shown.stdout, shown.stderr


def run_script(folder: Path, *options: str, path: Sequence[str | Path], **environment: str) -> tuple[int, str, str]:
    """Run a script with these folders in PATH and no other variable of this process than HOME."""
    home = {"HOME": str(Path.home()), "PATH": os.pathsep.join(map(str, path)), **environment}
    run = subprocess.run([str(folder / "run.sh"), *options], env=home, cwd="/", capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def tools(folder: Path, *programs: str) -> Path:
    """Return a folder with links to these programs."""
    folder.mkdir()
    for program in programs:
        (folder / Path(program).name).symlink_to(program)
    return folder


def test_a_script_without_python_names_the_installation(tmp_path: Path) -> None:
    write_script(killed(), tmp_path / "trace.zip")
    folder = unzipped(tmp_path / "trace.zip", tmp_path / "unpacked")
    old = tools(tmp_path / "old", "/usr/bin/dirname")
    (old / "python3").write_text("#!/bin/sh\nexit 1\n")  # an older Python answers the question for its version so
    (old / "python3").chmod(0o755)
    status, output, errors = run_script(folder, path=[old])
    assert (status, output) == (2, "")
    assert re.fullmatch(r"Python 3\.9 or later was not found: install it .*apt install python3.*\n", errors)


def test_a_script_with_a_damaged_plan_ends_with_one_line(tmp_path: Path) -> None:
    write_script(killed(), tmp_path / "trace.zip")
    folder = unzipped(tmp_path / "trace.zip", tmp_path / "unpacked")
    (folder / "plan.json").write_text("{}", encoding="utf-8")
    status, output, errors = run_script(folder, path=[Path(sys.executable).parent, "/usr/bin", "/bin"])
    assert (status, output) == (2, "")
    assert errors.startswith("the text is not a plan") and errors.count("\n") == 1


def test_the_readme_tells_failures_steps_and_changed_settings() -> None:
    made = killed()
    readme = members(made)["README.md"].decode()
    for name, failure in made.failures:
        assert f"`{name}` fails: {failure}." in readme
    for step in made.steps:
        assert f"\n{step.number}. {step.text}" in readme
    assert "(fault: kill)" in readme
    _, changed = adjusted(made, "broker", "", made.broker_settings)
    assert changed
    for one in changed:
        assert f"| broker `{one.key}` | " in readme and f"| `{one.used}` | {one.reason} |" in readme
    assert "`min.insync.replicas` = `2`" in readme


def test_no_name_of_a_deployment_becomes_markdown() -> None:
    readme = members(replace(killed(), name="a_b|<b>*x*\n# y"))["README.md"].decode()
    assert readme.startswith(r"# a\_b\|\<b\>\*x\* \# y: no-acked-loss")


@pytest.mark.parametrize("library", sorted(libraries()))
def test_a_container_has_the_needs_of_each_library(library: str) -> None:
    found = members(of(library))
    container, readme = found["Dockerfile"].decode(), found["README.md"].decode()
    language = libraries()[library].language
    assert ("openjdk-17-jdk-headless" in container) == (language == "java")
    assert ("golang" in container) == (language == "go") == ("Go 1.21" in readme)
    assert ("npm" in container) == (language == "node") == ("Node.js 18" in readme)
    assert ("requirements.txt" in found) == ("requirements.txt" in container) == (language == "python")
    assert "EXPOSE" not in container and "ports:" not in found["compose.yaml"].decode()


def test_a_python_library_is_pinned_to_the_release_of_the_deployment_or_to_a_tested_one() -> None:
    assert members(of("librdkafka", "2.6"))["requirements.txt"] == b"confluent-kafka==2.6.*\n"
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    for library, row in libraries().items():
        if row.language == "python":
            assert members(of(library))["requirements.txt"].decode().strip() in constraints


def test_a_trace_with_a_step_that_cannot_be_steered_has_no_script(tmp_path: Path) -> None:
    made = killed()
    first = replace(made.steps[0], action="restart_before_fenced")
    with pytest.raises(NoScript, match=r"step 1 .*only a debugger"):
        write_script(replace(made, steps=(first, *made.steps[1:])), tmp_path / "trace.zip")
    assert not list(tmp_path.iterdir())


WITH_ZOOKEEPER = """
kafka: "2.8"
topic: {replicas: 2, min.insync.replicas: 1}
producer: {acks: 1}
consumer: {group.id: orders, enable.auto.commit: false}
bounds: {records: 1}
assume: {faults: {total: 1, kill: 1}}
"""


@pytest.mark.cluster
@pytest.mark.parametrize("release", ["4.0", "2.8"])
def test_a_script_replays_its_trace_without_proofka(release: str, tmp_path: Path) -> None:
    replayed = killed() if release == "4.0" else plan_for(WITH_ZOOKEEPER, of_property="no-acked-loss")
    write_script(replayed, tmp_path / "trace.zip")
    folder = unzipped(tmp_path / "trace.zip", tmp_path / "unpacked")
    usable = [one for one in PYTHONS if version(one) >= OLDEST]
    oldest = min(usable, key=version)
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "python3").symlink_to(oldest)
    path = [tmp_path / "python", "/usr/bin", "/bin"]
    status, output, errors = run_script(folder, "--json", str(tmp_path / "outcome.json"), path=path)
    assert status == 0, errors
    assert re.search(rf"(?m)^✓ {replayed.name}: reproduced \(Apache Kafka {release}\.\d+, java {release}", output)
    assert re.search(r"record 1 was reported as stored,\s+and is not in the log of broker 2", output)
    outcome = json.loads((tmp_path / "outcome.json").read_text(encoding="utf-8"))
    assert outcome["kind"] == "reproduced" and outcome["facts"]
    assert not list(folder.rglob("__pycache__"))
