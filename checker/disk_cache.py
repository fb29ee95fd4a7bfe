"""Entries kept on disk between runs, one file each, named by a hash of everything that the entry was made from.

An entry is used only if it is whole and belongs to this user. An entry is written to another file and renamed, so two
processes can write at once. If anything is wrong with a file, its content is computed again. The folder has a size
limit: the least recently used entries are deleted first.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.user_cache import LOG, systems_folder

MOST_BYTES = 256 * 1024 * 1024
"""Limit of a folder, in bytes; a system's machine code takes about 250,000 bytes."""
AFTER_A_PURGE = 0.75
"""Part of ``MOST_BYTES`` that is left after the oldest entries were deleted."""
SUFFIX, UNFINISHED = ".kept", ".new"
ABANDONED_AFTER = 3600.0
"""Seconds after which an unfinished file counts as the remains of a killed process."""
_MAGIC = b"proofka cache 1\n"
_CHECKSUM = hashlib.sha256().digest_size


@dataclass(frozen=True)
class DiskCache:
    """A cache folder with at most ``most_bytes`` bytes."""

    folder: Path
    most_bytes: int = MOST_BYTES

    def read(self, key: str) -> bytes | None:
        """Return the entry of a key; None if no trustworthy entry exists."""
        file = self._file(key)
        try:
            with file.open("rb") as opened:
                if not _is_own(os.fstat(opened.fileno())):
                    LOG.info("%s: belongs to another user", file.name)
                    return None
                content = opened.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            LOG.info("%s: %s", file.name, error)
            return None
        start = len(_MAGIC) + _CHECKSUM
        kept = content[start:]
        if content[:start] != _MAGIC + _checksum(key, kept):
            LOG.info("%s: damaged, or of another key", file.name)
            return None
        with suppress(OSError):
            os.utime(file)
        return kept

    def write(self, key: str, kept: bytes) -> None:
        """Store an entry under a key, if possible."""
        beside = self.folder / f"{key}-{os.getpid()}-{threading.get_ident()}{UNFINISHED}"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            beside.touch(mode=0o600, exist_ok=False)
            with beside.open("wb") as opened:
                opened.write(_MAGIC + _checksum(key, kept) + kept)
            beside.replace(self._file(key))
            self._purge()
        except OSError as error:
            LOG.warning("%s", self._reason(error))
            with suppress(OSError):
                beside.unlink()

    def files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield the files of entries, including unfinished ones."""
        with suppress(OSError), os.scandir(self.folder) as found:
            for entry in found:
                if entry.name.endswith((SUFFIX, UNFINISHED)):
                    with suppress(OSError):
                        yield Path(entry.path), entry.stat(follow_symlinks=False)

    def clear(self) -> None:
        """Delete every entry. Raise :class:`OSError` if the system refuses."""
        for file, _ in list(self.files()):
            file.unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"

    def _reason(self, error: OSError) -> str:
        """Return the folder with the reason why nothing can be written into the folder."""
        if error.errno in (errno.EEXIST, errno.ENOTDIR):
            return f"{self.folder} is not a folder"
        return f"{self.folder}: {(error.strerror or str(error)).lower()}"

    def _purge(self) -> None:
        found = sorted(self.files(), key=lambda one: one[1].st_mtime)
        taken, now = sum(about.st_size for _, about in found), time.time()
        is_too_much = taken > self.most_bytes
        for file, about in found:
            abandoned = file.suffix == UNFINISHED and now - about.st_mtime > ABANDONED_AFTER
            too_old = is_too_much and taken > self.most_bytes * AFTER_A_PURGE and file.suffix == SUFFIX
            if abandoned or too_old:
                with suppress(OSError):
                    file.unlink()
                taken -= about.st_size


def _checksum(key: str, kept: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\n" + kept).digest()


def _is_own(about: os.stat_result) -> bool:
    """Tell whether a file is regular, belongs to this user, and is not writable by others."""
    by_others = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISREG(about.st_mode) and about.st_uid == os.getuid() and not by_others


def disk_cache() -> DiskCache | None:
    """Return this user's cache; None if caching is off."""
    folder = systems_folder()
    return None if folder is None else DiskCache(folder)
