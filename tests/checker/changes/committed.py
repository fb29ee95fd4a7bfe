"""Repositories for the tests: real git, with a project file and small pipelines."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

HOLDS = """\
kafka: "4.0"
topic: {replicas: 3, settings: {min.insync.replicas: 2}}
producer: {settings: {acks: all}}
bounds: {records: 1}
"""
LOSES = HOLDS.replace("acks: all", "acks: 1")
PROJECT = """\
pipelines: ["deploy/*.yaml"]
budget: one
require: [no-acked-loss]
budgets:
  one: {total: 1, kill: 1}
"""


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder without the settings of this machine, and return its output."""
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    names = {f"GIT_{role}_{what}": "t@t" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    run = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **alone, **names},
        check=True,
        capture_output=True,
        text=True,
    )
    return run.stdout.strip()


def commit(folder: Path, **files: str) -> str:
    """Write pipelines into the folder deploy, commit everything, and return the hash."""
    write(folder, **files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "a commit")
    return git(folder, "rev-parse", "HEAD")


def write(folder: Path, **files: str) -> None:
    """Write pipelines into the folder deploy."""
    for name, text in files.items():
        (folder / "deploy" / f"{name}.yaml").write_text(text, encoding="utf-8")


def repository(folder: Path, **files: str) -> Path:
    """Make a repository on the branch main with a project file and these pipelines."""
    (folder / "deploy").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "proofka.yaml").write_text(PROJECT, encoding="utf-8")
    commit(folder, **files)
    return folder
