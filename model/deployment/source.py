"""Reading a file's text: each unreadable file gives a one-line error, and the size is limited."""

from __future__ import annotations

import re
import stat
import sys
from functools import cache
from pathlib import Path

from proofka.model.deployment.errors import DeploymentError

LARGEST = 1024 * 1024
"""The largest size of a configuration, in bytes; a larger file is refused before it is read."""

LARGEST_OF_A_FLEET = 64 * LARGEST
"""The largest size, in bytes, of a file about many deployments: a tool's output about a cluster, a list of
pipelines."""

MOST_KEYS = 5000
"""The largest number of keys in a configuration; Kafka itself knows fewer than a thousand."""

_CONTROL = re.compile(rb"[\x01-\x08\x0b\x0e-\x1f]")
_MOST_CONTROL = 1 / 30
_UTF8_MARK = b"\xef\xbb\xbf"

BYTE_ORDER_MARK = "begins with a byte order mark"
"""The note about a text with a byte order mark."""


STANDARD_INPUT = frozenset({"-", "/dev/stdin"})
"""The names of standard input."""


def is_standard_input(path: Path) -> bool:
    """Tell whether a path names standard input."""
    return str(path) in STANDARD_INPUT


@cache
def standard_input() -> bytes:
    """Read standard input, once, up to one byte more than the largest configuration.

    Raises DeploymentError if standard input cannot be read.
    """
    if sys.stdin is None:
        raise DeploymentError("standard input is closed; pipe a configuration into the command", file="-")
    try:
        return sys.stdin.buffer.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise DeploymentError(f"standard input cannot be read: {error}", file="-") from None


def read_bytes(path: Path, largest: int = LARGEST) -> bytes:
    """Read a small, non-empty, regular text file, or standard input, including any byte order mark. Raises
    DeploymentError."""
    file = str(path)
    if is_standard_input(path):
        return _checked_text(standard_input(), file, LARGEST)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise DeploymentError("is a directory; name a file", file=file)
        if not stat.S_ISREG(status.st_mode):
            raise DeploymentError("is not a regular file", file=file)
        _check_size(status.st_size, file, largest)
        with path.open("rb") as stream:
            content = stream.read(largest + 1)
    except FileNotFoundError:
        raise DeploymentError("no such file", file=file) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DeploymentError(f"cannot be read: {reason}", file=file) from None
    return _checked_text(content, file, largest)


def _checked_text(content: bytes, file: str, largest: int) -> bytes:
    """Return the content if it is text. Raises DeploymentError."""
    _check_size(len(content), file, largest)
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DeploymentError("is in UTF-16; save it as UTF-8", file=file)
    if not content.removeprefix(_UTF8_MARK).strip():
        raise DeploymentError("is empty", file=file)
    nul = content.find(b"\0")
    if nul >= 0:
        line = content.count(b"\n", 0, nul) + 1
        raise DeploymentError("is a binary file (it contains NUL bytes); name a text file", file=file, line=line)
    # A few control characters in comments do not make a file binary.
    if len(_CONTROL.findall(content)) > len(content) * _MOST_CONTROL:
        raise DeploymentError("is a binary file (it contains many control characters); name a text file", file=file)
    return content


def _check_size(size: int, file: str, largest: int) -> None:
    if size > largest:
        message = f"is too large for a configuration file: {size} bytes (at most {largest})"
        raise DeploymentError(message, file=file)


def decode_utf8(content: bytes, path: Path) -> str:
    """Return the text of UTF-8 content without its mark. Raises DeploymentError with the first line that is not
    UTF-8."""
    try:
        return content.removeprefix(_UTF8_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DeploymentError("is not valid UTF-8; save it as UTF-8", file=str(path), line=line) from None


def decode_properties(content: bytes) -> str:
    """Return the text of a .properties file, including its mark: UTF-8 if valid, otherwise ISO-8859-1, as Java itself
    reads it."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("iso-8859-1")


def decode_text(content: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file without its mark, and notes about the text: content that is not UTF-8 is read as
    ISO-8859-1.

    Names and values of settings are ASCII, so only comments differ.
    """
    notes = (BYTE_ORDER_MARK,) if content.startswith(_UTF8_MARK) else ()
    try:
        return content.removeprefix(_UTF8_MARK).decode("utf-8"), notes
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return content.decode("iso-8859-1"), (*notes, f"is not UTF-8 (line {line}); read as ISO-8859-1")
