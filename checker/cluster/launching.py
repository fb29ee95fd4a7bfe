"""The command that starts the program of a client library; a row of the table of libraries names its language."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from checker.cluster.errors import MissingLibrary
from checker.cluster.java import compile_java, java_command

PROGRAMS = Path(__file__).parent / "programs"
"""The folder of the client programs, with a folder for each language."""
TABLE = Path(__file__).parent / "libraries.csv"
"""The table of the client libraries: language, program, name of the client id, what is needed and installs it."""
PYTHON = "PROOFKA_CLIENT_PYTHON"
"""Environment variable that names another Python, in which client libraries are installed."""

HEAP = "96m"
"""The heap of a Java client."""


@dataclass(frozen=True)
class Library:
    """A row of the table. ``start``: the program's name; ``client_id``: the library's setting for the client id."""

    library: str
    language: str
    start: str
    client_id: str
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


def launch_of(library: Library, *, classpath: Sequence[Path], folder: Path) -> Launch:
    """Return how a library's program starts.

    ``classpath``: Kafka's jars, for Java; ``folder``: for classes of Java. Raises MissingProgram and MissingLibrary
    with what to install.
    """
    return _LANGUAGES[library.language](library, classpath, folder)


def _of_python(library: Library, classpath: Sequence[Path], folder: Path) -> Launch:
    python = os.environ.get(PYTHON) or sys.executable
    if subprocess.run([python, "-c", f"import {library.needs}"], capture_output=True, check=False).returncode:
        raise MissingLibrary(library.library, f"{library.install} ({python}; {PYTHON} names another Python)")
    paths = [str(PROGRAMS.parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    module = f"checker.cluster.programs.python.{library.start}"
    return Launch((python, "-m", module), {**os.environ, "PYTHONPATH": os.pathsep.join(paths)})


def _of_java(library: Library, classpath: Sequence[Path], folder: Path) -> Launch:
    classes = compile_java(PROGRAMS / "java" / f"{library.start}.java", classpath, folder / "classes")
    return Launch(tuple(java_command([classes, *classpath], library.start, heap=HEAP)), os.environ)


_LANGUAGES: Mapping[str, Callable[[Library, Sequence[Path], Path], Launch]] = {
    "java": _of_java,
    "python": _of_python,
}
