"""Java: where it is, the command of a program, and the compilation of a source file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from glob import glob
from pathlib import Path

from proofka.checker.cluster.errors import CannotStart, MissingProgram

OLDEST = 17
"""The first release of Java that runs every release of Kafka."""
PLACES = ("/usr/lib/jvm/*", "/Library/Java/JavaVirtualMachines/*/Contents/Home", "/opt/homebrew/opt/openjdk*")
"""Patterns of folders in which systems install Java."""
COMPILED_WITHIN = 120.0
"""Seconds within which a source file must have been compiled."""

_SETTING = re.compile(r"^\s*(java\.home|java\.specification\.version) = (.+)$", re.MULTILINE)
_COMPILER = "jdk.compiler/com.sun.tools.javac.Main"


def java_command(
    classpath: Sequence[Path],
    main: str,
    *arguments: str,
    heap: str = "256m",
    properties: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> list[str]:
    """Return the command of a Java program, for ``Supervisor.start``.

    ``heap``: the largest heap, as ``-Xmx`` takes it. ``options``: further options of the virtual machine. The program
    writes temporary files, such as native libraries, into its working folder. Raises ``MissingProgram``.
    """
    settings = {"java.io.tmpdir": ".", **(properties or {})}
    return [
        str(java_home() / "bin" / "java"),
        f"-Xmx{heap}",
        # A short life on few cores: little compilation, and one thread that collects garbage.
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        # Without performance data, which a killed machine would leave outside of its folder.
        "-XX:-UsePerfData",
        *options,
        *(f"-D{name}={value}" for name, value in settings.items()),
        "-cp",
        os.pathsep.join(map(str, classpath)),
        main,
        *arguments,
    ]


def compile_java(source: Path, classpath: Sequence[Path], folder: Path) -> Path:
    """Compile a source file, and those beside it that it uses; return the folder of its classes, within ``folder``.

    Classes that are there are not compiled again. Raises ``CannotStart`` with the compiler's message, and
    ``MissingProgram`` where Java has no compiler.
    """
    classes = folder / source.stem
    if classes.exists():
        return classes
    java = java_home() / "bin" / "java"
    modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=True).stdout
    if "jdk.compiler@" not in modules:
        raise MissingProgram("javac")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as unfinished:
        machine = [str(java), "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "-m", _COMPILER]
        where = ["-d", f"{unfinished}/classes", "-cp", os.pathsep.join(map(str, classpath))]
        given = ["-encoding", "UTF-8", "-proc:none", "-sourcepath", str(source.parent), str(source)]
        done = subprocess.run(
            [*machine, *where, *given], capture_output=True, text=True, check=False, timeout=COMPILED_WITHIN
        )
        if done.returncode:
            raise CannotStart(f"{source.name} cannot be compiled with these jars: {done.stderr or done.stdout}")
        _put(Path(unfinished, "classes"), classes)
    return classes


def _put(made: Path, place: Path) -> None:
    """Move a folder to its place, unless another run has put the same there in the meantime."""
    try:
        made.rename(place)
    except OSError:
        if not place.is_dir():
            raise


@lru_cache(maxsize=1)
def java_home() -> Path:
    """Return the folder of the first Java that is new enough: of ``JAVA_HOME``, of ``PATH``, or where systems install.

    Raises ``MissingProgram``.
    """
    old: dict[str, None] = {}
    for program in filter(shutil.which, _candidates()):
        asked = [program, "-XshowSettings:properties", "-version"]
        shown = subprocess.run(asked, capture_output=True, text=True, check=False)
        found = dict(_SETTING.findall(shown.stderr))
        version = found.get("java.specification.version", "0")
        if version.partition(".")[0].isdigit() and int(version.partition(".")[0]) >= OLDEST:
            return Path(found["java.home"])
        old[f"{program} is Java {version}"] = None
    raise MissingProgram("java", "; ".join(old))


def _candidates() -> Iterator[str]:
    """Yield the programs ``java`` of this machine, in the order of preference; not each of them exists."""
    named, on_path = os.environ.get("JAVA_HOME"), shutil.which("java")
    if named:
        yield str(Path(named, "bin", "java"))
    if on_path:
        yield on_path
    for place in PLACES:
        yield from sorted(glob(f"{place}/bin/java"))  # noqa: PTH207 (the places begin with /)
