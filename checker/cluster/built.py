"""Programs that are built from their sources once, and then stand in the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from proofka.checker.cluster.errors import CannotStart

BUILT_WITHIN = 900.0
"""Seconds within which a program must have been built; the first time, its language fetches the library."""
TOLD_OF_OUTPUT = 2000
"""The number of characters of a build's output that an error tells."""


def built(
    name: str, sources: Mapping[str, Path], build: Callable[[Path], object], *, given: Sequence[str] = ()
) -> Path:
    """Return the folder in the cache with a program's sources and with what ``build`` made there.

    ``sources``: folders by the names that they get. ``build`` gets a folder with copies of them. ``given``: what else
    the result depends on. One program is built at a time, also by several processes: a build keeps all cores busy.
    """
    place = default_folder() / f"{name}-{_digest(sources, given)}"
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.parent.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.is_dir():
            _build(place, sources, build)
    return place


def _build(place: Path, sources: Mapping[str, Path], build: Callable[[Path], object]) -> None:
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="unfinished-") as unfinished:
        made = Path(unfinished) / "made"
        for folder, source in sources.items():
            shutil.copytree(source, made / folder, ignore=_UNNEEDED)
        build(made)
        made.rename(place)


def run_build(command: Sequence[str], folder: Path, *, what: str, **environment: str) -> None:
    """Run a command of a build in a folder. ``what``: the program, and what gets its library.

    Raises CannotStart with the end of the output.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=BUILT_WITHIN,
    )
    if done.returncode:
        raise CannotStart(f"{what}: {' '.join(command)} failed:\n{done.stdout[-TOLD_OF_OUTPUT:]}")


def default_folder() -> Path:
    """Return the folder for programs in the user's cache; the folder does not always exist."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "proofka" / "programs"


_UNNEEDED = shutil.ignore_patterns("node_modules", "__pycache__")


def _digest(sources: Mapping[str, Path], given: Sequence[str]) -> str:
    """Return a name of the sources' content; what ``given`` says belongs to the content."""
    content = hashlib.sha256("\0".join(given).encode())
    for folder, source in sorted(sources.items()):
        for path in sorted(source.rglob("*")):
            inside = path.relative_to(source)
            if path.is_file() and not {"node_modules", "__pycache__"}.intersection(inside.parts):
                content.update(f"\0{folder}/{inside.as_posix()}\0{path.stat().st_size}\0".encode())
                content.update(path.read_bytes())
    return content.hexdigest()[:16]
