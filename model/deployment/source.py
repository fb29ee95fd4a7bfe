"""Reading a file's text carefully: every unreadable file is one clear line, and none is read without bound."""

from __future__ import annotations

import re
import stat
import sys
from functools import cache
from pathlib import Path

from model.deployment.errors import DeploymentError

LARGEST = 1024 * 1024
"""No configuration is larger than this, in bytes; a larger file is refused before it is read."""

LARGEST_OF_A_FLEET = 64 * LARGEST
"""The same of a file that speaks of many deployments: what a tool prints of a cluster, a list of pipelines."""

MOST_KEYS = 5000
"""No configuration has more keys than this; Kafka itself knows fewer than a thousand."""

_CONTROL = re.compile(rb"[\x01-\x08\x0b\x0e-\x1f]")
_MOST_CONTROL = 1 / 30
_UTF8_MARK = b"\xef\xbb\xbf"

BYTE_ORDER_MARK = "begins with a byte order mark"
"""What is noted of a text that had one."""


STANDARD_INPUT = frozenset({"-", "/dev/stdin"})
"""Names of what somebody pipes into the program."""


def is_standard_input(path: Path) -> bool:
    """Tell whether a path names what is piped into the program."""
    return str(path) in STANDARD_INPUT


@cache
def standard_input() -> bytes:
    """Read what is piped into the program, once, and one byte more than the largest configuration has at most.

    Raises DeploymentError where nothing can be read.
    """
    if sys.stdin is None:
        raise DeploymentError("standard input is closed; pipe a configuration into the command", file="-")
    try:
        return sys.stdin.buffer.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise DeploymentError(f"standard input cannot be read: {error}", file="-") from None


def read_bytes(path: Path, largest: int = LARGEST) -> bytes:
    """Read a small, non-empty, regular file that holds text, or standard input, with its byte order mark if any."""
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
    """What was read, if it is text. Raises DeploymentError."""
    _check_size(len(content), file, largest)
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DeploymentError("is in UTF-16; save it as UTF-8", file=file)
    if not content.removeprefix(_UTF8_MARK).strip():
        raise DeploymentError("is empty", file=file)
    nul = content.find(b"\0")
    if nul >= 0:
        line = content.count(b"\n", 0, nul) + 1
        raise DeploymentError("is a binary file (it has NUL bytes)", file=file, line=line)
    # A stray control character in a comment is no reason to refuse a file; many of them are no text.
    if len(_CONTROL.findall(content)) > len(content) * _MOST_CONTROL:
        raise DeploymentError("is a binary file (it is full of control characters)", file=file)
    return content


def _check_size(size: int, file: str, largest: int) -> None:
    if size > largest:
        message = f"{size} bytes are too large for a configuration file (at most {largest})"
        raise DeploymentError(message, file=file)


def decode_utf8(content: bytes, path: Path) -> str:
    """The text of UTF-8 content without its mark, or an error that names the first line that is not UTF-8."""
    try:
        return content.removeprefix(_UTF8_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DeploymentError("is not valid UTF-8; save it as UTF-8", file=str(path), line=line) from None


def decode_properties(content: bytes) -> str:
    """The text of a .properties file: UTF-8 where it is, else ISO-8859-1 as Java itself reads it. It keeps its mark."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("iso-8859-1")


def decode_text(content: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of a file without its mark, and what to know about it: bytes that are not UTF-8 are ISO-8859-1's.

    Names and values of settings are ASCII, so that only comments differ.
    """
    notes = (BYTE_ORDER_MARK,) if content.startswith(_UTF8_MARK) else ()
    try:
        return content.removeprefix(_UTF8_MARK).decode("utf-8"), notes
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return content.decode("iso-8859-1"), (*notes, f"is not UTF-8 (line {line}); read as ISO-8859-1")
