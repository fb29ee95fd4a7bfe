"""Short programs in a folder that run Kafka's console tools, and other long commands."""

from __future__ import annotations

import csv
import os
import shlex
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from proofka.checker.cluster.java import java_command

TABLE = Path(__file__).parent / "console_tools.csv"
"""The table of tools, with the classes that a tool has had in Kafka's releases, newest first."""
_LOGGING = Path(__file__).parent / "logging"


def write_tools(classpath: Sequence[Path], folder: Path) -> tuple[str, ...]:
    """Write a program for each console tool that these jars have, named as in Kafka; return the names.

    Raises ``MissingProgram`` without Java.
    """
    there = _classes(classpath)
    logging = {
        "java.io.tmpdir": str(folder),
        "log4j.configuration": (_LOGGING / "tools-log4j.properties").as_uri(),
        "log4j2.configurationFile": (_LOGGING / "tools-log4j2.properties").as_uri(),
    }
    written: dict[str, None] = {}
    for tool, main in _candidates():
        if main in there and tool not in written:
            write_program(folder / f"{tool}.sh", java_command(classpath, main, properties=logging))
            written[tool] = None
    return tuple(written)


def write_program(path: Path, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
    """Write a program that runs a command with more arguments. ``environment``: by default that of its caller."""
    changed = {name: value for name, value in (environment or {}).items() if os.environ.get(name) != value}
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in sorted(changed.items()))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n{exports}exec {" ".join(map(shlex.quote, command))} "$@"\n', encoding="utf-8")
    path.chmod(0o755)


def _candidates() -> Iterator[tuple[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield row["tool"], row["class"]


def _classes(classpath: Sequence[Path]) -> set[str]:
    """Return the classes of the tools that these jars have."""
    wanted = {f"{main.replace('.', '/')}.class": main for _, main in _candidates()}
    found: set[str] = set()
    for jar in classpath:
        if jar.name.startswith("kafka"):
            with zipfile.ZipFile(jar) as file:
                found.update(wanted[name] for name in wanted.keys() & set(file.namelist()))
    return found
