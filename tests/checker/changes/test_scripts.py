"""The action of GitHub and the hooks of pre-commit: their scripts are run as their users' machines run them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from proofka.checker.changes.errors import ChangesError
from tests.checker.changes.committed import HOLDS, LOSES, commit, git, repository, write

ROOT = Path(__file__).parents[3]
ACTION: dict[str, Any] = YAML(typ="safe", pure=True).load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS: list[dict[str, Any]] = YAML(typ="safe", pure=True).load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = repository(tmp_path / "r", one=HOLDS, known=LOSES)
    git(made, "update-ref", "refs/remotes/origin/main", "main")
    git(made, "checkout", "--quiet", "-b", "change")
    return made


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a runner, with ``proofka`` of this tree on the path."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program(programs / "proofka", f'exec "{sys.executable}" -m proofka "$@"')
    temp = tmp_path / "temp"
    temp.mkdir()
    files = {name: str(tmp_path / name.lower()) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    return {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_ACTION_PATH": str(ROOT),
        "RUNNER_TEMP": str(temp),
        **files,
    }


def program(file: Path, text: str) -> None:
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)


def run(step: str, folder: Path, environment: dict[str, str], **more: str) -> subprocess.CompletedProcess[str]:
    """Run a step's script as the runner does, with ``bash -e``."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", STEPS[step]["run"]],
        cwd=folder,
        env={**environment, **more},
        capture_output=True,
        text=True,
        check=False,
    )


def outputs(environment: dict[str, str]) -> dict[str, str]:
    lines = Path(environment["GITHUB_OUTPUT"]).read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_action_compares_with_the_base_of_the_pull_request(folder: Path, environment: dict[str, str]) -> None:
    commit(folder, one=LOSES)
    done = run("Check", folder, environment, GITHUB_BASE_REF="main")
    assert done.returncode == 1
    assert "::error title=one%3A no-acked-loss,file=deploy/one.yaml,line=3::this change lets 1 kill" in done.stdout
    said = outputs(environment)
    assert said["status"] == "1"
    assert Path(environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8").startswith("<!-- proofka -->")
    results = json.loads(Path(said["sarif"]).read_text(encoding="utf-8"))["runs"][0]["results"]
    assert {one["baselineState"] for one in results} == {"new"}


def test_action_checks_everything_without_a_base(folder: Path, environment: dict[str, str]) -> None:
    done = run("Check", folder, environment)
    assert done.returncode == 1
    assert "::error title=known%3A no-acked-loss" in done.stdout


def test_inputs_of_the_action_are_no_options_and_no_commands(folder: Path, environment: dict[str, str]) -> None:
    done = run("Check", folder, environment, PROOFKA_PATH="--version; touch owned", PROOFKA_SINCE="$(touch owned)")
    assert done.returncode == 2
    assert not (folder / "owned").exists()
    assert outputs(environment)["status"] == "2"


def test_scripts_of_the_action_get_their_inputs_from_the_environment() -> None:
    """An expression within a script would run what a pull request writes."""
    for step in STEPS.values():
        assert "${{" not in step["run"]
    assert all("uses" not in step for step in ACTION["runs"]["steps"])
    named = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert named == set(ACTION["inputs"])


@pytest.mark.parametrize("earlier", ["", "41\n42\n"])
def test_comment_is_written_once_and_replaced_later(
    earlier: str, folder: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    listing = f'if [ "$2" = --paginate ]; then printf "{earlier}"; fi'
    program(tmp_path / "bin" / "gh", f'echo "$*" >> "{calls}"\n{listing}')
    body = tmp_path / "c.md"
    body.write_text("<!-- proofka -->", encoding="utf-8")
    more = {"PROOFKA_COMMENT": str(body), "PROOFKA_NUMBER": "7", "GITHUB_REPOSITORY": "o/r"}
    done = run("Comment", folder, environment, **more)
    assert done.returncode == 0, done.stderr
    said = calls.read_text(encoding="utf-8").splitlines()[1:]
    method = "PATCH repos/o/r/issues/comments/42" if earlier else "POST repos/o/r/issues/7/comments"
    assert said == [f"api --silent --method {method} --field body=@{body}"]


def test_action_installs_its_own_commit() -> None:
    assert STEPS["Install Proofka of this action's own commit"]["run"].endswith('"$GITHUB_ACTION_PATH"')
    assert (ROOT / "constraints.txt").is_file()


def hook(name: str) -> str:
    (found,) = [one for one in HOOKS if one["id"] == name]
    assert found["language"] == "python"
    assert found["pass_filenames"] is False
    return str(found["entry"])


def test_hook_refuses_a_commit_that_loses_records(folder: Path, environment: dict[str, str]) -> None:
    program(folder / ".git" / "hooks" / "pre-commit", f"exec {hook('proofka')}")
    write(folder, one=LOSES)
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "--all", "-m", "acks=1"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "this change lets 1 kill violate" in " ".join((done.stdout + done.stderr).split())
    write(folder, one=HOLDS + "# a comment\n")
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_hook_for_all_pipelines_fails_on_known_violations(folder: Path, environment: dict[str, str]) -> None:
    command = ["sh", "-c", hook("proofka-all")]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "known: No: no-acked-loss can fail with 1 kill." in done.stdout


PAGE = (ROOT / "docs" / "pull-requests.md").read_text(encoding="utf-8")


def test_page_has_workflows_that_use_the_inputs_of_the_action_and_the_hooks() -> None:
    blocks = [YAML(typ="safe", pure=True).load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
    github, hooks, gitlab = blocks
    step = github["jobs"]["check"]["steps"][-1]
    assert set(step["with"]) <= set(ACTION["inputs"])
    assert [one["id"] for one in hooks["repos"][0]["hooks"]] == ["proofka"]
    assert gitlab["proofka"]["artifacts"]["reports"]["codequality"] in gitlab["proofka"]["script"][1]


def test_page_lists_every_code() -> None:
    codes = {one.code for one in ChangesError.__subclasses__()}
    assert set(re.findall(r"^\| (V[0-9]{2}) ", PAGE, re.MULTILINE)) == codes
