"""The command that starts the program of a client library; a row of the table of libraries names its language."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proofka.checker.cluster.built import built, run_build
from proofka.checker.cluster.errors import MissingLibrary, MissingProgram
from proofka.checker.cluster.java import compile_java, java_command

PROGRAMS = Path(__file__).parent / "programs"
"""The folder of the client programs, with a folder for each language."""
TABLE = Path(__file__).parent / "libraries.csv"
"""The table of the client libraries: language, program, name of the client id, what is needed and installs it."""
PYTHON = "PROOFKA_CLIENT_PYTHON"
"""Environment variable that names another Python, in which client libraries are installed."""

HEAP = "96m"
"""The heap of a Java client."""
_BINARY = "client"


@dataclass(frozen=True)
class Library:
    """A row of the table.

    ``start``: the program's name; ``client_id``, ``group_id``: the library's settings for the client id and the group,
    or the program's where the library has none; ``own``: its settings for servers and topic, with spaces between;
    ``needs``: the module or program to look for; ``install``: the command that gets the library.
    """

    library: str
    language: str
    start: str
    client_id: str
    group_id: str
    own: str
    needs: str
    install: str


@dataclass(frozen=True)
class Launch:
    """A command without its arguments, and its environment."""

    command: tuple[str, ...]
    environment: Mapping[str, str]


@cache
def libraries() -> Mapping[str, Library]:
    """Return the rows of the table, by name."""
    with TABLE.open(encoding="utf-8", newline="") as table:
        return {row["library"]: Library(**row) for row in csv.DictReader(table)}


def launch_of(library: Library, classpath: Sequence[Path] = ()) -> Launch:
    """Return how a library's program starts; build the program where its language needs that.

    ``classpath``: Kafka's jars, for Java. Raises MissingProgram and MissingLibrary with what to install, and
    CannotStart where a build fails.
    """
    return _LANGUAGES[library.language](library, classpath)


def _of_java(library: Library, classpath: Sequence[Path]) -> Launch:
    def build(folder: Path) -> None:
        compile_java(folder / "java" / f"{library.start}.java", classpath, folder / "classes")

    jars = sorted(path.name for path in classpath)
    folder = built(library.library, {"java": PROGRAMS / "java"}, build, given=jars)
    logging = {
        "log4j.configuration": (folder / "java" / "log4j.properties").as_uri(),
        "log4j2.configurationFile": (folder / "java" / "log4j2.properties").as_uri(),
    }
    classes = folder / "classes" / library.start
    command = java_command([classes, *classpath], library.start, heap=HEAP, properties=logging)
    return Launch(tuple(command), os.environ)


def _of_python(library: Library, classpath: Sequence[Path]) -> Launch:
    python = os.environ.get(PYTHON) or sys.executable
    if subprocess.run([python, "-c", f"import {library.needs}"], capture_output=True, check=False).returncode:
        raise MissingLibrary(library.library, f"{library.install} ({python}; {PYTHON} names another Python)")
    paths = [str(PROGRAMS.parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
    module = f"proofka.checker.cluster.programs.python.{library.start}"
    return Launch((python, "-m", module), {**os.environ, "PYTHONPATH": os.pathsep.join(paths)})


def _of_go(library: Library, classpath: Sequence[Path]) -> Launch:
    go = _program("go")

    def build(folder: Path) -> None:
        # Without a workspace or a vendored copy of the user's, the versions are those of go.mod.
        command = [go, "build", "-o", str(folder / library.start / _BINARY), "."]
        run_build(command, folder / library.start, what=_needs(library), GOWORK="off", GOFLAGS="-mod=readonly")

    sources = {name: PROGRAMS / "go" / name for name in ("lines", library.start)}
    folder = built(library.library, sources, build)
    return Launch((str(folder / library.start / _BINARY),), os.environ)


def _of_node(library: Library, classpath: Sequence[Path]) -> Launch:
    node = _program("node")

    def build(folder: Path) -> None:
        npm = [_program("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        run_build(npm, folder / library.start, what=_needs(library))

    folder = built(library.library, {library.start: PROGRAMS / "node" / library.start}, build)
    return Launch((node, str(folder / library.start / "client.js")), os.environ)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise MissingProgram("node" if name == "npm" else name)
    return found


def _needs(library: Library) -> str:
    return f"the client program of {library.library} is not built, and needs {library.install}"


_LANGUAGES: Mapping[str, Callable[[Library, Sequence[Path]], Launch]] = {
    "go": _of_go,
    "java": _of_java,
    "node": _of_node,
    "python": _of_python,
}
