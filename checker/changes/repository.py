"""A git repository: the commit to compare with, the files changed since, and the files of that commit in a folder.

git runs without the user's hooks, filters of large files and prompts; nothing in the repository changes.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from proofka.checker.changes.errors import NoRepository, UnknownCommit
from proofka.model.deployment.hiding import printable

WITHOUT_FILTERS = (
    "-c",
    "filter.lfs.smudge=",
    "-c",
    "filter.lfs.process=",
    "-c",
    "filter.lfs.required=false",
    "-c",
    "core.fsmonitor=false",
)
"""Options that keep git from starting other programs for large files and for watching files."""

SHOWN = 12
"""Number of characters of a commit's hash in sentences."""


@dataclass(frozen=True)
class Repository:
    """A repository and the commit with which the current files are compared.

    ``root``: the top folder. ``commit``: the hash of the last common ancestor of HEAD and the user's ``name``.
    """

    root: Path
    name: str
    commit: str

    @property
    def where(self) -> str:
        """The commit in words."""
        same = self.commit.startswith(self.name.lower()) and len(self.name) >= SHOWN
        return self.commit[:SHOWN] if same else f"{self.name} ({self.commit[:SHOWN]})"

    def changed(self) -> frozenset[Path]:
        """Return the absolute paths of files that differ from the commit, and of new files that git does not ignore."""
        differ = _git(self.root, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", self.commit, "--")
        new = _git(self.root, "ls-files", "--others", "--exclude-standard", "-z")
        names = [name for name in (differ + new).split(b"\0") if name]
        return frozenset(self.root / os.fsdecode(name) for name in names)

    @contextmanager
    def files(self) -> Iterator[Path]:
        """Write the files of the commit into a temporary folder, and return the folder."""
        with TemporaryDirectory(prefix="proofka-", ignore_cleanup_errors=True) as folder:
            tree = Path(folder).resolve() / "tree"
            tree.mkdir()
            index = {"GIT_INDEX_FILE": str(Path(folder).resolve() / "index")}
            _git(self.root, "read-tree", self.commit, environment=index)
            _git(self.root, "checkout-index", "--all", "--quiet", f"--prefix={tree}/", environment=index)
            yield tree


def repository(name: str, folder: Path) -> Repository:
    """Return the repository around a folder, and the commit to compare with. Raise ChangesError."""
    try:
        root = _git(folder, "rev-parse", "--show-toplevel")
    except FileNotFoundError:
        raise NoRepository("git is not installed; --changed-since needs the program git") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().partition("\n")[0]
        what = f"{folder.resolve()}: no git repository can be read here; leave out --changed-since"
        raise NoRepository(f"{what} (git: {printable(said)})") from None
    top = Path(os.fsdecode(root.rstrip(b"\n"))).resolve()
    try:
        commit = (
            _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").decode().strip()
        )
    except subprocess.CalledProcessError:
        what = f"--changed-since {printable(name)}: no such commit; name a branch, tag or commit, or fetch it first"
        raise UnknownCommit(what) from None
    try:
        base = _git(top, "merge-base", "HEAD", commit)
    except subprocess.CalledProcessError:
        why = "has no common ancestor with HEAD here; fetch the whole history (actions/checkout: fetch-depth: 0)"
        raise UnknownCommit(f"--changed-since {printable(name)}: {why}") from None
    return Repository(top, name, base.decode().strip())


def _git(folder: Path, *arguments: str, environment: dict[str, str] | None = None) -> bytes:
    command: Sequence[str] = ["git", *WITHOUT_FILTERS, "-C", str(folder), *arguments]
    quiet = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **(environment or {})}
    return subprocess.run(command, check=True, capture_output=True, env=quiet, stdin=subprocess.DEVNULL).stdout
