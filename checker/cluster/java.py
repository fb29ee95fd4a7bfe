"""Commands of Java programs (stand-in)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from checker.cluster.errors import CannotStart, MissingProgram


def _find(program: str) -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which(program, path=str(Path(home) / "bin") if home else None)


def java_command(classpath: Sequence[Path], main: str, *arguments: str, heap: str) -> list[str]:
    java = _find("java")
    if java is None:
        raise MissingProgram("java")
    options = [f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    return [java, *options, "-cp", os.pathsep.join(map(str, classpath)), main, *arguments]


def compile_java(source: Path, classpath: Sequence[Path], folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / f"{source.stem}.class").exists():
        done = subprocess.run(
            [_find("javac") or "javac", "-d", str(folder), "-cp", os.pathsep.join(map(str, classpath)), str(source)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise CannotStart(done.stderr)
    return folder
