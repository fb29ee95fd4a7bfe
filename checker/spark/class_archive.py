"""An archive of Java classes from an earlier start, with which Java starts Spark in half the time.

Reference: JEP 350, Dynamic CDS Archives. Java checks itself whether an archive fits, and ignores an archive that does
not.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.user_cache import user_cache

SECONDS_TO_WRITE = 60.0
"""Largest number of seconds for writing an archive."""


@dataclass(frozen=True)
class ClassArchive:
    """An archive in a folder; its name identifies the Java and the Spark.

    The first Java without an archive writes one.

    The file's name contains the archive's size, because Java crashes on a truncated archive.
    """

    folder: Path
    name: str

    @property
    def _new(self) -> Path:
        return self.folder / f"{self.name}-{os.getpid()}.new"

    def kept(self) -> Path | None:
        """Return the archive's file, if it exists and is whole."""
        sizes = {file: file.stem.rpartition("-")[2] for file in self.folder.glob(f"{self.name}-*.jsa")}
        return next((file for file, size in sizes.items() if size == str(file.stat().st_size)), None)

    def java_option(self) -> str:
        """Return the option with which to start Java."""
        kept = self.kept()
        if kept is None:
            return f"-XX:ArchiveClassesAtExit={self._new}"
        return f"-XX:SharedArchiveFile={kept} -XX:ErrorFile={self.folder}/java-%p.log"

    def keep(self, java: subprocess.Popen[bytes]) -> None:
        """Move the archive of an ending Java to its place, once the archive is whole."""
        with suppress(OSError):
            try:
                if self.kept() is None and java.wait(SECONDS_TO_WRITE) == 0 and self._new.exists():
                    self._new.replace(self.folder / f"{self.name}-{self._new.stat().st_size}.jsa")
            except subprocess.TimeoutExpired:
                java.kill()
            finally:
                self._new.unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete what commands that were killed have left of archives that they were writing."""
        for file in self.folder.glob(f"{self.name}-*.new"):
            writer = file.stem.rpartition("-")[2]
            if writer.isdecimal() and not _is_running(int(writer)):
                with suppress(OSError):
                    file.unlink(missing_ok=True)

    def forget(self) -> None:
        """Delete the archive."""
        for file in self.folder.glob(f"{self.name}-*.jsa"):
            file.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    """Tell whether a process with this id runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def class_archive(java: Path) -> ClassArchive | None:
    """Return the archive for this Java and the installed Spark, in the user's cache; None if no archive can be kept."""
    import pyspark

    jars = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent) / "jars"
    folder = user_cache()
    with suppress(OSError):
        told_by = [str(part) for path in (java.resolve(), jars) for part in (path, path.stat().st_mtime_ns)]
        folder.mkdir(parents=True, exist_ok=True)
        is_plain = not any(character in str(folder) for character in " \t\n\"'\\")
        if is_plain and os.access(folder, os.W_OK):
            archive = ClassArchive(folder, f"spark-{hashlib.sha256(repr(told_by).encode()).hexdigest()[:16]}")
            archive.clear()
            return archive
    return None
