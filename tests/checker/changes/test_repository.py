"""A git repository: the commit to compare with, changed files, and the files of the commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.changes.errors import NoRepository, UnknownCommit
from proofka.checker.changes.repository import repository
from tests.checker.changes.committed import HOLDS, LOSES, commit, git, write
from tests.checker.changes.committed import repository as new_repository


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "r", one=HOLDS, two=HOLDS)


def names(folder: Path, paths: frozenset[Path]) -> list[str]:
    return sorted(path.relative_to(folder.resolve()).as_posix() for path in paths)


def test_changed_files_are_committed_uncommitted_new_and_deleted_ones(folder: Path) -> None:
    git(folder, "checkout", "--quiet", "-b", "change")
    commit(folder, one=LOSES)
    write(folder, three=HOLDS)
    (folder / "deploy" / "two.yaml").unlink()
    (folder / ".gitignore").write_text("*.log\n", encoding="utf-8")
    (folder / "a.log").write_text("", encoding="utf-8")
    found = repository("main", folder).changed()
    assert names(folder, found) == [".gitignore", "deploy/one.yaml", "deploy/three.yaml", "deploy/two.yaml"]


def test_comparison_is_with_the_common_ancestor(folder: Path) -> None:
    start = git(folder, "rev-parse", "HEAD")
    git(folder, "checkout", "--quiet", "-b", "change")
    commit(folder, one=LOSES)
    git(folder, "checkout", "--quiet", "main")
    commit(folder, two=LOSES)
    git(folder, "checkout", "--quiet", "change")
    found = repository("main", folder)
    assert found.commit == start
    assert names(folder, found.changed()) == ["deploy/one.yaml"]


def test_files_of_the_commit_are_there_for_a_while_and_the_repository_stays_as_it_is(folder: Path) -> None:
    commit(folder, one=LOSES)
    write(folder, two=LOSES)
    (folder / ".gitattributes").write_text("deploy export-ignore\n", encoding="utf-8")
    before = git(folder, "status", "--porcelain")
    with repository("HEAD~1", folder / "deploy").files() as tree:
        assert (tree / "deploy" / "one.yaml").read_text(encoding="utf-8") == HOLDS
        assert (tree / "deploy" / "two.yaml").read_text(encoding="utf-8") == HOLDS
    assert not tree.exists()
    assert git(folder, "status", "--porcelain") == before
    assert git(folder, "worktree", "list").count("\n") == 0


@pytest.mark.parametrize("name", ["nowhere", "--help", "HEAD:deploy", ""])
def test_unknown_commits_are_errors(name: str, folder: Path) -> None:
    with pytest.raises(UnknownCommit, match=r"no such commit.*\(V02\)"):
        repository(name, folder)


def test_commit_without_common_ancestor_is_an_error(folder: Path) -> None:
    git(folder, "checkout", "--quiet", "--orphan", "other")
    commit(folder, one=LOSES)
    with pytest.raises(UnknownCommit, match="no common ancestor"):
        repository("main", folder)


def test_folder_outside_of_repositories_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(NoRepository, match=r"\(V01\)"):
        repository("main", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoRepository, match="git is not installed"):
        repository("main", tmp_path)
