"""Files that exist whole or not at all: each is written beside the old one, which stays until the new one is complete.

So a full disk, or a killed process, leaves the file that was there before.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

IN_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)
"""The errors after which the old file is written over: a folder that takes no new file, or a file that is a mount."""


def write_whole(path: Path, content: str | bytes | Iterable[bytes]) -> None:
    """Write a file, text in UTF-8. The mode of an existing file is kept, links are followed, pipes are written into.

    Pieces of the content can be asked for twice, so an iterator is no content.

    Raise OSError with the name of ``path``, and leave the old content, if the file cannot be written.
    """
    new = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        _write(path, [new] if isinstance(new, bytes) else new)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _write(path: Path, content: Iterable[bytes]) -> None:
    try:
        old = path.stat()
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        _write_over(path, content)  # a pipe, a terminal, /dev/null; a directory raises
        return
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        if old is not None and _is_open_as(old, number):
            # ``path`` is the file that standard output or error goes to, and whose opener goes on writing into it.
            stream.flush()
            _write_all(number, content)
            return
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    try:
        _exchange(Path(os.path.realpath(path)), old, content)
    except OSError as error:
        if old is None or error.errno not in IN_PLACE:
            raise
        _write_over(path, content)


def _write_over(path: Path, content: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(content)


def _is_open_as(file: os.stat_result, descriptor: int) -> bool:
    try:
        return os.path.samestat(file, os.fstat(descriptor))
    except OSError:
        return False


def _exchange(path: Path, old: os.stat_result | None, content: Iterable[bytes]) -> None:
    """Write a new file beside ``path``, and let it take the place of ``path``."""
    beside = path.with_name(f".proofka-{secrets.token_hex(6)}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if old is None else 0o600)
    try:
        try:
            if old is not None:
                beside.chmod(stat.S_IMODE(old.st_mode))
            _write_all(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _write_all(descriptor: int, content: Iterable[bytes]) -> None:
    for piece in content:
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
