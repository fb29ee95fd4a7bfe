"""Files that are written completely or not at all, even if a process is killed."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to. The written file replaces ``path`` at the end, and is dropped after an error."""
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        yield new
        with new.open("rb") as written:
            os.fsync(written.fileno())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def write_json(path: Path, document: Any) -> None:
    """Write a document with a checksum, replacing an earlier document."""
    with replacing(path) as new:
        new.write_text(json.dumps({"checksum": _checksum(document), "content": document}), encoding="utf-8")


def read_json(path: Path) -> Any:
    """Return a document that was written before, or None if there is none. Raise ValueError if it is damaged."""
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        if written["checksum"] == _checksum(written["content"]):
            return written["content"]
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise ValueError(f"{path}: is damaged")


def _checksum(document: Any) -> int:
    return zlib.crc32(json.dumps(document).encode())
