"""Java starts Spark sooner with the classes of an earlier start, as they lay in memory: loading them takes half of it.

Reference: JEP 350, Dynamic CDS Archives. Java itself finds out whether an archive fits, and does without one that does
not.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from checker.user_cache import user_cache

SECONDS_TO_WRITE = 60.0
"""An archive that takes longer is none."""


@dataclass(frozen=True)
class ClassArchive:
    """An archive in a folder, under a name that says for whom it is; the first Java that finds none there leaves one.

    Its size is part of its file's name: Java crashes on one that was cut off.
    """

    folder: Path
    name: str

    @property
    def _new(self) -> Path:
        return self.folder / f"{self.name}-{os.getpid()}.new"

    def kept(self) -> Path | None:
        """The archive's file, if it is there and whole."""
        sizes = {file: file.stem.rpartition("-")[2] for file in self.folder.glob(f"{self.name}-*.jsa")}
        return next((file for file, size in sizes.items() if size == str(file.stat().st_size)), None)

    def java_option(self) -> str:
        """What Java is to be started with."""
        kept = self.kept()
        if kept is None:
            return f"-XX:ArchiveClassesAtExit={self._new}"
        return f"-XX:SharedArchiveFile={kept} -XX:ErrorFile={self.folder}/java-%p.log"

    def keep(self, java: subprocess.Popen[bytes]) -> None:
        """Put what a Java that is ending leaves in its place, once it is whole."""
        with suppress(OSError):
            try:
                if self.kept() is None and java.wait(SECONDS_TO_WRITE) == 0 and self._new.exists():
                    self._new.replace(self.folder / f"{self.name}-{self._new.stat().st_size}.jsa")
            except subprocess.TimeoutExpired:
                java.kill()
            finally:
                self._new.unlink(missing_ok=True)

    def forget(self) -> None:
        """Delete it."""
        for file in self.folder.glob(f"{self.name}-*.jsa"):
            file.unlink(missing_ok=True)


def class_archive(java: Path) -> ClassArchive | None:
    """The archive for this Java and the Spark that is installed, in the user's cache; None where none can be kept."""
    import pyspark

    jars = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent) / "jars"
    folder = user_cache()
    with suppress(OSError):
        told_by = [str(part) for path in (java.resolve(), jars) for part in (path, path.stat().st_mtime_ns)]
        folder.mkdir(parents=True, exist_ok=True)
        is_plain = not any(character in str(folder) for character in " \t\n\"'\\")
        if is_plain and os.access(folder, os.W_OK):
            return ClassArchive(folder, f"spark-{hashlib.sha256(repr(told_by).encode()).hexdigest()[:16]}")
    return None
